// SPDX-License-Identifier: Apache-2.0

import Foundation
import RealmPlatform
import RealmTestSupport
import RealmVerify
import Testing

@testable import RealmStorage

@Suite("Copies that follow by records")
struct RecordEqualityTests {
    /// Random writes, with columns and tables that come and go, while readers hold some versions.
    @Test(arguments: TestRun.seeds(quick: 4, long: 400))
    func `equal the file in every used byte and know the same changes`(seed: UInt64) throws {
        let commits = TestRun.isLong ? 250 : 60
        var random = SeededGenerator(seed: seed ^ 0x5eed)
        var workload = StorageWorkload(seed: seed)
        var options = FileStore.Options()
        options.clusterShift = seed % 2 == 0 ? 2 : 8
        let store = try FileStore.inMemory(options)
        try Self.commit(store) { try workload.makeSchema($0) }
        let log = try RecordedLog(after: store.current.version)
        let follower = try RecordFollower(store.current, log.start, in: MemoryBackend())
        try store.setLog(log)
        var kept: [Snapshot] = []
        for commit in 0..<commits {
            let changes = try Self.commit(store) { transaction in
                let steps = Int.random(in: 1...8, using: &random)
                for _ in 0..<steps { try workload.step(transaction) }
                if Int.random(in: 0..<12, using: &random) == 0 { try Self.changeSchema(transaction, commit, &random) }
            }
            var position = 0
            let record = try follower.applier.apply(try #require(log.sealed.last), at: &position)
            let what = "seed \(seed), commit \(commit)"
            #expect(record.notes.changes == changes.singly && record.hasNotes, "\(what)")
            #expect(record.version == store.current.version && record.previousVersion + 1 == record.version, "\(what)")
            try Self.expectEqual(store.current, follower, what, verifies: commit % (TestRun.isLong ? 50 : 10) == 0)
            try Self.expectKept(kept, record, what)
            if Int.random(in: 0..<4, using: &random) == 0 { kept.append(store.current) }
            if kept.count > 3 || Int.random(in: 0..<5, using: &random) == 0 { kept = Array(kept.dropFirst()) }
        }
        #expect(log.settled == commits && follower.applier.chain == log.end)
    }

    /// Commits what a body does, and returns the changes that observers are told.
    @discardableResult
    static func commit(
        _ store: FileStore, _ body: (WriteTransaction) throws -> Void
    ) throws -> [ObjectChange] {
        let transaction = try store.beginTransaction()
        defer { transaction.end() }
        try body(transaction)
        let changes = transaction.changes
        _ = try transaction.commit()
        return changes
    }

    /// Adds a class or a property, or removes one that was added.
    static func changeSchema(
        _ transaction: WriteTransaction, _ number: Int, _ random: inout SeededGenerator
    ) throws {
        let tables = try transaction.tableKeys().map { try transaction.table($0) }.filter { $0.name.hasPrefix("class_Extra") }
        guard let table = tables.randomElement(using: &random) else {
            let key = try transaction.createTable("class_Extra\(number)")
            _ = try transaction.addColumn(ColumnDefinition("first", .int), to: key)
            return
        }
        switch Int.random(in: 0..<3, using: &random) {
        case 0: try transaction.removeTable(table.key)
        case 1: _ = try transaction.addColumn(ColumnDefinition("more\(number)", .string, index: .general), to: table.key)
        default:
            _ = try transaction.addColumn(ColumnDefinition("list\(number)", .double, collection: .list), to: table.key)
            for _ in 0..<40 { _ = try transaction.createObject(in: table.key) }
        }
    }

    static func expectEqual(
        _ snapshot: Snapshot, _ follower: RecordFollower, _ what: String, verifies: Bool
    ) throws {
        // Read in place, as copying it for each of many commits would take longer than all else.
        let data = try DataFile(follower.backend)
        let file = RealmFile(
            path: "", header: try data.plain.header(), plain: data.plain, fileByteCount: follower.backend.byteCount)
        let copy = try Snapshot(file: file, clusterShift: snapshot.clusterShift)
        #expect(try RecordDifference.isEqual(snapshot, copy), "\(what)")
        #expect(follower.applier.version == snapshot.version, "\(what)")
        if verifies { #expect(copy.verify().errors.isEmpty, "\(what): \(copy.verify().errors)") }
    }

    /// What a record writes lies in nothing that the versions after its horizon use.
    static func expectKept(_ kept: [Snapshot], _ record: CommitRecord, _ what: String) throws {
        #expect(record.keepsPreviousVersion, "\(what)")
        for snapshot in kept where snapshot.version > record.horizon {
            let unused = try UnusedSpace(of: snapshot)
            for extent in record.extents where extent.offset >= FileHeader.byteCount {
                for offset in stride(from: extent.offset, to: extent.offset + extent.bytes.count, by: 8) {
                    #expect(unused.contains(UInt64(offset)), "\(what): version \(snapshot.version) at \(offset)")
                }
            }
        }
    }

    @Test(arguments: Fixtures.names)
    func `follow in the files of the reference engine`(_ name: String) throws {
        guard !Fixtures.isEncrypted(name) else { return }
        let file = try TemporaryRealm(name)
        guard let store = try? FileStore.open(path: file.path) else { return }
        let log = try RecordedLog(after: store.current.version)
        let follower = try RecordFollower(store.current, log.start, in: MemoryBackend())
        try store.setLog(log)
        var workload = StorageWorkload(seed: 5)
        for commit in 0..<5 {
            try Self.commit(store) { transaction in
                for _ in 0..<20 { try? workload.step(transaction) }
                _ = try transaction.createTable("class_New\(commit)")
            }
            var position = 0
            try follower.applier.apply(try #require(log.sealed.last), at: &position)
            try Self.expectEqual(store.current, follower, "\(name), commit \(commit)", verifies: false)
        }
        try store.close()
    }

    /// The bytes of the file at each version were kept, and base and records lead to each of them.
    @Test(arguments: [21, 22] as [UInt64])
    func `lead to every version as the file had it`(seed: UInt64) throws {
        var workload = StorageWorkload(seed: seed)
        let backend = try MemoryBackend()
        let store = try FileStore(backend)
        try Self.commit(store) { try workload.makeSchema($0) }
        let log = try RecordedLog(after: store.current.version)
        let base = try MemoryBackend()
        try BaseCopy.write(store.current, to: base)
        try store.setLog(log)
        var files: [[UInt8]] = []
        for _ in 0..<25 {
            try Self.commit(store) { for _ in 0..<6 { try workload.step($0) } }
            files.append(backend.bytes)
        }
        for (index, file) in files.enumerated() {
            let target = try MemoryBackend(base.bytes)
            let applier = try RecordApplier(target, after: log.start)
            var position = 0
            let bytes = log.bytes
            for _ in 0...index { try applier.apply(bytes, at: &position) }
            let kept = try FileStore(MemoryBackend(file)).current
            #expect(try RecordDifference.isEqual(kept, try RecordFollower.snapshot(of: target)), "seed \(seed), version \(index)")
        }
    }

    @Test func `are made of one record for many commits where these were not recorded`() throws {
        var workload = StorageWorkload(seed: 31)
        let backend = try MemoryBackend()
        let store = try FileStore(backend)
        try Self.commit(store) { try workload.makeSchema($0) }
        let base = try MemoryBackend()
        try BaseCopy.write(store.current, to: base)
        let earlier = try FileStore(MemoryBackend(base.bytes)).current
        for _ in 0..<20 { try Self.commit(store) { for _ in 0..<5 { try workload.step($0) } } }
        let made = try RecordDifference.record(to: store.current, from: earlier, time: 0, limit: .max)
        let record = try #require(made)
        #expect(!record.keepsPreviousVersion && !record.hasNotes)
        var chain = try RecordChain(realm: "test", epoch: "epoch123", base: earlier.version)
        let start = chain
        let sealed = try chain.seal(record)
        var position = 0
        #expect(throws: StorageError.self) {
            try RecordApplier(MemoryBackend(base.bytes), after: start).apply(sealed, at: &position)
        }
        let applier = try RecordApplier(base, after: start, isUnshared: true)
        try applier.apply(sealed, at: &position)
        let copy = try RecordFollower.snapshot(of: base)
        #expect(try RecordDifference.isEqual(store.current, copy))
        #expect(copy.verify().isClean)
        #expect(try RecordDifference.record(to: store.current, from: earlier, time: 0, limit: 100) == nil)
        #expect(try RecordDifference.record(to: earlier, from: store.current, time: 0, limit: .max) == nil)
    }
}
