// SPDX-License-Identifier: Apache-2.0

import Foundation
import RealmPlatform
import RealmTestSupport
import RealmVerify
import Testing

@testable import RealmStorage

@Suite("Logs of commits")
struct CommitLogTests {
    private static func workload(_ store: FileStore) throws -> StorageWorkload {
        let workload = StorageWorkload(seed: 8)
        try RecordEqualityTests.commit(store) { try workload.makeSchema($0) }
        return workload
    }

    @Test func `a record that is refused is a write that is refused`() throws {
        let store = try FileStore.inMemory()
        var workload = try Self.workload(store)
        let log = try RecordedLog(after: store.current.version)
        try store.setLog(log)
        let version = store.current.version
        log.refuses = true
        let transaction = try store.beginTransaction()
        for _ in 0..<10 { try workload.step(transaction) }
        #expect(throws: StorageError.io(operation: "append", errno: 5)) { try transaction.commit() }
        #expect(store.current.version == version && store.acceptsWrites && log.sealed.isEmpty)
        // The same transaction may be tried again.
        let snapshot = try transaction.commit()
        #expect(snapshot.version == version + 1 && log.records.map(\.version) == [version + 1])
        #expect(snapshot.verify().isClean)
    }

    /// The disk refuses the byte that selects the version, after its record was stored.
    @Test(arguments: [true, false], [true, false])
    func `a commit that the file refuses takes its record back, or counts`(takesBack: Bool, isDurable: Bool) throws {
        let backend = try CrashBackend()
        let store = try FileStore(backend)
        var workload = try Self.workload(store)
        let log = try RecordedLog(after: store.current.version, isDurable: isDurable)
        let base = backend.bytes
        log.takesBack = takesBack
        try store.setLog(log)
        for _ in 0..<3 { try RecordEqualityTests.commit(store) { for _ in 0..<5 { try workload.step($0) } } }
        let transaction = try store.beginTransaction()
        for _ in 0..<5 { try workload.step(transaction) }
        log.didAppend = { backend.failing = (after: backend.writeCount, taken: .nothing) }
        #expect(throws: StorageError.io(operation: "write", errno: 28)) { try transaction.commit() }
        backend.failing = nil
        log.didAppend = {}
        transaction.end()
        #expect(store.acceptsWrites == takesBack)
        #expect(log.records.count == (takesBack ? 3 : 4) && log.settled == 3)
        guard !takesBack else {
            try RecordEqualityTests.commit(store) { for _ in 0..<5 { try workload.step($0) } }
            #expect(log.records.count == 4)
            return try Self.expect(log, bringsUp: backend.bytes, to: store.current)
        }
        // What the log has counts: opened again, the file is brought up to it.
        let reopened = try MemoryBackend(backend.bytes)
        let applier = try RecordApplier(reopened, after: log.start)
        var position = 0
        for _ in log.sealed { try applier.apply(log.bytes, at: &position) }
        #expect(applier.version == log.end.version)
        let other = try MemoryBackend(base)
        let fresh = try RecordApplier(other, after: log.start)
        position = 0
        for _ in log.sealed { try fresh.apply(log.bytes, at: &position) }
        #expect(try RecordDifference.isEqual(RecordFollower.snapshot(of: other), RecordFollower.snapshot(of: reopened)))
    }

