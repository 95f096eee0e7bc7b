// SPDX-License-Identifier: Apache-2.0

import Foundation
import RealmPlatform
import RealmTestSupport
import RealmVerify
import Testing

@testable import RealmStorage

/// Files that others shorten, replace or write to while they are open. Reading a mapped page that is gone used to end the
/// process, and commits were acknowledged into files without a name.
@Suite("Files that change underneath")
struct ChangedFileTests {
    private static func key(_ isEncrypted: Bool) throws -> EncryptionKey? {
        isEncrypted ? try EncryptionKey(bytes: Fixtures.key) : nil
    }

    private static func fixture(_ isEncrypted: Bool) -> String { isEncrypted ? "encrypted" : "strings" }

    private func isChange(_ error: (any Error)?) -> Bool {
        if case .refused(.fileChanged)? = error as? StorageError { return true }
        return false
    }

    private func error(_ body: () throws -> Void) -> (any Error)? {
        do { try body() } catch { return error }
        return nil
    }

    @Test func `a mapping of what is gone reads as zeros and says so, also in parts`() throws {
        let file = try TemporaryRealm()
        try file.write([UInt8](repeating: 7, count: 5 * 4096 + 100))
        let descriptor = try System.openForReading(file.path)
        defer { System.close(descriptor) }
        let mapping = try FileMapping(descriptor: descriptor, byteCount: 5 * 4096 + 100)
        let other = try FileMapping(descriptor: descriptor, byteCount: 4096)
        #expect(mapping.bytes[5 * 4096 + 99] == 7 && !mapping.loss.isSet)
        unsafe truncate(file.path, 3 * 4096)
        #expect(mapping.bytes[3 * 4096 - 1] == 7 && !mapping.loss.isSet)
        #expect(mapping.bytes[4 * 4096] == 0 && mapping.loss.isSet && !other.loss.isSet)
        #expect(mapping.bytes[3 * 4096] == 0 && mapping.bytes[5 * 4096 + 99] == 0)
        #expect(mapping.bytes.array.count == 5 * 4096 + 100)
        unsafe truncate(file.path, 0)
        #expect(mapping.bytes.array.allSatisfy { $0 == 0 } && other.bytes[0] == 0 && other.loss.isSet)
    }

    @Test func `many mappings come and go while files get shorter`() throws {
        let file = try TemporaryRealm()
        for round in 0..<600 {
            try? FileManager.default.removeItem(at: file.url)
            try file.write([UInt8](repeating: 9, count: 2 * 4096))
            let descriptor = try System.openForReading(file.path)
            let mappings = try (0...round % 5).map { _ in try FileMapping(descriptor: descriptor, byteCount: 2 * 4096) }
            System.close(descriptor)
            unsafe truncate(file.path, 4096)
            for mapping in mappings { #expect(mapping.bytes[0] == 9 && mapping.bytes[4096] == 0 && mapping.loss.isSet) }
        }
    }

    @Test(arguments: [false, true])
    func `a file that is read gets shorter at every page`(_ isEncrypted: Bool) throws {
        let name = Self.fixture(isEncrypted)
        let size = try #require(try FileManager.default.attributesOfItem(atPath: Fixtures.path(name))[.size] as? Int)
        for length in stride(from: 0, to: size, by: 4096) {
            let file = try TemporaryRealm(name)
            let snapshot = try Snapshot(file: try RealmFile(path: file.path, key: try Self.key(isEncrypted)))
            unsafe truncate(file.path, off_t(length))
            let report = snapshot.verify()
            let failure = error { try snapshot.file.requireWhole() }
            #expect(
                report.isClean ? failure == nil || isChange(failure) : isChange(failure), "\(length): \(report.errors.prefix(2))")
            #expect(isChange(error { try snapshot.file.witness?.checkFile() }))
        }
    }

    @Test(arguments: [false, true])
    func `a copy of a file that is gone in part is an error, and so is a commit to it`(_ isEncrypted: Bool) throws {
        let file = try TemporaryRealm(Self.fixture(isEncrypted))
        let store = try FileStore.open(path: file.path, key: try Self.key(isEncrypted))
        let transaction = try store.beginTransaction()
        unsafe truncate(file.path, 8192)
        _ = error { for table in store.current.tables { try transaction.deleteAllObjects(in: table.key) } }
        #expect(isChange(error { _ = try transaction.commit() }))
        transaction.end()
        try store.close()
    }

    @Test(arguments: FileMischief.allCases, [false, true])
    func `nothing is committed to a file that is not what it was`(_ mischief: FileMischief, _ isEncrypted: Bool) throws {
        var random = SeededGenerator(seed: 3)
        let file = try TemporaryRealm(Self.fixture(isEncrypted))
        let other = try TemporaryRealm("links")
        let store = try FileStore.open(path: file.path, key: try Self.key(isEncrypted))
        try commit(store, &random)
        #expect(error { try store.witness?.checkFile() } == nil)
        // The clock of a file system has ticks.
        usleep(20_000)
        try mischief.act(on: file.path, other: other.path)
        let after = try? Data(contentsOf: file.url)
        #expect(isChange(error { try store.witness?.checkFile() }), "\(mischief)")
        // Junk may be met before anything is committed.
        let isCorrupt = mischief == .overwrittenWithJunk && !isEncrypted
        for _ in 0..<2 {
            let failure = error { try commit(store, &random) }
            #expect(isChange(failure) || isCorrupt && failure is StorageError, "\(mischief): \(String(describing: failure))")
        }
        let end = try? Data(contentsOf: file.url)
        #expect(end == after, "\(mischief): something was written")
        try store.close()
    }

    private func commit(_ store: FileStore, _ random: inout SeededGenerator) throws {
        let transaction = try store.beginWrite()
        defer { transaction.rollBack() }
        let roots = try RewriteWorkload.change(transaction, using: &random)
        _ = try transaction.commit(names: roots.names, tables: roots.tables)
    }

    @Test(arguments: [false, true])
    func `what this process writes itself is no change`(_ isEncrypted: Bool) throws {
        let file = try TemporaryRealm()
        let realm = try ScratchRealm(path: file.path, key: try Self.key(isEncrypted))
        var workload = StorageWorkload(seed: 4)
        try workload.makeSchema(realm.transaction)
        for round in 0..<30 {
            try realm.commit()
            #expect(error { try realm.store.witness?.checkFile() } == nil, "round \(round)")
            for _ in 0..<40 { try workload.step(realm.transaction) }
        }
        try realm.close()
    }

    @Test func `a file that was emptied is not made a realm, and an absent one not made`() throws {
        let file = try TemporaryRealm()
        try file.write([])
        #expect(throws: StorageError.refused(.notARealm("a file of 0 bytes is no Realm file; it may be an interrupted copy"))) {
            _ = try FileStore.open(path: file.path)
        }
        #expect(try file.bytes.isEmpty)
    }
}
