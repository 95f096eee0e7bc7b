// SPDX-License-Identifier: Apache-2.0

import Foundation
import RealmPlatform
import RealmTestSupport
import RealmVerify
import Testing

@testable import RealmStorage

/// Records and bases of encrypted files: what they show, and copies that follow by them. Pages are written as a whole.
@Suite("Records of encrypted files")
struct EncryptedRecordTests {
    typealias Scene = RecordDamageTests.Scene

    private static func key() throws -> EncryptionKey { try EncryptionKey(bytes: Fixtures.key) }

    private func records(_ scene: Scene) throws -> [CommitRecord] {
        var chain = scene.log.start
        var position = 0
        let bytes = scene.log.bytes
        return try scene.log.sealed.map { _ in try chain.open(bytes, at: &position, scene.key) }
    }

    private func contains(_ bytes: [UInt8], _ text: String) -> Bool { Data(bytes).range(of: Data(text.utf8)) != nil }

    // MARK: - What is stored

    @Test func `records open with their key and in their place only`() throws {
        let key = try Self.key()
        let scene = try Scene(commits: 3, key: key)
        let (opened, written) = (try records(scene), scene.log.records)
        #expect(opened.map(\.notes.changes) == written.map(\.notes.changes.singly))
        #expect(opened.map(\.version) == written.map(\.version) && opened.map(\.topRef) == written.map(\.topRef))
        #expect(opened.map(\.extents) == written.map(\.extents) && opened.map(\.flip) == written.map(\.flip))
        let sealed = scene.log.sealed
        var position = 0
        var chain = scene.log.start
        #expect(RecordChain.peek(sealed[0], at: 0)?.version == scene.log.records[0].version)
        // Another key, and none.
        let other = try EncryptionKey(bytes: [UInt8](repeating: 7, count: 64))
        for (key, isMissing) in [(other, false), (nil, true)] as [(EncryptionKey?, Bool)] {
            let error = #expect(throws: StorageError.self) { try chain.open(sealed[0], at: &position, key) }
            switch error {
            case .refused(.encryptionKeyRequired): #expect(isMissing)
            case .refused(.encryptionKeyWrong): #expect(!isMissing)
            default: Issue.record("\(String(describing: error))")
            }
        }
        // A plain record where there should be an encrypted one.
        var plain = scene.log.start
        let bare = try plain.seal(scene.log.records[0])
        let error = #expect(throws: StorageError.self) { try chain.open(bare, at: &position, key) }
        guard case .refused(.encryptionKeyWrong)? = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        // Each byte counts, even if the checksum of what is stored is made right again.
        for index in stride(from: 5, to: sealed[0].count - 32, by: 7) {
            var changed = sealed[0]
            changed[index] ^= 0x20
            let digest = try FileDigest.sha256(Array(changed.dropLast(32)))
            changed.replaceSubrange(changed.count - 32..<changed.count, with: digest)
            #expect(throws: StorageError.self, "byte \(index)") { try chain.open(changed, at: &position, key) }
        }
        // Those of another realm, chain or place.
        for stranger in [
            try RecordChain(realm: "other", epoch: "epoch123", base: chain.version),
            try RecordChain(realm: "test", epoch: "other", base: chain.version),
        ] {
            var stranger = stranger
            #expect(throws: StorageError.self) { try stranger.open(sealed[0], at: &position, key) }
        }
        #expect(throws: StorageError.self) { try chain.open(sealed[1], at: &position, key) }
        #expect(position == 0 && chain == scene.log.start)
        #expect(try chain.open(sealed[0], at: &position, key) == scene.log.records[0])
    }

    @Test func `neither records nor bases show what is in the file, or which bytes of it have changed`() throws {
        let marker = "a marker that nobody may read"
        for key in [nil, try Self.key()] {
            let store = try FileStore(MemoryBackend(), key: key)
            let log = try RecordedLog(after: store.current.version, key: key)
            try store.setLog(log)
            try RecordEqualityTests.commit(store) { transaction in
                let table = try transaction.createTable("class_\(marker)")
                for _ in 0..<300 { _ = try transaction.createObject(in: table) }
            }
            let isPlain = key == nil
            #expect(contains(log.bytes, marker) == isPlain)
            let bases = [try MemoryBackend(), try MemoryBackend()]
            for base in bases { try BaseCopy.write(store.current, to: base, key: key) }
            #expect(bases.allSatisfy { contains($0.bytes, marker) == isPlain })
            #expect((bases[0].bytes == bases[1].bytes) == isPlain)
            guard !isPlain else { continue }
            // No block of one is in the other.
            let blocks = bases.map { base in
                Set(stride(from: 4096, to: base.bytes.count, by: 16).map { Array(base.bytes[$0..<$0 + 16]) })
            }
            #expect(blocks[0].intersection(blocks[1]).filter { $0.contains { $0 != 0 } }.isEmpty)
        }
    }

    @Test func `an encrypted file has no log that would store plain records, and no plain base`() throws {
        let store = try FileStore(MemoryBackend(), key: try Self.key())
        #expect(throws: StorageError.self) { try store.setLog(RecordedLog(after: store.current.version)) }
        #expect(throws: StorageError.self) { try BaseCopy.write(store.current, to: MemoryBackend()) }
    }

