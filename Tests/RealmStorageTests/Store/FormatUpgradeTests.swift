// SPDX-License-Identifier: Apache-2.0

import RealmPlatform
import RealmTestSupport
import RealmVerify
import Testing

@testable import RealmStorage

@Suite struct FormatUpgradeTests {
    private static let converting: FileStore.Options = {
        var options = FileStore.Options()
        options.converts = .olderFormats
        return options
    }()

    /// Everything in a version as lines; sets without an order, dictionaries by key.
    private static func lines(_ snapshot: Snapshot) throws -> [String] {
        var lines: [String] = []
        for table in snapshot.tables where table.kind != .asymmetric {
            var leaves = table.objects.leaves()
            while let leaf = try leaves.next() {
                for row in 0..<leaf.count {
                    for column in table.columns {
                        lines.append(
                            "\(table.name) \(leaf.key(at: row).rawValue) \(column.name): \(try text(column, leaf, row, snapshot))"
                        )
                    }
                    for column in table.backlinks {
                        let keys = try leaf.backlinks(column, row: row).keys().map(\.rawValue).sorted()
                        lines.append("\(table.name) \(leaf.key(at: row).rawValue) backlinks: \(keys)")
                    }
                }
            }
        }
        return lines
    }

    private static func text(_ column: Column, _ leaf: ClusterLeaf, _ row: Int, _ snapshot: Snapshot) throws -> String {
        guard let collection = column.collection else { return text(try leaf.attach(column).value(row)) }
        let root = try leaf.collectionRoot(column, row: row)
        var found: [String] = []
        switch collection {
        case .dictionary:
            var entries = try DictionaryView(root: root, space: snapshot.space, fileFormat: snapshot.fileFormat).entries()
            while let entry = try entries.next() { found.append("\(entry.key.bytes.string)=\(text(entry.value))") }
            found.sort()
        case .list, .set:
            var elements = try ListView(root: root, space: snapshot.space, shape: column.elementShape).elements()
            while let value = try elements.next() { found.append(text(value)) }
            if collection == .set { found.sort() }
        }
        return found.joined(separator: ", ")
    }

    private static func text(_ value: Value) -> String {
        switch value {
        case .string(let bytes): return "text \(bytes.array)"
        case .binary(let bytes): return "data \(bytes.array)"
        default: return "\(value)"
        }
    }

    @Test(arguments: 20...23)
    func `a file of an older format is read as it is, and refused for writing`(_ format: Int) throws {
        let realm = try TemporaryRealm()
        let aged = try AgedRealm(format: format)
        try realm.write(aged.bytes)
        let snapshot = try Snapshot(file: try RealmFile(path: realm.path))
        #expect(snapshot.fileFormat == format)
        #expect(try FormatUpgradeTests.lines(snapshot).count > 900)
        #expect(throws: StorageError.refused(.formatNotWritable(found: format))) { _ = try FileStore.open(path: realm.path) }
        #expect(try realm.bytes == aged.bytes)
    }

