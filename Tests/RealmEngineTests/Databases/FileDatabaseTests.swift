// SPDX-License-Identifier: Apache-2.0

import Foundation
import RealmEngine
import RealmPlatform
import RealmStorage
import RealmTestSupport
import RealmVerify
import Testing

/// Databases in files: opening, reopening, copies.
@Suite struct FileDatabaseTests {
    private let folder: String

    init() throws {
        let url = FileManager.default.temporaryDirectory.appendingPathComponent("realm-rest-engine-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
        folder = url.path
    }

    private func inFolder(_ body: (String) throws -> Void) throws {
        defer { try? FileManager.default.removeItem(atPath: folder) }
        try body(folder + "/test.realm")
    }

    private func files() -> [String] { ((try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []).sorted() }

    private func open(_ path: String, _ mode: Database.Mode? = nil, key: EncryptionKey? = nil) throws -> Database {
        try Database.open(name: try #require(RealmName("x")), path: path, Database.OpenOptions(key: key, mode: mode))
    }

    @Test func `what was written is there when the file is opened again`() throws {
        try inFolder { path in
            let realm = try EngineRealm(path: path, TestSchema.counters)
            try realm.write { _ = try $0.create("Counter", ["_id": .integer(1), "n": .integer(4)]) }
            let facts = try realm.database.facts(of: realm.database.current)
            #expect(
                facts.classCount == 1 && !facts.isEmpty && facts.usedBytes > 0 && facts.schemaVersion == 0
                    && facts.pendingWrites == 0)
            #expect(throws: StorageError.self) { _ = try open(path, .readWrite) }
            try realm.finish()
            let again = try EngineRealm(path: path)
            #expect(again.database.epoch.text != realm.database.epoch.text)
            #expect(try again.show("Counter", 1) == "{_id:1 n:4}")
            try again.finish()
            let reader = try open(path, .readOnly)
            #expect(!reader.isWritable && reader.mode == .readOnly)
            let answer = Awaited<Result<WriteReceipt<Void>, WriteError>>()
            reader.write(EngineRealm.request(), { _ in }, completion: { answer.set($0) })
            guard case .failure(let error) = try answer.wait() else {
                Issue.record("written")
                return
            }
            #expect(error.code == .readOnly)
        }
    }

    @Test func `a copy is private and goes when it is closed`() throws {
        try inFolder { path in
            let realm = try EngineRealm(path: path, TestSchema.counters)
            try realm.finish()
            let before = try Data(contentsOf: URL(fileURLWithPath: path))
            let copy = try open(path, .copy)
            #expect(copy.mode == .copy && copy.isWritable)
            let answer = Awaited<Result<WriteReceipt<Void>, WriteError>>()
            copy.write(
                EngineRealm.request(), { _ = try $0.create("Counter", ["_id": .integer(1), "n": .integer(4)]) },
                completion: { answer.set($0) })
            _ = try answer.wait().get()
            copy.close()
            #expect(try Data(contentsOf: URL(fileURLWithPath: path)) == before)
        }
    }

    @Test func `without a mode files are written to if they can be`() throws {
        try inFolder { path in
            let realm = try EngineRealm(path: path, TestSchema.counters)
            try realm.finish()
            let writable = try open(path)
            #expect(writable.mode == .readWrite)
            writable.close()
            let old = folder + "/old.realm"
            var bytes = [UInt8](try Data(contentsOf: URL(fileURLWithPath: path)))
            // Format 23 differs in nothing that this file has.
            for slot in 20...21 where bytes[slot] != 0 { bytes[slot] = 23 }
            try Data(bytes).write(to: URL(fileURLWithPath: old))
            let database = try open(old)
            #expect(database.mode == .readOnly && database.current.snapshot.fileFormat == 23)
        }
    }

    @Test func `deleting files leaves the lock file`() throws {
        try inFolder { path in
            let realm = try EngineRealm(path: path, TestSchema.counters)
            try realm.finish()
            try realm.database.deleteFiles()
            #expect(files() == ["test.realm.lock"])
        }
    }

    @Test func `a migration leaves a copy of what was before`() throws {
        try inFolder { path in
            let realm = try EngineRealm(path: path, TestSchema.counters)
            let before = realm.database.current.token.version
            let answer = Awaited<Result<WriteReceipt<WriteSession.Migrated>, WriteError>>()
            realm.database.migrate(
                Migration(from: 0, to: 1, [.renameClass(name: "Counter", to: "Number")]), EngineRealm.request()
            ) { answer.set($0) }
            _ = try answer.wait().get()
            #expect(realm.count("Number") == 0 && realm.count("Counter") == -1)
            try realm.finish()
            let copy = try open("\(path).before-\(before)", .readOnly)
            #expect(copy.current.snapshot.classTable(named: "Counter") != nil && copy.current.snapshot.verify().isClean)
        }
    }

    @Test func `an encrypted file is written to with its key`() throws {
        try inFolder { path in
            let key = try EncryptionKey(bytes: Fixtures.key)
            var options = Database.OpenOptions(key: key, mode: .readWrite)
            options.createsMissingFile = true
            let database = try Database.open(name: try #require(RealmName("x")), path: path, options)
            let answer = Awaited<Result<WriteReceipt<Void>, WriteError>>()
            database.write(
                EngineRealm.request(),
                { session in
                    try session.createSchema(SchemaInput(classes: TestSchema.counters))
                    _ = try session.create("Counter", ["_id": .integer(1), "n": .integer(4)])
                }, completion: { answer.set($0) })
            _ = try answer.wait().get()
            #expect(database.current.snapshot.verify().isClean)
            database.close()
            let reader = try open(path, .readOnly, key: key)
            #expect(reader.current.snapshot.classTable(named: "Counter")?.count == 1)
        }
    }
}
