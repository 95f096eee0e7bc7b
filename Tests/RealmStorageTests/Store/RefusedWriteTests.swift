// SPDX-License-Identifier: Apache-2.0

import RealmPlatform
import RealmTestSupport
import Testing

@testable import RealmStorage

/// Writes that the disk refuses, at every call of a commit, and what a power failure makes of the file afterwards.
@Suite("Refused writes")
struct RefusedWriteTests {
    /// A store with some commits in it, and what it holds.
    private struct Scene {
        let backend: CrashBackend
        let store: FileStore
        var workload = PlainWorkload()

        init(_ key: EncryptionKey?, using random: inout SeededGenerator) throws {
            backend = try CrashBackend()
            store = try FileStore(backend, key: key)
            workload.maximumBlob = 6000
            for _ in 0..<6 { _ = try CommitTests.commit(to: store, &workload, using: &random) }
            backend.startLog()
        }
    }

    @Test(arguments: CrashBackend.Taken.allCases, [false, true])
    func `a refused write leaves the old version whatever was taken of it, and no crash after that loses anything`(
        _ taken: CrashBackend.Taken, _ isEncrypted: Bool
    ) throws {
        let key = try CommitTests.key(isEncrypted)
        var goingOn = 0
        for seed in 1...(TestRun.isLong ? 40 : 3) {
            var call = 0
            var last = (call: -1, continues: false)
            while true {
                // The same commit each time.
                var random = SeededGenerator(seed: UInt64(seed))
                let scene = try Scene(key, using: &random)
                let what = "\(taken), seed \(seed), call \(call)"
                guard let continues = try fail(scene, call, taken, key, &random, what) else { break }
                last = (call, continues)
                if continues { goingOn += 1 }
                call += 1
            }
            // The last call is the one that makes the version, and it is as good as the others when nothing was taken.
            #expect(last.call >= 3 && (taken != .nothing || last.continues), "\(taken), seed \(seed)")
            #expect(taken == .nothing || taken == .half || !last.continues, "\(taken), seed \(seed)")
        }
        // Half an entry is no entry, and a page without one is lost.
        #expect(goingOn > 0 || (isEncrypted && taken == .half))
    }

    /// Whether writing goes on after the failure; nil when the commit has fewer calls.
    private func fail(
        _ scene: Scene, _ call: Int, _ taken: CrashBackend.Taken, _ key: EncryptionKey?, _ random: inout SeededGenerator,
        _ what: String
    ) throws -> Bool? {
        let (backend, store, before) = (scene.backend, scene.store, scene.workload)
        let old = store.current.version
        backend.failing = (call, taken)
        var attempted = before
        do {
            _ = try CommitTests.commit(to: store, &attempted, using: &random)
            return nil
        } catch StorageError.io {}
        try CommitTests.check(store.current, before, what)
        var contents = [old: before, old + 1: attempted]
        guard store.acceptsWrites else {
            #expect(throws: StorageError.refused(.writesStopped)) { try store.beginWrite() }
            // A page of an encrypted file of which a part was taken is lost, and that is why nothing more is written.
            if key == nil || taken != .half { try crash(backend, contents, key, &random, what) }
            return false
        }
        contents[old + 1] = nil
        backend.failing = nil
        var next = before
        for version in old + 1...old + 2 {
            #expect(try CommitTests.commit(to: store, &next, using: &random).version == version, "\(what)")
            try CommitTests.check(store.current, next, what)
            contents[version] = next
        }
        try crash(backend, contents, key, &random, what)
        return true
    }

    /// Opens what a crash after each call leaves: one of the versions, whole.
    private func crash(
        _ backend: CrashBackend, _ contents: [UInt64: PlainWorkload], _ key: EncryptionKey?, _ random: inout SeededGenerator,
        _ what: String
    ) throws {
        for call in 0...backend.log.count {
            let image = backend.image(after: call, unit: key == nil ? 512 : 4096, using: &random)
            let found = try FileStore(try CrashBackend(image), key: key).current
            let expected = try #require(contents[found.version], "\(what), crash after \(call): version \(found.version)")
            try CommitTests.check(found, expected, "\(what), crash after \(call) of \(backend.log.count)")
        }
    }
}