    /// The disk refuses to sync what a log stores at the same time.
    @Test func `a commit whose bytes are not synced counts when the log has it`() throws {
        let backend = try FaultBackend()
        let store = try FileStore(backend)
        var workload = try Self.workload(store)
        let log = try RecordedLog(after: store.current.version, isDurable: true)
        log.takesBack = false
        try store.setLog(log)
        for _ in 0..<3 { try RecordEqualityTests.commit(store) { for _ in 0..<5 { try workload.step($0) } } }
        let before = store.current
        backend.resetCounts()
        backend.failing = (.sync, 0, 5)
        #expect(throws: StorageError.io(operation: "sync", errno: 5)) {
            try RecordEqualityTests.commit(store) { for _ in 0..<5 { try workload.step($0) } }
        }
        #expect(store.current === before && !store.acceptsWrites && log.records.count == 4 && log.settled == 3)
        let reopened = try MemoryBackend(backend.bytes)
        let applier = try RecordApplier(reopened, after: log.start)
        var position = 0
        for _ in log.sealed { try applier.apply(log.bytes, at: &position) }
        #expect(try RecordFollower.snapshot(of: reopened).verify().isClean)
    }

    private static func expect(_ log: RecordedLog, bringsUp bytes: [UInt8], to snapshot: Snapshot) throws {
        let applier = try RecordApplier(try MemoryBackend(bytes), after: log.start)
        var position = 0
        for _ in log.sealed { try applier.apply(log.bytes, at: &position) }
        #expect(applier.version == snapshot.version && applier.chain == log.end)
    }

    @Test func `a commit that is too large has a record without bytes`() throws {
        let store = try FileStore.inMemory()
        var workload = try Self.workload(store)
        let log = try RecordedLog(after: store.current.version, maximumByteCount: 2000)
        let follower = try RecordFollower(store.current, log.start, in: MemoryBackend())
        try store.setLog(log)
        try RecordEqualityTests.commit(store) { for _ in 0..<50 { try workload.step($0) } }
        #expect(log.records[0].isWithoutBytes && log.records[0].extents.isEmpty && !log.records[0].notes.changes.isEmpty)
        var position = 0
        #expect(throws: StorageError.self) { try follower.applier.apply(log.sealed[0], at: &position) }
    }

    @Test func `a file that was compacted tells the log, and goes on with it`() throws {
        let file = try TemporaryRealm("store")
        let store = try FileStore.open(path: file.path)
        let log = try RecordedLog(after: store.current.version)
        try store.setLog(log)
        let copy = try store.makeCompactCopy()
        let transaction = try store.beginTransaction()
        _ = try transaction.replaceFile(by: copy)
        transaction.end()
        #expect(log.replacements == 1)
        let follower = try RecordFollower(store.current, log.start, in: MemoryBackend())
        try RecordEqualityTests.commit(store) { _ = try $0.createTable("class_New") }
        var position = 0
        try follower.applier.apply(log.bytes, at: &position)
        try RecordEqualityTests.expectEqual(store.current, follower, "after compaction", verifies: true)
        try store.close()
    }

    @Test func `commits of encrypted files are not recorded`() throws {
        let store = try FileStore(MemoryBackend(), key: try EncryptionKey(bytes: Fixtures.key))
        let log = try RecordedLog(after: 1)
        #expect(throws: StorageError.self) { try store.setLog(log) }
        #expect(throws: StorageError.self) { try BaseCopy.write(store.current, to: MemoryBackend()) }
        try RecordEqualityTests.commit(store) { _ = try $0.createTable("class_New") }
        #expect(log.records.isEmpty)
    }

    @Test func `without a log nothing is recorded, and a log that was removed gets nothing more`() throws {
        let store = try FileStore.inMemory()
        let log = try RecordedLog(after: 1)
        try store.setLog(log)
        try RecordEqualityTests.commit(store) { _ = try $0.createTable("class_A") }
        try store.setLog(nil)
        try RecordEqualityTests.commit(store) { _ = try $0.createTable("class_B") }
        #expect(log.records.count == 1)
    }

    @Test func `notes are written and read as they are`() throws {
        let (table, object, column) = (TableKey(0x1_0003), ObjectKey(-7), ColumnKey(0x1234_5678_9abc))
        let operations: [CollectionChange] = [.insert(0), .set(200), .erase(70_000), .move(from: 3, to: 1), .clear(count: 9)]
        let changes: [ObjectChange] =
            [
                .created(table, object), .deleted(table, ObjectKey(.max)), .modified(table, ObjectKey(.min), .null),
                .schema(.null),
            ] + operations.map { .collection(table, object, column, $0) }
        let notes = CommitNotes(changes: changes, skips: ["r-1/dogs", "é"])
        var writer = RecordWriter(reserving: 10)
        notes.write(to: &writer)
        var reader = RecordReader(writer.bytes[...])
        #expect(try CommitNotes(from: &reader) == notes && reader.rest == 0)
    }
}
