// SPDX-License-Identifier: Apache-2.0

import Foundation
import RealmPlatform
import RealmTestSupport
import Testing

@testable import RealmStorage

@Suite("Records that must not be applied")
struct RecordDamageTests {
    /// A store with a log, the base before its records, and the contents at the end.
    struct Scene {
        let base: [UInt8]
        let log: RecordedLog
        let last: Snapshot
        let key: EncryptionKey?

        init(commits: Int = 12, seed: UInt64 = 3, key: EncryptionKey? = nil) throws {
            self.key = key
            var workload = StorageWorkload(seed: seed)
            let store = try FileStore(MemoryBackend(), key: key)
            try RecordEqualityTests.commit(store) { try workload.makeSchema($0) }
            let copy = try MemoryBackend()
            try BaseCopy.write(store.current, to: copy, key: key)
            base = copy.bytes
            log = try RecordedLog(after: store.current.version, key: key)
            try store.setLog(log)
            for _ in 0..<commits { try RecordEqualityTests.commit(store) { for _ in 0..<4 { try workload.step($0) } } }
            last = store.current
        }

        func applier(isUnshared: Bool = false) throws -> (RecordApplier, MemoryBackend) {
            let backend = try MemoryBackend(base)
            return (try RecordApplier(backend, after: log.start, isUnshared: isUnshared), backend)
        }
    }

    /// Applying throws, and leaves copy and chain as they were; the sound record is taken afterwards.
    private func expectRefused(
        _ bytes: [UInt8], _ applier: RecordApplier, _ backend: MemoryBackend, _ what: @autoclosure () -> String
    ) throws {
        let (before, chain, version) = (backend.bytes, applier.chain, applier.version)
        var position = 0
        #expect(throws: StorageError.self, "\(what())") { try applier.apply(bytes, at: &position) }
        #expect(position == 0 && applier.chain == chain && applier.version == version, "\(what())")
        #expect(backend.bytes == before, "\(what())")
    }

    @Test func `every prefix of a record is refused`() throws {
        let scene = try Scene(commits: 2)
        let (applier, backend) = try scene.applier()
        let record = try #require(scene.log.sealed.first)
        for count in 0..<record.count { try expectRefused(Array(record[..<count]), applier, backend, "\(count) bytes") }
        var position = 0
        try applier.apply(record, at: &position)
        #expect(position == record.count)
    }

    @Test func `a record with any byte changed is refused`() throws {
        let scene = try Scene(commits: 1)
        let (applier, backend) = try scene.applier()
        let record = try #require(scene.log.sealed.first)
        for index in record.indices where index < 400 || index % 97 == 0 || index > record.count - 100 {
            var damaged = record
            damaged[index] ^= 1 << UInt8(index % 8)
            try expectRefused(damaged, applier, backend, "byte \(index)")
        }
    }

    @Test(arguments: 1...(TestRun.isLong ? 40 : 6) as ClosedRange<UInt64>)
    func `damaged, dropped, repeated and reordered records are never applied`(seed: UInt64) throws {
        let scene = try Scene(commits: 40, seed: seed)
        var random = SeededGenerator(seed: seed)
        let (applier, backend) = try scene.applier()
        let sealed = scene.log.sealed
        for index in sealed.indices {
            if Int.random(in: 0..<4, using: &random) == 0 {
                var other = sealed[index]
                let others = sealed.indices.filter { $0 != index }
                switch Int.random(in: 0..<3, using: &random) {
                case 0: other[Int.random(in: other.indices, using: &random)] ^= 0x10
                case 1: other = sealed[others.randomElement(using: &random) ?? 0]
                default: other = Array(other.dropLast(Int.random(in: 1...other.count, using: &random)))
                }
                try expectRefused(other, applier, backend, "seed \(seed), record \(index)")
            }
            var position = 0
            try applier.apply(sealed[index], at: &position)
        }
        #expect(try RecordDifference.isEqual(scene.last, try RecordFollower.snapshot(of: backend)))
    }

    @Test func `records of other chains and realms are refused`() throws {
        let scene = try Scene(commits: 2)
        let (applier, backend) = try scene.applier()
        let version = scene.log.start.version
        for (realm, epoch) in [("other", "epoch123"), ("test", "epoch124")] {
            var chain = try RecordChain(realm: realm, epoch: epoch, base: version)
            try expectRefused(try chain.seal(scene.log.records[0]), applier, backend, "\(realm) \(epoch)")
        }
        var chain = RecordChain(realm: "test", epoch: "epoch123", version: version, checksum: [UInt8](repeating: 7, count: 32))
        try expectRefused(try chain.seal(scene.log.records[0]), applier, backend, "checksum")
    }

    /// Sealed as they should be, but made by somebody who wants to harm.
    @Test func `hostile records are refused`() throws {
        let scene = try Scene(commits: 1)
        let (applier, backend) = try scene.applier()
        let good = scene.log.records[0]
        func made(_ extents: [CommitRecord.Extent]?, flip: CommitRecord.Flip? = nil, horizon: UInt64? = nil) -> CommitRecord {
            CommitRecord(
                version: good.version, previousVersion: good.previousVersion, time: 0, horizon: horizon ?? good.horizon,
                logicalSize: good.logicalSize, physicalSize: good.physicalSize, topRef: good.topRef, flip: flip ?? good.flip,
                extents: extents, notes: nil)
        }
        let inHeader = [0, 8, 16, 20, 21, 22, 23].map { CommitRecord.Extent(offset: $0, bytes: [1]) }
        let beyond = [
            CommitRecord.Extent(offset: good.physicalSize, bytes: [1]), CommitRecord.Extent(offset: .max, bytes: [1, 2]),
            CommitRecord.Extent(offset: good.physicalSize - 1, bytes: [1, 2]),
        ]
        var records = (inHeader + beyond).map { made(good.extents + [$0]) }
        records.append(made(nil))
        records.append(made(good.extents, horizon: good.previousVersion))
        records.append(made(good.extents, flip: CommitRecord.Flip(old: good.flip.new, new: good.flip.old)))
        records.append(made(good.extents, flip: CommitRecord.Flip(old: good.flip.old, new: good.flip.old)))
        for (index, record) in records.enumerated() {
            var chain = scene.log.start
            try expectRefused(try chain.seal(record), applier, backend, "record \(index)")
        }
        #expect(throws: StorageError.self) { try RecordApplier(try MemoryBackend(scene.base), after: scene.log.end) }
    }

    @Test func `random bytes are no records`() throws {
        var random = SeededGenerator(seed: 9)
        let scene = try Scene(commits: 1)
        for _ in 0..<2000 {
            let noise = (0..<Int.random(in: 0...300, using: &random)).map { _ in UInt8.random(in: 0...255, using: &random) }
            var reader = RecordReader(noise[...])
            _ = try? CommitRecord(from: &reader)
            var notes = RecordReader(noise[...])
            _ = try? CommitNotes(from: &notes)
            var chain = scene.log.start
            var position = 0
            #expect(throws: StorageError.self) { try chain.open(noise, at: &position) }
        }
    }
}