    // MARK: - Copies

    @Test(arguments: TestRun.seeds(quick: 2, long: 40))
    func `lead copies to the versions of the owner, which can be continued by commits`(seed: UInt64) throws {
        let key = try Self.key()
        let scene = try Scene(commits: 30, seed: seed, key: key)
        // Without readers, and for one that is thrown away if it is not finished.
        for isUnshared in [false, true] {
            let backend = try MemoryBackend(scene.base)
            let applier = try RecordApplier(backend, after: scene.log.start, key: key, isUnshared: isUnshared)
            var position = 0
            while position < scene.log.bytes.count { try applier.apply(scene.log.bytes, at: &position) }
            try applier.finish()
            #expect(applier.chain == scene.log.end, "seed \(seed)")
            let copy = try RecordFollower.snapshot(of: backend, key: key)
            #expect(try RecordDifference.isEqual(scene.last, copy) && copy.verify().isClean, "seed \(seed)")
        }
        // While it is read, and left to its readers at times.
        let backend = try MemoryBackend(scene.base)
        let store = try FileStore(backend, key: key)
        var readers: [Snapshot] = []
        for (number, record) in try records(scene).enumerated() {
            if let oldest = store.oldestLiveVersion, record.horizon >= oldest { _ = try store.renew() }
            #expect(try store.apply(record).version == record.version, "seed \(seed)")
            if number % 3 == 0 { try store.finishApplying() }
            readers = Array((readers + [store.current]).suffix(4))
            #expect(readers.allSatisfy { $0.verify().isClean }, "seed \(seed), record \(number)")
        }
        try store.finishApplying()
        #expect(try RecordDifference.isEqual(scene.last, store.current), "seed \(seed)")
        for number in 0..<5 {
            try RecordEqualityTests.commit(store) { transaction in
                let table = try transaction.createTable("class_New\(number)")
                for _ in 0..<50 { _ = try transaction.createObject(in: table) }
            }
            #expect(store.current.verify().isClean && readers.allSatisfy { $0.verify().isClean }, "seed \(seed)")
        }
    }

    @Test func `a record that fails leaves those before it`() throws {
        let key = try Self.key()
        let scene = try Scene(commits: 4, seed: 17, key: key)
        let list = try records(scene)
        let backend = try MemoryBackend(scene.base)
        let store = try FileStore(backend, key: key)
        try store.apply(list[0])
        let next = list[1]
        let broken = CommitRecord(
            version: next.version, previousVersion: next.previousVersion, time: next.time, horizon: next.horizon,
            logicalSize: next.logicalSize, physicalSize: next.physicalSize, topRef: next.topRef, flip: next.flip,
            extents: Array(next.extents.dropFirst()), notes: next.notes)
        #expect(throws: StorageError.self) { try store.apply(broken) }
        try store.finishApplying()
        let found = try FileStore(MemoryBackend(backend.bytes), key: key).current
        #expect(found.version == list[0].version && found.verify().isClean)
        for record in list.dropFirst() { try store.apply(record) }
        try store.finishApplying()
        let last = try FileStore(MemoryBackend(backend.bytes), key: key).current
        #expect(try RecordDifference.isEqual(scene.last, last))
    }

    // MARK: - Power

    @Test(arguments: [4096, .max] as [Int], 1...3 as ClosedRange<UInt64>)
    func `a copy that lost power while it followed goes on`(unit: Int, seed: UInt64) throws {
        let key = try Self.key()
        let scene = try Scene(commits: TestRun.isLong ? 30 : 6, seed: 5 &+ seed, key: key)
        var random = SeededGenerator(seed: UInt64(truncatingIfNeeded: unit) &+ seed)
        let backend = try CrashBackend(scene.base)
        let applier = try RecordApplier(backend, after: scene.log.start, key: key)
        backend.startLog()
        let bytes = scene.log.bytes
        var position = 0
        var ends: [(calls: Int, version: UInt64)] = []
        for _ in scene.log.sealed {
            try applier.apply(bytes, at: &position)
            ends.append((backend.log.count, applier.version))
        }
        for count in 0...backend.log.count {
            let image = backend.image(after: count, unit: unit, using: &random)
            let what = "call \(count), unit \(unit), seed \(seed)"
            let found = try FileStore(MemoryBackend(image), key: key).current
            #expect(found.verify().isClean, "\(what)")
            #expect(found.version >= ends.last { $0.calls <= count }?.version ?? 0, "\(what)")
            let restarted = try MemoryBackend(image)
            let again = try RecordApplier(restarted, after: scene.log.start, key: key)
            position = 0
            while position < bytes.count { try again.apply(bytes, at: &position) }
            let copy = try RecordFollower.snapshot(of: restarted, key: key)
            #expect(try RecordDifference.isEqual(scene.last, copy), "\(what)")
        }
    }

