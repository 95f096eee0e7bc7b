// SPDX-License-Identifier: Apache-2.0

import RealmPlatform
import RealmTestSupport

@testable import RealmStorage

/// A realm as programs of an older format would have left it: made in the present format, then taken back to what
/// formats 20 to 23 keep otherwise.
struct AgedRealm {
    let bytes: [UInt8]
    let format: Int

    /// - Parameter change: Changes more in the transaction that takes the realm back.
    init(format: Int, change: (WriteTransaction) throws -> Void = { _ in }) throws {
        self.format = format
        let backend = try MemoryBackend()
        let store = try FileStore(backend)
        let transaction = try store.beginTransaction()
        try AgedRealm.fill(transaction, format)
        _ = try transaction.commit()
        let aging = try store.beginTransaction()
        try AgedRealm.age(aging, format)
        try change(aging)
        let snapshot = try aging.commit()
        try store.close()
        var editor = FileEditor(backend.bytes)
        AgedRealm.renameLists(&editor, snapshot, keysToo: true)
        for slot in 20...21 where editor.bytes[slot] != 0 { editor.bytes[slot] = UInt8(format) }
        bytes = editor.bytes
    }

    static let texts = ["", "a", "B", "z", "Ärger", "日本", "\u{1F600}", "zebra", "ab"]

    private static func fill(_ transaction: WriteTransaction, _ format: Int) throws {
        try transaction.setSchemaVersion(3)
        let item = try transaction.createTable("class_Item")
        let list = try transaction.createTable("class_List")
        let key = try transaction.addColumn(ColumnDefinition("id", .string, isNullable: true), to: item)
        try transaction.setPrimaryKey(key, of: item)
        try transaction.addColumn(ColumnDefinition("name", .string, index: .general), to: item)
        try transaction.addColumn(ColumnDefinition("items", .link, isNullable: false, collection: .list, target: item), to: list)
        if format > 20 {
            for type in [ColumnType.string, .binary, .mixed] {
                let isMixed = type == .mixed
                try transaction.addColumn(ColumnDefinition("\(type)Set", type, isNullable: isMixed, collection: .set), to: item)
            }
            try transaction.addColumn(ColumnDefinition("map", .mixed, isNullable: true, collection: .dictionary), to: item)
            try transaction.addColumn(
                ColumnDefinition("links", .link, isNullable: true, collection: .dictionary, target: item), to: item)
        }
        if format == 22 {
            let events = try transaction.createTable("class_Event", kind: .asymmetric)
            try transaction.addColumn(ColumnDefinition("text", .string), to: events)
            for _ in 0..<3 { _ = try transaction.createObject(in: events) }
        }
        try fillObjects(transaction, item, list, format)
    }

    private static func fillObjects(
        _ transaction: WriteTransaction, _ item: TableKey, _ list: TableKey, _ format: Int
    ) throws {
        var objects: [ObjectKey] = []
        for number in 0..<300 {
            let id = ByteStorage("item \(number)")
            let object = try transaction.createObject(in: item, primaryKey: number == 7 ? .null : .string(id.view))
            withExtendedLifetime(id) {}
            objects.append(object)
            let name = ByteStorage(texts[number % texts.count])
            if let column = try transaction.table(item).column(named: "name") {
                try transaction.set(.string(name.view), column, of: object, in: item)
            }
            withExtendedLifetime(name) {}
            if format > 20, number < 20 { try fillCollections(of: object, number, objects, transaction, item) }
        }
        for count in [0, 1, 300] {
            let owner = try transaction.createObject(in: list)
            guard let column = try transaction.table(list).column(named: "items") else { continue }
            let place = CollectionPlace(list, owner, column)
            for index in 0..<count { try transaction.insert(.link(item, objects[index]), at: index, in: place) }
            // So that one object has more links than a leaf of the present format takes.
            guard count == 300 else { continue }
            for index in 0..<1500 { try transaction.insert(.link(item, objects[0]), at: 300 + index, in: place) }
        }
    }

    private static func fillCollections(
        of object: ObjectKey, _ number: Int, _ objects: [ObjectKey], _ transaction: WriteTransaction, _ item: TableKey
    ) throws {
        let table = try transaction.table(item)
        func place(_ name: String) -> CollectionPlace? { table.column(named: name).map { CollectionPlace(item, object, $0) } }
        guard let strings = place("stringSet"), let binaries = place("binarySet"), let mixed = place("mixedSet"),
            let map = place("map"), let links = place("links")
        else { return }
        for text in texts.prefix(number) {
            let held = ByteStorage(text)
            try transaction.insertMember(.string(held.view), in: strings)
            try transaction.insertMember(.binary(held.view), in: binaries)
            for value in [Value.string(held.view), .binary(held.view), .int(Int64(text.utf8.count)), .null] {
                try transaction.insertMember(value, in: mixed)
            }
            if !text.isEmpty {
                try transaction.setEntry(text, .string(held.view), in: map)
                try transaction.setEntry(text + "!", .double(0.5), in: map)
                try transaction.setEntry(text, .link(item, objects[number / 2]), in: links)
            }
            withExtendedLifetime(held) {}
        }
    }

    // MARK: - Back in time

