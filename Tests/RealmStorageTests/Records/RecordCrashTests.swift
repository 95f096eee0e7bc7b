// SPDX-License-Identifier: Apache-2.0

import Foundation
import RealmPlatform
import RealmTestSupport
import RealmVerify
import Testing

@testable import RealmStorage

@Suite("Crashes around records")
struct RecordCrashTests {
    /// A copy that loses power at every call of its disk is brought up to date by the same records.
    @Test(arguments: [1, 8, 512, .max] as [Int])
    func `a copy that lost power while it followed goes on`(unit: Int) throws {
        let scene = try RecordDamageTests.Scene(commits: TestRun.isLong ? 40 : 8, seed: 5)
        var random = SeededGenerator(seed: UInt64(truncatingIfNeeded: unit))
        let backend = try CrashBackend(scene.base)
        let applier = try RecordApplier(backend, after: scene.log.start)
        backend.startLog()
        let bytes = scene.log.bytes
        var position = 0
        var places: [RecordChain] = [scene.log.start]
        for _ in scene.log.sealed {
            try applier.apply(bytes, at: &position)
            places.append(applier.chain)
        }
        for count in 0...backend.log.count {
            let image = backend.image(after: count, unit: unit, using: &random)
            // The place that was kept may be any that the copy has passed.
            let version = try FileStore(MemoryBackend(image)).current.version
            let known = places.filter { $0.version <= version }
            let place = try #require(known.randomElement(using: &random))
            let restarted = try MemoryBackend(image)
            let again = try RecordApplier(restarted, after: place)
            position = 0
            while let next = RecordChain.peek(bytes, at: position), next.version <= place.version { position = next.end }
            while position < bytes.count { try again.apply(bytes, at: &position) }
            #expect(again.chain == scene.log.end, "call \(count), unit \(unit)")
            let copy = try RecordFollower.snapshot(of: restarted)
            #expect(try RecordDifference.isEqual(scene.last, copy), "call \(count), unit \(unit)")
        }
    }

    /// The owner loses power at every call of its disk: what its file has is in the log, and the log leads further.
    @Test(arguments: [8, 512, .max] as [Int])
    func `an owner that lost power is brought up to what the log has`(unit: Int) throws {
        var random = SeededGenerator(seed: UInt64(truncatingIfNeeded: unit) &+ 1)
        var workload = StorageWorkload(seed: 12)
        let backend = try CrashBackend()
        let store = try FileStore(backend)
        try RecordEqualityTests.commit(store) { try workload.makeSchema($0) }
        let log = try RecordedLog(after: store.current.version)
        try store.setLog(log)
        backend.startLog()
        var stored: [(calls: Int, records: Int)] = [(0, 0)]
        for _ in 0..<(TestRun.isLong ? 30 : 6) {
            try RecordEqualityTests.commit(store) { for _ in 0..<4 { try workload.step($0) } }
            // A record is stored after the first sync of its commit: two calls before the end, flip and sync.
            stored.append((backend.log.count - 2, log.records.count))
        }
        let bytes = log.bytes
        for count in 0...backend.log.count {
            let image = try MemoryBackend(backend.image(after: count, unit: unit, using: &random))
            let records = stored.last { $0.calls <= count }?.records ?? 0
            let version = try FileStore(MemoryBackend(image.bytes)).current.version
            #expect(version <= log.start.version + UInt64(records), "call \(count): a version that the log does not have")
            let applier = try RecordApplier(image, after: log.start)
            var position = 0
            for _ in 0..<records { try applier.apply(bytes, at: &position) }
            #expect(applier.version == log.start.version + UInt64(records), "call \(count)")
            #expect(try RecordFollower.snapshot(of: image).verify().errors.isEmpty, "call \(count)")
        }
    }

    /// The owner of a log that survives without the file loses power at every call of its disk. It syncs once for each commit, so the
    /// disk has the version that the log had last or the one before, and both are sound.
    @Test(arguments: [512, 4096, .max] as [Int], [false, true])
    func `an owner that syncs once is brought up to what the log has`(unit: Int, readsOld: Bool) throws {
        var random = SeededGenerator(seed: UInt64(truncatingIfNeeded: unit) &+ 7)
        var workload = StorageWorkload(seed: 13)
        let backend = try CrashBackend()
        let store = try FileStore(backend)
        try RecordEqualityTests.commit(store) { try workload.makeSchema($0) }
        let log = try RecordedLog(after: store.current.version, isDurable: true)
        try store.setLog(log)
        backend.startLog()
        // The numbers of calls that precede each record in the log, and each version in the file.
        var stored = [(calls: 0, records: 0)]
        var written = [(calls: 0, version: store.current.version)]
        log.didAppend = { stored.append((backend.log.count, log.records.count)) }
        var readers: [Snapshot] = []
        for _ in 0..<(TestRun.isLong ? 40 : 10) {
            try RecordEqualityTests.commit(store) { for _ in 0..<4 { try workload.step($0) } }
            written.append((backend.log.count, store.current.version))
            if readsOld { readers = Array((readers + [store.current]).suffix(3)) }
        }
        let syncs = backend.log.filter { if case .sync = $0 { true } else { false } }.count
        #expect(syncs == log.records.count, "one for each commit")
        for count in 0...backend.log.count {
            let image = try MemoryBackend(backend.image(after: count, unit: unit, using: &random))
            let found = try FileStore(MemoryBackend(image.bytes)).current
            #expect(found.verify().isClean, "call \(count), unit \(unit)")
            let newest = written.last { $0.calls <= count }?.version ?? 0
            #expect(found.version + 1 >= newest && found.version <= newest + 1, "call \(count): \(found.version) of \(newest)")
            let records = stored.last { $0.calls <= count }?.records ?? 0
            #expect(found.version <= log.start.version + UInt64(records), "call \(count): a version that the log does not have")
            let applier = try RecordApplier(image, after: log.start)
            var position = 0
            for _ in 0..<records { try applier.apply(log.bytes, at: &position) }
            #expect(try RecordFollower.snapshot(of: image).verify().isClean, "call \(count)")
        }
        withExtendedLifetime(readers) {}
        // Closed, it has everything on its disk.
        try store.close()
        let closed = try MemoryBackend(backend.image(after: backend.log.count, unit: 1, using: &random))
        #expect(try FileStore(closed).current.version == log.end.version)
    }

    /// A write or sync of the copy that fails changes nothing that readers see, and the same record is taken later.
    @Test(arguments: FaultBackend.Kind.allCases)
    func `a disk that refuses leaves the version before`(kind: FaultBackend.Kind) throws {
        let scene = try RecordDamageTests.Scene(commits: 4, seed: 6)
        for after in 0..<12 {
            let backend = try FaultBackend(scene.base)
            let applier = try RecordApplier(backend, after: scene.log.start)
            backend.resetCounts()
            backend.failing = (kind, after, 28)
            var position = 0
            while position < scene.log.bytes.count {
                do {
                    try applier.apply(scene.log.bytes, at: &position)
                } catch {
                    backend.failing = nil
                    let found = try FileStore(MemoryBackend(backend.bytes)).current
                    #expect(found.version == applier.version || found.version == applier.version + 1, "\(kind) \(after)")
                    #expect(found.verify().errors.isEmpty, "\(kind) \(after)")
                    let again = try RecordApplier(backend, after: applier.chain)
                    while position < scene.log.bytes.count { try again.apply(scene.log.bytes, at: &position) }
                }
            }
            #expect(try RecordDifference.isEqual(scene.last, try RecordFollower.snapshot(of: backend)), "\(kind) \(after)")
        }
    }
}
