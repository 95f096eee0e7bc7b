// SPDX-License-Identifier: Apache-2.0

import RealmPlatform
import RealmTestSupport
import RealmVerify
import Testing

@testable import RealmStorage

/// Files of formats 10 and 11, which have the layout of format 20.
@Suite("Formats 10 and 11")
struct FormerFormatTests {
    private static let names = Fixtures.legacyNames("v10-") + Fixtures.legacyNames("v11-")

    private static func key(_ name: String) throws -> EncryptionKey? {
        try Fixtures.legacyKey(name).map { try EncryptionKey(bytes: $0) }
    }

    private static func differences(_ snapshot: Snapshot, _ name: String, fileFormat: Int? = nil) throws -> [String] {
        var contents = ExpectedContents(snapshot)
        try contents.compare(with: try #require(try Fixtures.dump(name)), fileFormat: fileFormat)
        return contents.differences
    }

    @Test func `there are files to try`() { #expect(FormerFormatTests.names.count >= 7) }

    @Test(arguments: names)
    func `a file holds what its writer put in, and is sound`(_ name: String) throws {
        let file = try RealmFile(path: try Fixtures.path(name), key: FormerFormatTests.key(name))
        let snapshot = try Snapshot(file: file)
        #expect(try FormerFormatTests.differences(snapshot, name).isEmpty)
        for isExact in [false, true] {
            let report = snapshot.verify(isExact: isExact)
            #expect(report.isClean, "\(report.errors)")
        }
    }

    @Test(arguments: names)
    func `an upgraded file holds the same, keeps it over writes, and is refused for writing before`(_ name: String) throws {
        let realm = try TemporaryRealm(name)
        let key = try FormerFormatTests.key(name)
        let format = name.contains("v10-") ? 10 : 11
        let original = try realm.bytes
        if try Snapshot(file: try RealmFile(path: realm.path, key: key)).top.tables.isNone { return }
        #expect(throws: StorageError.refused(.formatNotWritable(found: format))) {
            _ = try FileStore.open(path: realm.path, key: key)
        }
        #expect(try realm.bytes == original)
        var options = FileStore.Options()
        options.converts = .olderFormats
        let store = try FileStore.open(path: realm.path, key: key, options)
        #expect(try FormerFormatTests.differences(store.current, name, fileFormat: 24).isEmpty)
        #expect(store.current.verify().errors.isEmpty, "\(store.current.verify().errors)")
        for table in store.current.classes {
            let transaction = try store.beginTransaction()
            _ = try transaction.addColumn(ColumnDefinition("added by a test", .int, index: .general), to: table.key)
            for object in try transaction.objectKeys(in: table.key).prefix(3) {
                try transaction.deleteObject(object, in: table.key)
            }
            let report = try transaction.commit().verify()
            #expect(report.isClean, "\(table.name): \(report.errors)")
        }
        try store.close()
    }
}
