// SPDX-License-Identifier: Apache-2.0

import RealmEngine
import RealmPlatform
import RealmStorage
import RealmTestSupport
import RealmVerify
import Testing

/// Versions copied as files of their own.
@Suite struct CopyTests {
    private static let large: Set<String> = ["bench-100000", "table-70000", "blob-16m"]
    private static let names = Fixtures.names.filter { !large.contains($0) }
    private static let otherKey = [UInt8](repeating: 0xab, count: 64)

    private func open(_ name: String) throws -> Database {
        let key = Fixtures.isEncrypted(name) ? try EncryptionKey(bytes: Fixtures.key) : nil
        return try Database.open(
            name: try #require(RealmName("original")), path: try Fixtures.path(name),
            Database.OpenOptions(key: key, mode: .readOnly))
    }

    /// Copies a version, and returns the copy with the file that it lives in.
    private func copy(_ database: Database, _ options: Database.CopyOptions) throws -> (file: NewFile, database: Database) {
        let file = try NewFile(nextTo: System.temporaryFolder + "/copy")
        try database.writeCopy(of: database.current.snapshot, to: file.backend(), options)
        return (file, try Database(name: try #require(RealmName("copy")), path: file.openPath, key: options.key))
    }

    private func objects(_ snapshot: Snapshot, of names: Set<String>? = nil) throws -> [String] {
        let text = ObjectText(snapshot)
        var lines: [String] = []
        for table in snapshot.classes where table.kind != .embedded && names.map({ $0.contains(table.className ?? "") }) ?? true {
            var cursor = table.leaves()
            while let leaf = try cursor.next() {
                for index in 0..<leaf.count {
                    let row = Row(leaf: leaf, index: index)
                    lines.append("\(table.name) \(row.key.rawValue) \(try text.text(of: row, in: table))")
                }
            }
        }
        return lines
    }

    @Test(arguments: CopyTests.names)
    func `a copy has the schema, the keys, the order and the values, and hardly any free space`(_ name: String) throws {
        let original = try open(name)
        defer { original.close() }
        let before = original.current.snapshot
        let keys = [original.key, nil, try EncryptionKey(bytes: CopyTests.otherKey)]
        for key in keys {
            let (file, copy) = try copy(original, Database.CopyOptions(key: key))
            let after = copy.current.snapshot
            #expect(RealmSchema(after) == RealmSchema(before))
            #expect(after.schemaVersion == before.schemaVersion)
            #expect(try objects(after) == objects(before))
            #expect(after.verify().isClean == before.verify().isClean)
            let facts = try copy.facts(of: copy.current)
            #expect(facts.isEncrypted == (key != nil))
            // An encrypted file has a page of initialization vectors and checksums for each 64 pages.
            let checksums = key == nil ? 0 : (facts.fileBytes / 4096 / 65 + 1) * 4096
            #expect(facts.fileBytes - facts.usedBytes <= facts.fileBytes / 100 + 4096 + checksums)
            copy.close()
            withExtendedLifetime(file) {}
        }
    }

    @Test(arguments: CopyTests.names)
    func `a part of the classes is a sound realm without the others`(_ name: String) throws {
        let original = try open(name)
        defer { original.close() }
        let before = original.current.snapshot
        let isClean = before.verify().isClean
        for className in before.classes.compactMap(\.className).prefix(4) {
            let options = Database.CopyOptions(key: nil, classes: try ClassSubset([className], of: before))
            let (file, copy) = try copy(original, options)
            let after = copy.current.snapshot
            let classes = Set(after.classes.compactMap(\.className))
            #expect(classes.contains(className))
            for table in after.classes where table.className != className { #expect(table.kind == .embedded) }
            for table in after.classes {
                for column in table.columns {
                    guard let target = column.targetTable else { continue }
                    #expect(after.classes.contains { $0.key == target }, "\(table.name).\(column.name)")
                }
            }
            let count = try #require(before.classTable(named: className)).count
            if before.classTable(named: className)?.kind != .embedded {
                #expect(after.classTable(named: className)?.count == count)
            }
            let report = after.verify()
            #expect(report.isClean || !isClean, "\(name).\(className): \(report.errors.prefix(3))")
            copy.close()
            withExtendedLifetime(file) {}
        }
    }

    @Test func `values of properties that lead nowhere else stay as they are in a part`() throws {
        let original = try open("types-list")
        defer { original.close() }
        let before = original.current.snapshot
        for table in before.classes where !table.columns.contains(where: { $0.type == .link || $0.type == .mixed }) {
            let className = try #require(table.className)
            let (file, copy) = try copy(
                original, Database.CopyOptions(key: nil, classes: try ClassSubset([className], of: before)))
            #expect(try objects(copy.current.snapshot) == objects(before, of: [className]))
            copy.close()
            withExtendedLifetime(file) {}
        }
    }

    @Test func `a class that does not exist is named by its position`() throws {
        let original = try open("types-list")
        defer { original.close() }
        let name = try #require(original.current.snapshot.classes.first?.className)
        let error = #expect(throws: ClassSubset.UnknownClass.self) {
            try ClassSubset([name, "Nobody"], of: original.current.snapshot)
        }
        #expect(error?.position == 1)
    }

    @Test func `a copy that takes too long, or is cancelled, ends`() throws {
        let original = try open("types-list")
        defer { original.close() }
        let late = WorkControl(deadline: .now().adding(seconds: -1))
        #expect(throws: StorageError.stopped(.expired)) { try copy(original, Database.CopyOptions(key: nil, control: late)) }
        let cancelled = WorkControl()
        cancelled.cancel()
        #expect(throws: WorkControl.stopped) { try copy(original, Database.CopyOptions(key: nil, control: cancelled)) }
    }

    @Test func `the tables of a sync client are left out where that is wanted, and those of others are not`() throws {
        let file = try TemporaryRealm()
        let realm = try ScratchRealm(path: file.path)
        let transaction = realm.transaction
        let others = ["class_flx_Own", "dotnet_guid_representation_fixed"]
        for name in others { _ = try transaction.createTable(name) }
        let sets = try transaction.createTable("flx_subscription_sets")
        let subscriptions = try transaction.createTable("flx_subscriptions")
        let schemas = try transaction.createTable("sync_internal_schemas_metadata")
        try transaction.addColumn(ColumnDefinition("subscriptions", .link, collection: .list, target: subscriptions), to: sets)
        for table in [sets, subscriptions, schemas] { _ = try transaction.createObject(in: table) }
        try realm.commit()
        try realm.close()
        let original = try Database.open(
            name: try #require(RealmName("original")), path: file.path, Database.OpenOptions(mode: .readOnly))
        defer { original.close() }
        var options = Database.CopyOptions(key: nil)
        for isWithout in [false, true] {
            options.isWithoutSyncTables = isWithout
            let copied = try copy(original, options)
            let snapshot = copied.database.current.snapshot
            #expect(snapshot.tables.map(\.name).filter { !others.contains($0) }.count == (isWithout ? 0 : 3))
            #expect(others.allSatisfy { snapshot.table(named: $0) != nil })
            #expect(snapshot.verify().isClean)
        }
    }
}
