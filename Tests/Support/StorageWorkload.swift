// SPDX-License-Identifier: Apache-2.0

import RealmPlatform
package import RealmStorage

/// Seeded random writes of every kind against a schema with every type of property.
///
/// There is no model of what should be there: whoever runs it verifies the file, which checks links against their
/// records, indexes against values, and the use of every byte.
package struct StorageWorkload {
    package var random: SeededGenerator
    private let scalars: [ColumnType] = [
        .int, .bool, .string, .binary, .timestamp, .float, .double, .decimal, .objectID, .uuid,
    ]
    private var bytes: [ByteStorage] = []
    /// Whether indexed Mixed properties get links, and decimals that stand where other numbers do. The reference engine
    /// loses index entries when the targets of links go, and stops at an assertion when a list of numbers with equal data
    /// meets another one; files that it is going to change have neither.
    private let mixesIndexes: Bool

    package init(seed: UInt64, mixesIndexes: Bool = true) {
        random = SeededGenerator(seed: seed)
        self.mixesIndexes = mixesIndexes
    }

    // MARK: - Schema

    /// Class names: int keys, string keys, no key, embedded.
    private static let tops = ["class_Alpha", "class_Beta", "class_Gamma"]
    private static let child = "class_Child"

    /// Makes the classes as an SDK would.
    package func makeSchema(_ transaction: WriteTransaction) throws {
        try transaction.setSchemaVersion(1)
        var keys: [String: TableKey] = [:]
        for name in StorageWorkload.tops { keys[name] = try transaction.createTable(name) }
        keys[StorageWorkload.child] = try transaction.createTable(StorageWorkload.child, kind: .embedded)
        for (name, key) in keys.sorted(by: { $0.key < $1.key }) {
            if name == "class_Alpha" { try addKey(ColumnDefinition("_id", .int), key, transaction) }
            if name == "class_Beta" { try addKey(ColumnDefinition("_id", .string, isNullable: true), key, transaction) }
            try addScalars(key, indexed: name != StorageWorkload.child, transaction)
            try addLinks(key, keys, isEmbedded: name == StorageWorkload.child, transaction)
        }
    }

    private func addKey(_ definition: ColumnDefinition, _ key: TableKey, _ transaction: WriteTransaction) throws {
        let column = try transaction.addColumn(definition, to: key)
        try transaction.setPrimaryKey(column, of: key)
    }

    private func addScalars(_ key: TableKey, indexed: Bool, _ transaction: WriteTransaction) throws {
        let indexable: Set<ColumnType> = [.int, .bool, .string, .timestamp, .objectID, .uuid]
        for type in scalars {
            for isNullable in [false, true] {
                let suffix = isNullable ? "Optional" : ""
                let index: IndexKind? = indexed && indexable.contains(type) ? .general : nil
                try transaction.addColumn(
                    ColumnDefinition("\(type)\(suffix)", type, isNullable: isNullable, index: index), to: key)
                for (kind, name) in [(CollectionKind.list, "List"), (.set, "Set"), (.dictionary, "Map")] {
                    let definition = ColumnDefinition("\(type)\(suffix)\(name)", type, isNullable: isNullable, collection: kind)
                    try transaction.addColumn(definition, to: key)
                }
            }
        }
        if indexed { try transaction.addColumn(ColumnDefinition("text", .string, index: .fullText), to: key) }
    }

    private func addLinks(
        _ key: TableKey, _ keys: [String: TableKey], isEmbedded: Bool, _ transaction: WriteTransaction
    ) throws {
        try transaction.addColumn(ColumnDefinition("any", .mixed, index: isEmbedded ? nil : .general), to: key)
        for (kind, name) in [(CollectionKind.list, "anyList"), (.set, "anySet"), (.dictionary, "anyMap")] {
            try transaction.addColumn(ColumnDefinition(name, .mixed, collection: kind), to: key)
        }
        try transaction.addColumn(ColumnDefinition("nested", .mixed), to: key)
        for target in isEmbedded ? ["class_Alpha"] : StorageWorkload.tops + [StorageWorkload.child] {
            for kind in [nil, CollectionKind.list, .set, .dictionary] where !(target == StorageWorkload.child && kind == .set) {
                let name = "to\(target.dropFirst(6))\(kind.map { "\($0)" } ?? "")"
                try transaction.addColumn(ColumnDefinition(name, .link, collection: kind, target: keys[target]), to: key)
            }
        }
    }

    // MARK: - Steps

    /// One random write.
    package mutating func step(_ transaction: WriteTransaction) throws {
        bytes.removeAll(keepingCapacity: true)
        guard let table = try randomClass(transaction) else { return }
        let count = try transaction.count(in: table.key)
        if chance(count < 300 ? 40 : 120) {
            let columns = try group(of: Int.random(in: 1...(chance(3) ? 600 : 20), using: &random), in: table, transaction)
            _ = try transaction.createObjects(columns[0].count, in: table.key, columns: columns)
            return
        }
        if count == 0 || chance(count < 300 ? 6 : 30) { return try create(in: table, transaction) }
        guard let object = try randomObject(in: table.key, transaction) else { return }
        if chance(25) { return try transaction.deleteObject(object, in: table.key) }
        try change(object, in: table, transaction, depth: 0)
    }

    /// A class whose objects stand by themselves.
    private mutating func randomClass(_ transaction: WriteTransaction) throws -> TableState? {
        var classes: [TableState] = []
        for key in try transaction.tableKeys() {
            let table = try transaction.table(key)
            if table.kind == .topLevel, table.name.hasPrefix(Table.classPrefix), !table.columns.isEmpty { classes.append(table) }
        }
        return classes.isEmpty ? nil : pick(classes)
    }

    private mutating func create(in table: TableState, _ transaction: WriteTransaction) throws {
        guard let key = table.primaryKey else {
            _ = try transaction.createObject(in: table.key)
            return
        }
        if key.isNullable, chance(50) { return try createUnique(.null, table, transaction) }
        switch key.type {
        case .int: try createUnique(.int(Int64.random(in: -500...5000, using: &random)), table, transaction)
        case .string: try createUnique(text(longest: 40), table, transaction)
        default: try createUnique(scalar(key.type), table, transaction)
        }
    }

    /// Random values of new objects for each column, with primary keys that no object has; nil for the default.
    package mutating func group(
        of count: Int, in table: TableState, _ transaction: WriteTransaction
    ) throws -> [[Value?]] {
        var columns: [[Value?]] = []
        for column in table.columns {
            var values: [Value?] = []
            if column.leafIndex == table.primaryKey?.leafIndex {
                let start = Int64.random(in: 5000...(1 << 40), using: &random)
                for row in 0..<Int64(count) { values.append(newKey(column.type, start, row)) }
            } else if column.collection != nil || column.type == .link || column.type == .mixed {
                values = [Value?](repeating: nil, count: count)
            } else {
                // Groups with only short texts, and with few different values, are usual.
                let isSparse = chance(2)
                let usual = try value(for: column, transaction)
                for _ in 0..<count {
                    values.append(isSparse && !chance(8) ? (chance(2) ? nil : usual) : try value(for: column, transaction))
                }
            }
            columns.append(values)
        }
        return columns
    }

    /// A primary key that is made of two numbers.
    private mutating func newKey(_ type: ColumnType, _ start: Int64, _ row: Int64) -> Value {
        switch type {
        case .int: return .int(start + row)
        case .objectID: return .objectID(ObjectID(first: UInt64(start), last: UInt32(row)))
        case .uuid: return .uuid(UUIDValue(first: UInt64(start), last: UInt64(row)))
        default:
            let storage = ByteStorage("key \(start) \(row)")
            bytes.append(storage)
            return .string(storage.view)
        }
    }

    private func createUnique(_ key: Value, _ table: TableState, _ transaction: WriteTransaction) throws {
        guard try transaction.findByPrimaryKey(key, in: table.key) == nil else { return }
        _ = try transaction.createObject(in: table.key, primaryKey: key)
    }

    private mutating func change(
        _ object: ObjectKey, in table: TableState, _ transaction: WriteTransaction, depth: Int
    ) throws {
        let columns = table.columns.filter { $0.leafIndex != table.primaryKey?.leafIndex }
        guard !columns.isEmpty else { return }
        let column = pick(columns)
        if depth < 3, let child = try changeChild(of: object, column, in: table, transaction, depth: depth) { return child }
        switch column.collection {
        case nil: try setSingle(column, object, table, transaction)
        case .list: try changeList(column, object, table, transaction)
        case .set: try changeSet(column, object, table, transaction)
        case .dictionary: try changeDictionary(column, object, table, transaction)
        }
    }

    private mutating func changeChild(
        of object: ObjectKey, _ column: Column, in table: TableState, _ transaction: WriteTransaction, depth: Int
    ) throws -> Void? {
        guard column.collection == nil, isEmbedded(column, transaction), chance(2),
            case .link(let target, let child) = try transaction.value(column, of: object, in: table.key)
        else { return nil }
        return try change(child, in: transaction.table(target), transaction, depth: depth + 1)
    }

    private func isEmbedded(_ column: Column, _ transaction: WriteTransaction) -> Bool {
        guard let target = column.targetTable, let table = try? transaction.table(target) else { return false }
        return table.kind == .embedded
    }

    private mutating func setSingle(
        _ column: Column, _ object: ObjectKey, _ table: TableState, _ transaction: WriteTransaction
    ) throws {
        if isEmbedded(column, transaction) {
            if chance(3) { return try transaction.set(.null, column, of: object, in: table.key) }
            _ = try transaction.setEmbedded(column, of: object, in: table.key)
        } else if column.name == "nested" {
            try changeNested(column, object, table, transaction)
        } else {
            try transaction.set(value(for: column, transaction), column, of: object, in: table.key)
        }
    }

    private mutating func changeList(
        _ column: Column, _ object: ObjectKey, _ table: TableState, _ transaction: WriteTransaction
    ) throws {
        let place = CollectionPlace(table.key, object, column)
        let count = try transaction.elementCount(place)
        let index = Int.random(in: 0...count, using: &random)
        switch Int.random(in: 0..<10, using: &random) {
        case 0 where count > 0: try transaction.eraseElement(at: min(index, count - 1), in: place)
        case 1 where count > 0: try setElement(at: min(index, count - 1), place, transaction)
        case 2 where count > 1: try transaction.moveElement(from: min(index, count - 1), to: count / 2, in: place)
        case 3 where count > 1: try transaction.swapElements(0, min(index, count - 1), in: place)
        case 4 where chance(4): try transaction.clear(place)
        default:
            for _ in 0..<Int.random(in: 1...4, using: &random) {
                if isEmbedded(column, transaction) {
                    _ = try transaction.insertEmbedded(at: index, in: place)
                } else {
                    let value = try value(for: column, transaction)
                    if column.type == .link, value.isNull { return }
                    try transaction.insert(value, at: index, in: place)
                }
            }
        }
    }

    private mutating func setElement(at index: Int, _ place: CollectionPlace, _ transaction: WriteTransaction) throws {
        if isEmbedded(place.column, transaction) {
            _ = try transaction.replaceEmbedded(at: index, in: place)
        } else {
            let value = try value(for: place.column, transaction)
            if place.column.type == .link, value.isNull { return }
            try transaction.setElement(value, at: index, in: place)
        }
    }

    private mutating func changeSet(
        _ column: Column, _ object: ObjectKey, _ table: TableState, _ transaction: WriteTransaction
    ) throws {
        let place = CollectionPlace(table.key, object, column)
        if chance(20) { return try transaction.clear(place) }
        let value = try value(for: column, transaction)
        if column.type == .link, value.isNull { return }
        if chance(4) { try transaction.removeMember(value, in: place) } else { try transaction.insertMember(value, in: place) }
    }

    private mutating func changeDictionary(
        _ column: Column, _ object: ObjectKey, _ table: TableState, _ transaction: WriteTransaction
    ) throws {
        let place = CollectionPlace(table.key, object, column)
        if chance(20) { return try transaction.clear(place) }
        let key = "k\(Int.random(in: 0..<30, using: &random))"
        if chance(4) {
            try transaction.removeEntry(key, in: place)
        } else if isEmbedded(column, transaction) {
            _ = try transaction.setEmbeddedEntry(key, in: place)
        } else {
            try transaction.setEntry(key, value(for: column, transaction), in: place)
        }
    }

    /// A Mixed property with lists and dictionaries in each other.
    private mutating func changeNested(
        _ column: Column, _ object: ObjectKey, _ table: TableState, _ transaction: WriteTransaction
    ) throws {
        var path: [PathStep] = []
        while true {
            let place = CollectionPlace(table.key, object, column, path: path)
            guard let (root, form) = try? transaction.collection(at: place) else {
                return try transaction.set(chance(2) ? .list(.none) : .dictionary(.none), column, of: object, in: table.key)
            }
            if path.count < 3, chance(2), let step = try randomCollection(in: root, form, transaction) {
                path.append(step)
                continue
            }
            return try changeNested(place, form, transaction)
        }
    }

    /// A step to an element that is a collection itself.
    private mutating func randomCollection(
        in root: Ref, _ form: CollectionForm, _ transaction: WriteTransaction
    ) throws -> PathStep? {
        var steps: [PathStep] = []
        switch form {
        case .list:
            var elements = try ListView(nested: root, space: transaction.writes.space).elements()
            var index = 0
            while let element = try elements.next() {
                if StorageWorkload.isCollection(element) { steps.append(.index(index)) }
                index += 1
            }
        case .dictionary:
            for entry in try DictionaryWriter(transaction.writes).entries(root) where StorageWorkload.isCollection(entry.value) {
                steps.append(.key(entry.key))
            }
        case .set: return nil
        }
        return steps.isEmpty ? nil : pick(steps)
    }

    private static func isCollection(_ value: Value) -> Bool {
        switch value {
        case .list, .dictionary: return true
        default: return false
        }
    }

    private mutating func changeNested(
        _ place: CollectionPlace, _ form: CollectionForm, _ transaction: WriteTransaction
    ) throws {
        let value: Value = chance(3) ? (chance(2) ? .list(.none) : .dictionary(.none)) : try mixed(transaction)
        let count = try transaction.elementCount(place)
        if case .dictionary = form {
            let key = "n\(Int.random(in: 0..<6, using: &random))"
            if chance(5) { try transaction.removeEntry(key, in: place) } else { try transaction.setEntry(key, value, in: place) }
            return
        }
        let index = Int.random(in: 0...count, using: &random)
        switch Int.random(in: 0..<6, using: &random) {
        case 0 where count > 0: try transaction.eraseElement(at: min(index, count - 1), in: place)
        case 1 where count > 0: try transaction.setElement(value, at: min(index, count - 1), in: place)
        case 2 where count > 1: try transaction.moveElement(from: 0, to: count - 1, in: place)
        case 3 where chance(6): try transaction.clear(place)
        default: try transaction.insert(value, at: index, in: place)
        }
    }

    // MARK: - Values

    private mutating func value(for column: Column, _ transaction: WriteTransaction) throws -> Value {
        if column.type == .link {
            guard let target = column.targetTable, !chance(5), let object = try randomObject(in: target, transaction) else {
                return .null
            }
            return .link(target, object)
        }
        if column.type == .mixed {
            guard !mixesIndexes, column.declaredIndex != nil else { return try mixed(transaction) }
            return scalar(pick([.int, .bool, .string, .timestamp, .objectID, .uuid]))
        }
        if column.isNullable, chance(4) { return .null }
        // Indexed elements may have at most 200 bytes.
        if column.declaredIndex != nil, column.collection != nil, column.type == .string { return text(longest: 60) }
        return scalar(column.type)
    }

    private mutating func mixed(_ transaction: WriteTransaction) throws -> Value {
        if chance(5) { return .null }
        guard chance(4) else { return scalar(pick(scalars)) }
        guard let table = try randomClass(transaction),
            let object = try randomObject(in: table.key, transaction)
        else { return .null }
        return .link(table.key, object)
    }

    private mutating func scalar(_ type: ColumnType) -> Value {
        switch type {
        case .int: return .int(integer())
        case .bool: return .bool(Bool.random(using: &random))
        case .binary:
            guard case .string(let view) = text(longest: chance(20) ? 5000 : 90) else { return .null }
            return .binary(view)
        case .timestamp: return .timestamp(Timestamp(seconds: integer() / 4, nanoseconds: 0))
        case .float: return .float(Float(integer() % 1000) / 4)
        case .double: return .double(Double(integer() % 100_000) / 8)
        case .decimal: return .decimal(Decimal128(integer() % 1_000_000))
        case .objectID: return .objectID(ObjectID(first: UInt64.random(in: 0...50, using: &random), last: 7))
        case .uuid: return .uuid(UUIDValue(first: UInt64.random(in: 0...50, using: &random), last: 9))
        default: return text(longest: pick([3, 14, 16, 62, 66, 300]))
        }
    }

    private mutating func integer() -> Int64 {
        let bits = pick([1, 2, 4, 7, 8, 15, 16, 31, 32, 63])
        let value = Int64(bitPattern: random.next() & (1 << UInt64(bits) - 1))
        return chance(3) ? -value : value
    }

    private mutating func text(longest: Int) -> Value {
        let words = ["a", "realm", "Ångström", "file", "cluster", "0123", "leaf ", "é", "tree"]
        var text = ""
        let length = Int.random(in: 0...longest, using: &random)
        while text.utf8.count < length { text += pick(words) }
        let storage = ByteStorage(text)
        bytes.append(storage)
        return .string(storage.view)
    }

    private mutating func randomObject(in key: TableKey, _ transaction: WriteTransaction) throws -> ObjectKey? {
        let count = try transaction.count(in: key)
        guard count > 0 else { return nil }
        return try transaction.object(at: Int.random(in: 0..<count, using: &random), in: key)
    }

    private mutating func pick<Element>(_ elements: [Element]) -> Element {
        elements[Int.random(in: 0..<elements.count, using: &random)]
    }

    /// True once in `times`.
    private mutating func chance(_ times: Int) -> Bool { Int.random(in: 0..<times, using: &random) == 0 }
}