    @Test(arguments: 20...23)
    func `an upgraded file has the same contents in the present form`(_ format: Int) throws {
        let realm = try TemporaryRealm()
        let aged = try AgedRealm(format: format)
        try realm.write(aged.bytes)
        let before = try FormatUpgradeTests.lines(try Snapshot(file: try RealmFile(path: realm.path)))
        let store = try FileStore.open(path: realm.path, FormatUpgradeTests.converting)
        let transaction = try store.beginTransaction()
        let item = try #require(try transaction.table(named: "class_Item"))
        let wanted = ByteStorage("item 42")
        #expect(try transaction.findByPrimaryKey(.string(wanted.view), in: item.key) != nil)
        withExtendedLifetime(wanted) {}
        transaction.end()
        try store.close()
        let snapshot = try Snapshot(file: try RealmFile(path: realm.path))
        #expect(snapshot.fileFormat == 24)
        #expect(snapshot.schemaVersion == 3)
        #expect(try FormatUpgradeTests.lines(snapshot) == before)
        let report = snapshot.verify()
        #expect(report.errors.isEmpty, "\(report.errors)")
        #expect(report.warnings.isEmpty, "\(report.warnings)")
        if let events = snapshot.classTable(named: "Event") { #expect(events.count == 0) }
    }

    @Test(arguments: 20...23)
    func `an upgrade makes the indexes that a file declares and does not have`(_ format: Int) throws {
        let realm = try TemporaryRealm()
        let aged = try AgedRealm(format: format) { transaction in
            let item = try #require(try transaction.table(named: "class_Item"))
            let name = try #require(item.column(named: "name"))
            try transaction.writes.discardTree(item.indexRoot(name))
            try transaction.update(item.key) { $0.setIndexRoot(.none, leafIndex: name.leafIndex) }
        }
        try realm.write(aged.bytes)
        let old = try Snapshot(file: try RealmFile(path: realm.path)).verify()
        // The sets of format 23 are in another order here, and these warnings take all the room.
        #expect(format == 23 || old.warnings.contains("class_Item.name: the declared index is missing"), "\(old)")
        #expect(!old.errors.contains { $0.contains("index") }, "\(old)")
        try FileStore.open(path: realm.path, FormatUpgradeTests.converting).close()
        let snapshot = try Snapshot(file: try RealmFile(path: realm.path))
        #expect(snapshot.classTable(named: "Item")?.column(named: "name")?.hasSearchIndex == true)
        let report = snapshot.verify()
        #expect(report.errors.isEmpty && report.warnings.isEmpty, "\(report.errors) \(report.warnings)")
    }

    /// realm-core 10 to 13 left it so when they upgraded a file of format 9.
    @Test(arguments: 20...23)
    func `a primary key may be declared as indexed and have no index before format 22`(_ format: Int) throws {
        let realm = try TemporaryRealm()
        let aged = try AgedRealm(format: format) { transaction in
            let item = try #require(try transaction.table(named: "class_Item"))
            let position = try #require(item.columns.firstIndex { $0.name == "id" })
            try transaction.writes.discardTree(item.indexRoot(item.columns[position]))
            try transaction.update(item.key) { state in
                state.setIndexRoot(.none, leafIndex: item.columns[position].leafIndex)
                state.spec.attributes[position] |= Int64(ColumnAttributes.indexed.rawValue)
                state.schemaDidChange(transaction.writes.space)
            }
        }
        try realm.write(aged.bytes)
        let old = try Snapshot(file: try RealmFile(path: realm.path)).verify()
        let errors = format < 22 ? [] : ["class_Item.id: a primary key without search index"]
        #expect(old.errors.filter { $0.contains("index") } == errors, "\(old)")
        #expect(!old.warnings.contains { $0.contains("class_Item.id") }, "\(old)")
        try FileStore.open(path: realm.path, FormatUpgradeTests.converting).close()
        let report = try Snapshot(file: try RealmFile(path: realm.path)).verify()
        #expect(report.errors.isEmpty && report.warnings.isEmpty, "\(report.errors) \(report.warnings)")
    }

    @Test func `an upgrade fills up a list of indexes that ends before the last column`() throws {
        let realm = try TemporaryRealm()
        try realm.write(try AgedRealm(format: 23).bytes)
        let before = try Snapshot(file: try RealmFile(path: realm.path))
        var editor = FileEditor(try realm.bytes)
        let old = editor.child(editor.table("List", in: before), 4)
        try #require(editor.width(old) == 0 && editor.count(old) == 1, "an index for the only column, which has none")
        editor.setCount(old, 0)
        try realm.write(editor.bytes)
        try FileStore.open(path: realm.path, FormatUpgradeTests.converting).close()
        let after = try Snapshot(file: try RealmFile(path: realm.path))
        let upgraded = FileEditor(try realm.bytes)
        #expect(upgraded.count(upgraded.child(upgraded.table("List", in: after), 4)) == 1)
        #expect(after.verify().isClean)
    }

    /// A realm whose list of links or texts is declared as indexed.
    private static func withIndexedList(
        _ name: String = "items", index: (WriteTransaction) throws -> Ref
    ) throws -> AgedRealm {
        try AgedRealm(format: 23) { transaction in
            let key = try #require(try transaction.table(named: "class_List")).key
            try transaction.addColumn(ColumnDefinition("texts", .string, collection: .list), to: key)
            let list = try transaction.table(key)
            let position = try #require(list.columns.firstIndex { $0.name == name })
            let root = try index(transaction)
            try transaction.update(list.key) { state in
                state.spec.attributes[position] |= Int64(ColumnAttributes.indexed.rawValue)
                state.setIndexRoot(root, leafIndex: list.columns[position].leafIndex)
                state.schemaDidChange(transaction.writes.space)
            }
        }
    }

    /// realm-core 6 to 11 left it so when they upgraded lists of format 8 or 9.
    @Test(arguments: ["items", "texts"])
    func `a declaration of an index that a list cannot have, or has not, is removed`(_ name: String) throws {
        let realm = try TemporaryRealm()
        try realm.write(try FormatUpgradeTests.withIndexedList(name) { _ in .none }.bytes)
        let before = try FormatUpgradeTests.lines(try Snapshot(file: try RealmFile(path: realm.path)))
        try FileStore.open(path: realm.path, FormatUpgradeTests.converting).close()
        let snapshot = try Snapshot(file: try RealmFile(path: realm.path))
        #expect(try FormatUpgradeTests.lines(snapshot) == before)
        let report = snapshot.verify()
        #expect(report.isClean && report.warnings.isEmpty, "\(report)")
    }

    @Test func `a file with an index which a property of its type cannot have is refused with its place`() throws {
        let realm = try TemporaryRealm()
        let aged = try FormatUpgradeTests.withIndexedList { try $0.writes.makeNode(.refs).ref }
        try realm.write(aged.bytes)
        let error = #expect(throws: StorageError.self) {
            _ = try FileStore.open(path: realm.path, FormatUpgradeTests.converting)
        }
        #expect(error?.description.contains("class_List.items") == true, "\(error.map { "\($0)" } ?? "")")
        #expect(try realm.bytes == aged.bytes)
    }