    private static func age(_ transaction: WriteTransaction, _ format: Int) throws {
        for key in try transaction.tableKeys() {
            let table = try transaction.table(key)
            if format < 22, let column = table.primaryKey {
                try transaction.writes.discardTree(table.indexRoot(column))
                try transaction.update(key) { $0.setIndexRoot(.none, leafIndex: column.leafIndex) }
            }
            for column in table.columns + table.backlinks {
                for object in try transaction.objectKeys(in: key) { try age(column, object, key, transaction, format) }
            }
        }
    }

    private static func age(
        _ column: Column, _ object: ObjectKey, _ key: TableKey, _ transaction: WriteTransaction, _ format: Int
    ) throws {
        let writes = transaction.writes
        if column.type == .backlink { return try joinBacklinks(column, object, key, transaction) }
        guard column.collection == .set || column.collection == .dictionary else { return }
        let root = try transaction.collectionRoot(column, of: object, in: key)
        guard !root.isNone else { return }
        if column.collection == .set {
            let writer = BPlusTreeWriter(writes, column.elementShape)
            var values: [Value] = []
            var leaves = try writer.tree(root).leaves()
            while let (leaf, _) = try leaves.next() {
                for row in 0..<leaf.count { values.append(try leaf.storedValue(row)) }
            }
            let new = try writer.append(contentsOf: AgedRealm.formerOrder(values, format), to: .none)
            try writes.discardTree(root)
            return try transaction.setCollectionRoot(new, column, of: object, in: key)
        }
        let entries = try DictionaryWriter(writes).entries(root).reversed()
        var keys = try LeafWriter(writes, .values(ElementShape(type: .string, isNullable: false)), inCluster: true).makeEmpty()
        var values = try LeafWriter(writes, .values(.mixed), inCluster: true).makeEmpty()
        let isHistoric = format < 23
        for entry in entries {
            keys = try LeafWriter(writes, .values(ElementShape(type: .string, isNullable: false)), inCluster: isHistoric)
                .append(.string(entry.keyBytes), to: keys)
            values = try LeafWriter(writes, .values(.mixed), inCluster: isHistoric).append(entry.value, to: values)
        }
        let tag = Ref(UInt64(bitPattern: MutableNode.tagged(UInt64(entries.count))))
        let new = try writes.makeRefs(isHistoric ? [tag, keys, values] : [keys, values])
        try writes.discardTree(root)
        try transaction.setCollectionRoot(new, column, of: object, in: key)
    }

    /// Text in another order than now. Formats 21 and 22 have texts and data of a set of Mixed in one group.
    private static func formerOrder(_ values: [Value], _ format: Int) -> [Value] {
        func isText(_ value: Value) -> Bool { if case .string = value { true } else { false } }
        func isData(_ value: Value) -> Bool { if case .binary = value { true } else { false } }
        let texts = Array(values.filter(isText).reversed())
        let data = Array(values.filter(isData).reversed())
        guard let start = values.firstIndex(where: { isText($0) || isData($0) }) else { return values }
        var group = texts + data
        if format < 23, texts.count == data.count { group = zip(texts, data).flatMap { [$0, $1] } }
        return Array(values[..<start]) + group + Array(values[(start + group.count)...])
    }

    /// All records of an object in one leaf, however many they are.
    private static func joinBacklinks(
        _ column: Column, _ object: ObjectKey, _ key: TableKey, _ transaction: WriteTransaction
    ) throws {
        let writes = transaction.writes
        let row = try transaction.existingRow(object, in: key)
        guard case .ref(let root) = try row.leaf.attachRefs(column).slot(row.index) else { return }
        let records = try row.leaf.backlinks(column, row: row.index).keys().map { Value.int($0.rawValue) }
        let writer = BPlusTreeWriter(writes, ElementShape(type: .int, isNullable: false), leafCapacity: .max)
        let new = try writer.append(contentsOf: records, to: .none)
        try writes.discardTree(root)
        try transaction.setCollectionRoot(new, column, of: object, in: key)
    }

    /// Lists of links had a type of their own, in specs, keys and the keys of their opposites.
    static func renameLists(_ editor: inout FileEditor, _ snapshot: Snapshot, keysToo: Bool) {
        for table in snapshot.tables {
            let top = editor.child(editor.tables, table.key.position)
            let spec = editor.child(top, 0)
            let types = editor.child(spec, 0)
            let keys = editor.child(spec, 5)
            let opposites = editor.child(top, 8)
            for position in 0..<editor.count(keys) {
                let column = ColumnKey(Int64(bitPattern: editor.element(keys, position)))
                guard column.typeNumber == ColumnType.link.rawValue, column.attributeBits & ColumnAttributes.list.rawValue != 0
                else { continue }
                editor.setElement(types, position, UInt64(ColumnType.historicLinkList))
                if keysToo { editor.setElement(keys, position, older(editor.element(keys, position))) }
            }
            guard keysToo else { continue }
            for position in 0..<editor.count(opposites) {
                let raw = editor.element(opposites, position)
                let column = ColumnKey(Int64(bitPattern: raw))
                guard column != .null, column.typeNumber == ColumnType.link.rawValue,
                    column.attributeBits & ColumnAttributes.list.rawValue != 0
                else { continue }
                editor.setElement(opposites, position, older(raw))
            }
        }
    }

    private static func older(_ key: UInt64) -> UInt64 { key & ~(0x3f << 16) | UInt64(ColumnType.historicLinkList) << 16 }
}
