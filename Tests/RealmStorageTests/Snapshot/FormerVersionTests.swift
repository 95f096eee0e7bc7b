// SPDX-License-Identifier: Apache-2.0

import RealmPlatform
import RealmTestSupport
import RealmVerify
import Testing

@testable import RealmStorage

/// Versions that commits keep in the file: whole, bounded, and still there after a crash.
@Suite struct FormerVersionTests {
    private static func options(_ retention: Retention) -> FileStore.Options {
        var options = FileStore.Options()
        options.retention = retention
        return options
    }

    private static func key(_ isEncrypted: Bool) throws -> EncryptionKey? {
        isEncrypted ? try EncryptionKey(bytes: Fixtures.key) : nil
    }

    /// Every listed version has the contents that it had when it was the newest one.
    private static func check(_ store: FileStore, _ contents: [UInt64: PlainWorkload], _ what: String) throws {
        let listed = store.formerVersions.all.map(\.version)
        let first = listed.first ?? store.current.version
        #expect(listed == Array(first..<store.current.version), "\(what): \(listed)")
        for version in listed {
            let snapshot = try #require(try store.formerSnapshot(version), "\(what): version \(version)")
            #expect(snapshot.version == version)
            #expect(
                try PlainWorkload.contents(of: snapshot) == contents[version]?.tables, "\(what): version \(version) of \(listed)")
        }
        #expect(try store.formerSnapshot(store.current.version) == nil)
        #expect(try store.formerSnapshot((listed.first ?? store.current.version) - 1) == nil)
    }

    @Test(arguments: [false, true], 1...3)
    func `the versions that are kept read as they were, also after the file was opened again`(
        _ isEncrypted: Bool, seed: UInt64
    ) throws {
        var random = SeededGenerator(seed: seed)
        let count = Int.random(in: 1...30, using: &random)
        let options = Self.options(Retention(versionCount: count, share: 1))
        let backend = try MemoryBackend()
        var store = try FileStore(backend, key: try Self.key(isEncrypted), options: options)
        var workload = PlainWorkload()
        var contents: [UInt64: PlainWorkload] = [:]
        for round in 0..<(TestRun.isLong ? 1000 : 100) {
            let snapshot = try CommitTests.commit(to: store, &workload, using: &random)
            contents[snapshot.version] = workload
            try CommitTests.check(snapshot, workload, "seed \(seed), round \(round)")
            // The version before the first commit has no top node.
            #expect(store.formerVersions.all.count == min(count, round), "seed \(seed), round \(round)")
            guard round % 7 == 0 || TestRun.isLong else { continue }
            try Self.check(store, contents, "seed \(seed), round \(round)")
            guard Int.random(in: 0..<3, using: &random) == 0 else { continue }
            store = try FileStore(MemoryBackend(backend.bytes), key: try Self.key(isEncrypted), options: options)
            #expect(store.formerVersions.all.count == min(count, round), "seed \(seed), round \(round), opened again")
            try Self.check(store, contents, "seed \(seed), round \(round), opened again")
            store = try FileStore(backend, key: try Self.key(isEncrypted), options: options)
        }
    }

    @Test(arguments: 1...(TestRun.isLong ? 40 : 4) as ClosedRange<UInt64>)
    func `a crash at any moment of a commit leaves the kept versions whole`(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        let options = Self.options(Retention(versionCount: 12, share: 1))
        let backend = try CrashBackend()
        let store = try FileStore(backend, options: options)
        var workload = PlainWorkload()
        var contents: [UInt64: PlainWorkload] = [:]
        for round in 0..<40 {
            backend.startLog()
            contents[try CommitTests.commit(to: store, &workload, using: &random).version] = workload
            guard round > 14 else { continue }
            let image = backend.image(
                after: Int.random(in: 0...backend.log.count, using: &random),
                unit: [8, 512, 4096].randomElement(using: &random) ?? 8,
                using: &random)
            let reopened = try FileStore(MemoryBackend(image), options: options)
            let place = "seed \(seed), round \(round)"
            #expect(reopened.formerVersions.all.count >= 11, "\(place): \(reopened.formerVersions.all.count)")
            try Self.check(reopened, contents, place)
            var copy = contents[reopened.current.version] ?? workload
            _ = try CommitTests.commit(to: reopened, &copy, using: &random)
            #expect(reopened.current.verify().isClean, "\(place)")
        }
    }

    @Test func `the oldest versions go when all of them take too much room`() throws {
        var random = SeededGenerator(seed: 3)
        let file = try TemporaryRealm("store")
        let options = Self.options(Retention(versionCount: 10_000, share: 0.01))
        let store = try FileStore(try MemoryBackend(try file.bytes), options: options)
        for round in 0..<5000 where store.formerVersions.droppedCount == 0 || round < 60 {
            let transaction = try store.beginWrite()
            let roots = try RewriteWorkload.change(transaction, using: &random)
            _ = try transaction.commit(names: roots.names, tables: roots.tables)
            let limit = max(Int(store.current.top.logicalSize) / 100, Retention.leastByteCount)
            #expect(store.formerVersions.byteCount <= limit, "round \(round)")
        }
        #expect(store.formerVersions.droppedCount > 0)
        #expect(store.formerVersions.all.count > 2)
        #expect(store.current.verify().isClean)
    }

    @Test func `the time that a version is kept for ends`() throws {
        var random = SeededGenerator(seed: 4)
        let retention = Retention(versionCount: 1000, seconds: 0, share: 1)
        let store = try FileStore(try MemoryBackend(), options: Self.options(retention))
        var workload = PlainWorkload()
        for _ in 0..<20 {
            _ = try CommitTests.commit(to: store, &workload, using: &random)
            #expect(store.formerVersions.all.count <= 1)
        }
    }

    @Test func `without the option the version before the newest is there until the next commit`() throws {
        var random = SeededGenerator(seed: 5)
        let backend = try MemoryBackend()
        var store = try FileStore(backend)
        var workload = PlainWorkload()
        var contents: [UInt64: PlainWorkload] = [:]
        for round in 0..<60 {
            contents[try CommitTests.commit(to: store, &workload, using: &random).version] = workload
            #expect(store.formerVersions.all.count == min(round, 1))
            try Self.check(store, contents, "round \(round)")
            if round % 5 == 0 {
                store = try FileStore(backend)
                #expect(store.formerVersions.all.count == min(round, 1), "round \(round)")
                try Self.check(store, contents, "round \(round), opened again")
            }
        }
    }

    @Test func `a version stays as long as it is read, though it is dropped from the list`() throws {
        var random = SeededGenerator(seed: 6)
        let store = try FileStore(try MemoryBackend(), options: Self.options(Retention(versionCount: 5, share: 1)))
        var workload = PlainWorkload()
        var contents: [UInt64: PlainWorkload] = [:]
        for _ in 0..<8 { contents[try CommitTests.commit(to: store, &workload, using: &random).version] = workload }
        let oldest = try #require(store.formerVersions.oldest)
        let snapshot = try #require(try store.formerSnapshot(oldest))
        for _ in 0..<40 { _ = try CommitTests.commit(to: store, &workload, using: &random) }
        #expect(try store.formerSnapshot(oldest) == nil)
        #expect(try PlainWorkload.contents(of: snapshot) == contents[oldest]?.tables)
        #expect(store.liveVersionCount == 2)
    }

    @Test func `the free lists of kept versions take no room`() throws {
        var random = SeededGenerator(seed: 7)
        let file = try TemporaryRealm("store")
        let store = try FileStore(
            try MemoryBackend(try file.bytes), options: Self.options(Retention(versionCount: 500, share: 1)))
        for _ in 0..<200 {
            let transaction = try store.beginWrite()
            let roots = try RewriteWorkload.change(transaction, using: &random)
            _ = try transaction.commit(names: roots.names, tables: roots.tables)
        }
        let free = try FreeSpace(store.current.top, store.current.space, keeping: 0)
        let kept = store.formerVersions.byteCount
        // The lists of the two newest versions may still be locked.
        let lists = store.current.top.ref.rawValue - store.current.top.freePositions.rawValue
        #expect(free.lockedByteCount <= kept + 3 * Int(lists), "\(free.lockedByteCount) bytes are locked for \(kept)")
        #expect(store.current.verify().isClean)
    }
}