    @Test func `a file that an SDK upgraded keeps an old type in its specs, and is read and written like any other`() throws {
        let realm = try TemporaryRealm()
        try realm.write(try AgedRealm(format: 23).bytes)
        try FileStore.open(path: realm.path, FormatUpgradeTests.converting).close()
        let plain = try Snapshot(file: try RealmFile(path: realm.path))
        var editor = FileEditor(try realm.bytes)
        AgedRealm.renameLists(&editor, plain, keysToo: false)
        #expect(try editor.bytes != realm.bytes)
        let lines = try FormatUpgradeTests.lines(plain)
        try realm.write(editor.bytes)
        let snapshot = try Snapshot(file: try RealmFile(path: realm.path))
        #expect(try FormatUpgradeTests.lines(snapshot) == lines)
        #expect(snapshot.verify().isClean)
        let store = try FileStore.open(path: realm.path)
        let transaction = try store.beginTransaction()
        let list = try #require(try transaction.table(named: "class_List"))
        let column = try #require(list.column(named: "items"))
        let target = try #require(column.targetTable)
        let owner = try transaction.createObject(in: list.key)
        let object = try #require(try transaction.object(at: 3, in: target))
        try transaction.insert(.link(target, object), at: 0, in: CollectionPlace(list.key, owner, column))
        try transaction.deleteObject(object, in: target)
        try transaction.addColumn(ColumnDefinition("more", .int), to: list.key)
        #expect(try transaction.commit().verify().isClean)
        try store.close()
    }

    @Test func `the file of a synchronized realm is written to only as a copy that is no longer one`() throws {
        let realm = try TemporaryRealm()
        let key = try CommitTests.key(false)
        let store = try FileStore.open(
            path: realm.path, key: key,
            {
                var options = FileStore.Options()
                options.createsMissingFile = true
                return options
            }())
        let transaction = try store.beginTransaction()
        try transaction.setSchemaVersion(1)
        _ = try transaction.commit()
        try store.close()
        var editor = FileEditor(try realm.bytes)
        editor.setElement(editor.top, 7, UInt64(bitPattern: MutableNode.tagged(3)))
        try realm.write(editor.bytes)
        #expect(throws: StorageError.refused(.synchronized)) { _ = try FileStore.open(path: realm.path) }
        #expect(throws: StorageError.refused(.synchronized)) {
            _ = try FileStore.open(path: realm.path, FormatUpgradeTests.converting)
        }
        #expect(try realm.bytes == editor.bytes)
        var options = FileStore.Options()
        options.converts = [.olderFormats, .foreignHistories]
        let copy = try FileStore.open(path: realm.path, options)
        let change = try copy.beginTransaction()
        try change.setSchemaVersion(2)
        #expect(try change.commit().top.historyType == TopNode.HistoryType.inFile.rawValue)
        try copy.close()
    }

    @Test func `whoever keeps a copy is asked before anything is changed, and can stop the upgrade`() throws {
        let realm = try TemporaryRealm()
        let aged = try AgedRealm(format: 23)
        try realm.write(aged.bytes)
        var options = FormatUpgradeTests.converting
        options.willConvert = { path, format throws(StorageError) in throw .limit("\(format)") }
        #expect(throws: StorageError.limit("23")) { _ = try FileStore.open(path: realm.path, options) }
        #expect(try realm.bytes == aged.bytes)
    }

    @Test(arguments: [21, 23]) func `a crash during an upgrade leaves the old file or the new one`(_ format: Int) throws {
        var random = SeededGenerator(seed: UInt64(format))
        let aged = try AgedRealm(format: format).bytes
        let backend = try CrashBackend(aged)
        _ = try FileStore(backend, options: FormatUpgradeTests.converting)
        var formats: Set<Int> = []
        for call in 0...backend.log.count {
            let image = backend.image(after: call, unit: 512, using: &random)
            formats.insert(Int(image[20 + Int(image[23] & 1)]))
            let reopened = try FileStore(try MemoryBackend(image), options: FormatUpgradeTests.converting)
            #expect(reopened.current.fileFormat == 24 && reopened.current.verify().isClean)
        }
        #expect(formats == [format, 24])
    }
}