    @Test(arguments: [4096, .max] as [Int], 1...3 as ClosedRange<UInt64>)
    func `a file that lost power goes on from the version that it has`(unit: Int, seed: UInt64) throws {
        let key = try Self.key()
        let scene = try Scene(commits: TestRun.isLong ? 30 : 6, seed: 15 &+ seed, key: key)
        let backend = try CrashBackend(scene.base)
        let store = try FileStore(backend, key: key)
        let list = try records(scene)
        backend.startLog()
        var ends: [(calls: Int, version: UInt64)] = []
        for (number, record) in list.enumerated() {
            try store.apply(record)
            guard number % 4 != 1 else { continue }
            try store.finishApplying()
            ends.append((backend.log.count, record.version))
        }
        var random = SeededGenerator(seed: UInt64(truncatingIfNeeded: unit) &+ seed)
        for count in 0...backend.log.count {
            let image = try MemoryBackend(backend.image(after: count, unit: unit, using: &random))
            let what = "call \(count), unit \(unit), seed \(seed)"
            let again = try FileStore(image, key: key)
            #expect(again.current.verify().isClean, "\(what)")
            #expect(again.current.version >= ends.last { $0.calls <= count }?.version ?? 0, "\(what)")
            for record in list where record.version > again.current.version { try again.apply(record) }
            try again.finishApplying()
            #expect(try RecordDifference.isEqual(scene.last, again.current), "\(what)")
            let copy = try RecordFollower.snapshot(of: image, key: key)
            #expect(try RecordDifference.isEqual(scene.last, copy), "\(what)")
        }
    }

    /// An encrypted file keeps the order of a file without a log: what it has is in the log, and an acknowledged commit is in it.
    @Test(arguments: [4096, .max] as [Int])
    func `an owner that lost power is brought up to what the log has`(unit: Int) throws {
        let key = try Self.key()
        var random = SeededGenerator(seed: UInt64(truncatingIfNeeded: unit) &+ 7)
        var workload = StorageWorkload(seed: 13)
        let backend = try CrashBackend()
        let store = try FileStore(backend, key: key)
        try RecordEqualityTests.commit(store) { try workload.makeSchema($0) }
        let log = try RecordedLog(after: store.current.version, isDurable: true, key: key)
        try store.setLog(log)
        backend.startLog()
        var stored = [(calls: 0, records: 0)]
        var ends = [(calls: 0, version: store.current.version)]
        log.didAppend = { stored.append((backend.log.count, log.records.count)) }
        for _ in 0..<(TestRun.isLong ? 40 : 8) {
            try RecordEqualityTests.commit(store) { for _ in 0..<4 { try workload.step($0) } }
            ends.append((backend.log.count, store.current.version))
        }
        for count in 0...backend.log.count {
            let image = try MemoryBackend(backend.image(after: count, unit: unit, using: &random))
            let found = try FileStore(MemoryBackend(image.bytes), key: key).current
            #expect(found.verify().isClean, "call \(count), unit \(unit)")
            #expect(found.version >= ends.last { $0.calls <= count }?.version ?? 0, "call \(count)")
            let records = stored.last { $0.calls <= count }?.records ?? 0
            #expect(found.version <= log.start.version + UInt64(records), "call \(count): a version that the log does not have")
            let applier = try RecordApplier(image, after: log.start, key: key)
            var position = 0
            for _ in 0..<records { try applier.apply(log.bytes, at: &position) }
            let copy = try RecordFollower.snapshot(of: image, key: key)
            #expect(copy.version == log.start.version + UInt64(records) && copy.verify().isClean, "call \(count)")
        }
    }

    // MARK: - Disks that refuse

    @Test(arguments: FaultBackend.Kind.allCases)
    func `a disk that refuses leaves the version before`(kind: FaultBackend.Kind) throws {
        let key = try Self.key()
        let scene = try Scene(commits: 4, seed: 16, key: key)
        for after in 0..<20 {
            let backend = try FaultBackend(scene.base)
            let store = try FileStore(backend, key: key)
            backend.resetCounts()
            backend.failing = (kind, after, 28)
            for record in try records(scene) {
                do {
                    try store.apply(record)
                } catch {
                    backend.failing = nil
                    guard store.acceptsWrites else { break }
                    try store.apply(record)
                }
                do {
                    try store.finishApplying()
                } catch {
                    backend.failing = nil
                    guard store.acceptsWrites else { break }
                    try store.finishApplying()
                }
            }
            #expect(store.current.verify().isClean, "\(kind) \(after)")
            let image = try MemoryBackend(backend.bytes)
            let found = try FileStore(MemoryBackend(backend.bytes), key: key).current
            #expect(found.verify().isClean, "\(kind) \(after)")
            if store.acceptsWrites { #expect(found.version == store.current.version, "\(kind) \(after)") }
            // Whatever it has, the records lead on.
            let again = try RecordApplier(image, after: scene.log.start, key: key)
            var position = 0
            while position < scene.log.bytes.count { try again.apply(scene.log.bytes, at: &position) }
            let copy = try RecordFollower.snapshot(of: image, key: key)
            #expect(try RecordDifference.isEqual(scene.last, copy), "\(kind) \(after)")
        }
    }
}
