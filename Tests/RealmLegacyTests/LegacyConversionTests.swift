// SPDX-License-Identifier: Apache-2.0

import Foundation
import RealmLegacy
import RealmPlatform
import RealmStorage
import RealmTestSupport
import RealmVerify
import Testing

/// Old files become files of format 24 with the same contents.
@Suite struct LegacyConversionTests {
    @Test(arguments: LegacyFixtures.names)
    func `a converted file shows every value of the old one`(_ name: String) throws {
        let dump = try LegacyFixtures.dump(name)
        try LegacyFixtures.withFile(try LegacyFixtures.bytes(name)) { path in
            try LegacyFixtures.converting(path, key: try LegacyFixtures.key(name)) { snapshot, report in
                var contents = ExpectedContents(snapshot)
                try contents.compare(with: dump, fileFormat: 24)
                #expect(contents.differences == [])
                #expect(LegacySchemaText.expected(dump) == LegacySchemaText.found(snapshot))
                let verified = snapshot.verify()
                #expect(verified.errors == [])
                #expect(verified.warnings == [])
                #expect(Int64(report.fromFormat) == dump["fileFormat"]?.integer)
                #expect(report.objectCount == snapshot.classes.reduce(0) { $0 + $1.count })
            }
        }
    }

    @Test(arguments: LegacyFixtures.names)
    func `the schema of an old file is known without its conversion`(_ name: String) throws {
        let dump = try LegacyFixtures.dump(name)
        try LegacyFixtures.withFile(try LegacyFixtures.bytes(name)) { path in
            let schema = try LegacyFile(path: path, key: try LegacyFixtures.key(name)).schema()
            #expect(LegacySchemaText.expected(dump) == LegacySchemaText.found(schema))
            #expect(schema.schemaVersion.map { Int64(bitPattern: $0) } == dump["schemaVersion"]?.integer)
            #expect(schema.classes.allSatisfy { $0.count == 0 })
        }
    }

    @Test(arguments: LegacyFixtures.names)
    func `a sound old file is sound in its own terms`(_ name: String) throws {
        try LegacyFixtures.withFile(try LegacyFixtures.bytes(name)) { path in
            let file = try LegacyFile(path: path, key: try LegacyFixtures.key(name))
            let report = try file.verify()
            #expect(report.errors == [])
            // An engine of format 2 mixed these up.
            #expect(report.warnings.isEmpty != name.contains("odd-swapped"), "\(report.warnings)")
        }
    }

    @Test(arguments: LegacyFixtures.refused)
    func `a file caught in the middle of an upgrade is refused`(_ path: String) throws {
        #expect {
            try LegacyFile(path: path)
        } throws: { error in
            guard case .refused(.formatUnsupported(_, let reason)) = error as? StorageError else { return false }
            return reason.contains("interrupted")
        }
    }

    @Test(arguments: LegacyFixtures.names.filter { !$0.contains("encrypted") })
    func `a file that is cut short is called that by readers of all formats`(_ name: String) throws {
        let bytes = try LegacyFixtures.bytes(name)
        let place = bytes[23] & 1 == 0 ? 0 : 8
        let top = bytes[place..<place + 8].reversed().reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
        // The top ref of a streaming form is at the end.
        guard top >= 24, top < UInt64(bytes.count) else { return }
        let reason = "the file is cut short: it has \(top) bytes, and more than \(top) are needed"
        try LegacyFixtures.withFile(Array(bytes.prefix(Int(top)))) { path in
            let expected = StorageError.corrupt(ref: .none, reason: reason)
            #expect(throws: expected) { try LegacyFile(path: path) }
            #expect(throws: expected) { try RealmFile(path: path) }
            let opened = try LegacyFile.open(path: path)
            #expect(opened == nil)
        }
    }

    @Test func `an old file is not changed, and nothing is made beside it`() throws {
        let folder = NSTemporaryDirectory() + "legacy-\(UUID().uuidString)"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let bytes = try LegacyFixtures.bytes("v9-example")
        try Data(bytes).write(to: URL(fileURLWithPath: folder + "/old.realm"))
        _ = try LegacyFile(path: folder + "/old.realm").convert(toFile: folder + "/new.realm")
        #expect(try [UInt8](Data(contentsOf: URL(fileURLWithPath: folder + "/old.realm"))) == bytes)
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder).sorted() == ["new.realm", "old.realm"])
    }

    @Test func `a converted file is written to like any other`() throws {
        try LegacyFixtures.withFile(try LegacyFixtures.bytes("v9-primary-keys")) { path in
            let new = try NewFile(nextTo: path)
            _ = try LegacyFile(path: path).convert(to: new)
            let store = try FileStore(new, key: nil, isForeign: true)
            let transaction = try store.beginTransaction()
            for key in try transaction.tableKeys() where try transaction.table(key).primaryKey == nil {
                let before = try transaction.count(in: key)
                for _ in 0..<300 { _ = try transaction.createObject(in: key) }
                #expect(try transaction.count(in: key) == before + 300)
            }
            #expect(try transaction.commit().verify().errors == [])
        }
    }

    @Test func `a conversion can be cancelled, and leaves no file`() throws {
        try LegacyFixtures.withFile(try LegacyFixtures.bytes("v9-example")) { path in
            let control = WorkControl()
            control.cancel()
            let target = path + ".new"
            #expect(throws: WorkControl.stopped) { try LegacyFile(path: path).convert(toFile: target, control) }
            #expect(!FileManager.default.fileExists(atPath: target))
        }
    }

    @Test func `an encrypted copy has the contents of a plain one`() throws {
        try LegacyFixtures.withFile(try LegacyFixtures.bytes("v9-example")) { path in
            let key = try EncryptionKey(bytes: Fixtures.key)
            let target = path + ".new"
            defer { try? FileManager.default.removeItem(atPath: target) }
            _ = try LegacyFile(path: path).convert(toFile: target, key: key)
            let snapshot = try Snapshot(file: try RealmFile(path: target, key: key))
            var contents = ExpectedContents(snapshot)
            try contents.compare(with: try LegacyFixtures.dump("v9-example"), fileFormat: 24)
            #expect(contents.differences == [])
        }
    }

    @Test func `a file whose engine has counted versions anew is sound`() throws {
        var bytes = try LegacyFixtures.bytes("v2-odd-swapped-backlinks")
        let slot = Int(bytes[23] & 1)
        let top = (0..<8).reduce(0) { $0 | Int(bytes[8 * slot + $1]) << (8 * $1) }
        try #require(bytes[top + 4] & 7 == 5 && bytes[top + 7] == 7, "a top node of 7 slots of 16 bits")
        // The last slot has the version, in the form of a number that is no ref.
        (bytes[top + 8 + 2 * 6], bytes[top + 9 + 2 * 6]) = (1, 0)
        try LegacyFixtures.withFile(bytes) { path in
            let report = try LegacyFile(path: path).verify()
            #expect(report.errors == [])
        }
    }
}
