// SPDX-License-Identifier: Apache-2.0

import RealmPlatform
import RealmStorage
import RealmTestSupport

/// A seeded history of a small realm: creations, changes and deletions in commits of different sizes, so that space is used
/// again in the
/// ways that mislead readers of unused space.
struct HistoryWorkload {
    /// What a history is like; the seed decides it.
    struct Shape {
        /// The objects that there are about.
        let objects: Int
        /// The number of commits.
        let commits: Int
        /// The most operations of a commit.
        let operations: Int
        /// Whether only single values change, so that space is used again in the same shape.
        let onlyChangesValues: Bool
        /// Whether many objects are deleted at once now and then.
        let deletesMany: Bool
        /// The binary logarithm of the number of rows of a leaf.
        let clusterShift: Int
    }

    private var random: SeededGenerator
    let shape: Shape
    private var tables: [String: TableKey] = [:]
    private var nextKey: Int64 = 0
    private var kept: [ByteStorage] = []

    init(seed: UInt64) {
        random = SeededGenerator(seed: seed)
        shape = Shape(
            objects: [3, 12, 40, 120, 300][Int.random(in: 0..<5, using: &random)],
            commits: Int.random(in: 3...24, using: &random), operations: [1, 1, 2, 5, 12][Int.random(in: 0..<5, using: &random)],
            onlyChangesValues: Int.random(in: 0..<4, using: &random) == 0,
            deletesMany: Int.random(in: 0..<4, using: &random) == 0,
            clusterShift: [8, 8, 8, 4, 2][Int.random(in: 0..<5, using: &random)])
    }

    /// Makes the classes.
    mutating func makeSchema(_ transaction: WriteTransaction) throws {
        try transaction.setSchemaVersion(1)
        let address = try transaction.createTable("class_Address", kind: .embedded)
        let geo = try transaction.createTable("class_Geo", kind: .embedded)
        let note = try transaction.createTable("class_Note")
        let log = try transaction.createTable("class_Log")
        tables = ["Address": address, "Geo": geo, "Note": note, "Log": log]
        for column in [ColumnDefinition("lat", .double), ColumnDefinition("name", .string, isNullable: true)] {
            try transaction.addColumn(column, to: geo)
        }
        for column in [
            ColumnDefinition("street", .string), ColumnDefinition("zip", .int, isNullable: true),
            ColumnDefinition("geo", .link, target: geo),
        ] { try transaction.addColumn(column, to: address) }
        let isText = Bool.random(using: &random)
        let id = try transaction.addColumn(ColumnDefinition("id", isText ? .string : .int), to: note)
        try transaction.setPrimaryKey(id, of: note)
        var columns = [
            ColumnDefinition("title", .string), ColumnDefinition("body", .string, isNullable: true),
            ColumnDefinition("stars", .int),
            ColumnDefinition("edited", .timestamp, isNullable: true), ColumnDefinition("done", .bool),
            ColumnDefinition("score", .double, isNullable: true), ColumnDefinition("mark", .objectID, isNullable: true),
            ColumnDefinition("data", .binary, isNullable: true), ColumnDefinition("price", .decimal, isNullable: true),
            ColumnDefinition("ints", .int, collection: .list), ColumnDefinition("words", .string, collection: .list),
            ColumnDefinition("set", .int, collection: .set), ColumnDefinition("map", .mixed, collection: .dictionary),
            ColumnDefinition("any", .mixed), ColumnDefinition("friend", .link, target: note),
            ColumnDefinition("friends", .link, collection: .list, target: note), ColumnDefinition("home", .link, target: address),
            ColumnDefinition("places", .link, collection: .list, target: address),
        ]
        // Not every class has properties of all kinds.
        columns.removeAll { _ in Int.random(in: 0..<3, using: &random) == 0 }
        for column in columns { try transaction.addColumn(column, to: note) }
        for column in [
            ColumnDefinition("n", .int), ColumnDefinition("text", .string, isNullable: true),
            ColumnDefinition("note", .link, target: note),
        ] { try transaction.addColumn(column, to: log) }
        for _ in 0..<shape.objects { try create(transaction) }
    }

    /// Carries out the operations of one commit.
    mutating func step(_ transaction: WriteTransaction) throws {
        kept.removeAll()
        if shape.deletesMany, chance(6) {
            for _ in 0..<Int.random(in: 2...40, using: &random) { try delete(transaction) }
            return
        }
        for _ in 0..<Int.random(in: 1...shape.operations, using: &random) {
            switch Int.random(in: 0..<10, using: &random) {
            case 0..<2 where !shape.onlyChangesValues: try create(transaction)
            case 2..<4 where !shape.onlyChangesValues: try delete(transaction)
            default: try change(transaction)
            }
        }
    }

    // MARK: - Operations

    private mutating func create(_ transaction: WriteTransaction) throws {
        guard let note = tables["Note"], let log = tables["Log"] else { return }
        let table = try transaction.table(note)
        if chance(5) {
            let object = try transaction.createObject(in: log)
            for column in try transaction.table(log).columns { try set(column, of: object, in: log, transaction) }
            return
        }
        nextKey += Int64.random(in: 1...3, using: &random)
        let key: Value = table.primaryKey?.type == .int ? .int(nextKey) : text("k\(nextKey)")
        let object = try transaction.createObject(in: note, primaryKey: key)
        for column in table.columns where column.leafIndex != table.primaryKey?.leafIndex {
            if chance(2) || column.collection == nil { try set(column, of: object, in: note, transaction) }
        }
    }

    private mutating func delete(_ transaction: WriteTransaction) throws {
        guard let table = tables[chance(6) ? "Log" : "Note"], let object = try any(table, transaction) else { return }
        try transaction.deleteObject(object, in: table)
    }

    private mutating func change(_ transaction: WriteTransaction) throws {
        guard let table = tables[chance(6) ? "Log" : "Note"], let object = try any(table, transaction) else { return }
        let state = try transaction.table(table)
        let columns = state.columns.filter { $0.leafIndex != state.primaryKey?.leafIndex }
        guard let column = columns.randomElement(using: &random) else { return }
        try set(column, of: object, in: table, transaction)
    }

    private mutating func set(_ column: Column, of object: ObjectKey, in table: TableKey, _ transaction: WriteTransaction) throws
    {
        let place = CollectionPlace(table, object, column)
        let target = column.targetTable
        let isEmbedded = try target.map { try transaction.table($0).kind == .embedded } ?? false
        switch column.collection {
        case nil:
            if isEmbedded { return try setEmbedded(column, of: object, in: table, transaction) }
            try transaction.set(try value(column, transaction), column, of: object, in: table)
        case .dictionary:
            let key = ["a", "bb", "ccc"][Int.random(in: 0..<3, using: &random)]
            if chance(4) {
                _ = try transaction.removeEntry(key, in: place)
            } else {
                _ = try transaction.setEntry(key, value(of: [.int, .string, .timestamp, .bool]), in: place)
            }
        case .set: _ = try transaction.insertMember(.int(Int64.random(in: 0..<30, using: &random)), in: place)
        case .list:
            let count = try transaction.elementCount(place)
            if count > 0, chance(3) {
                return try transaction.eraseElement(at: Int.random(in: 0..<count, using: &random), in: place)
            }
            if isEmbedded {
                let child = try transaction.insertEmbedded(at: Int.random(in: 0...count, using: &random), in: place)
                return try fill(child, in: target, transaction)
            }
            let element = try value(column, transaction)
            if case .null = element, column.type == .link { return }
            if count > 0, chance(2) {
                try transaction.setElement(element, at: Int.random(in: 0..<count, using: &random), in: place)
            } else {
                try transaction.insert(element, at: Int.random(in: 0...count, using: &random), in: place)
            }
        }
    }

    private mutating func setEmbedded(
        _ column: Column, of object: ObjectKey, in table: TableKey, _ transaction: WriteTransaction
    ) throws {
        if case .link(let target, let child) = try transaction.value(column, of: object, in: table), !chance(3) {
            // The object stays, and one of its values changes.
            let state = try transaction.table(target)
            guard let part = state.columns.randomElement(using: &random) else { return }
            return try set(part, of: child, in: target, transaction)
        }
        if chance(4) { return try transaction.set(.null, column, of: object, in: table) }
        let child = try transaction.setEmbedded(column, of: object, in: table)
        try fill(child, in: column.targetTable, transaction)
    }

    private mutating func fill(_ object: ObjectKey, in table: TableKey?, _ transaction: WriteTransaction) throws {
        guard let table else { return }
        for column in try transaction.table(table).columns { try set(column, of: object, in: table, transaction) }
    }

    // MARK: - Values

    private mutating func any(_ table: TableKey, _ transaction: WriteTransaction) throws -> ObjectKey? {
        let count = try transaction.count(in: table)
        return count == 0 ? nil : try transaction.object(at: Int.random(in: 0..<count, using: &random), in: table)
    }

    private mutating func value(_ column: Column, _ transaction: WriteTransaction) throws -> Value {
        if column.isNullable, column.type != .link, chance(5) { return .null }
        switch column.type {
        case .link:
            guard let target = column.targetTable, !chance(3), let object = try any(target, transaction) else { return .null }
            return .link(target, object)
        case .mixed: return value(of: [.int, .string, .timestamp, .bool, .double, .decimal])
        default: return value(of: [column.type])
        }
    }

    private mutating func value(of types: [ColumnType]) -> Value {
        switch types[Int.random(in: 0..<types.count, using: &random)] {
        case .int:
            return .int(
                [0, 1, 7, 200, 40_000, -3, 5_000_000_000][Int.random(in: 0..<7, using: &random)]
                    + Int64.random(in: 0..<9, using: &random))
        case .bool: return .bool(Bool.random(using: &random))
        case .double: return .double(Double(Int.random(in: 0..<1000, using: &random)) / 8)
        case .timestamp:
            return .timestamp(
                Timestamp(seconds: Int64.random(in: 0..<2_000_000_000, using: &random), nanoseconds: chance(2) ? 0 : 500_000_000))
        case .objectID:
            return .objectID(
                ObjectID(first: .random(in: 0 ... .max, using: &random), last: .random(in: 0 ... .max, using: &random)))
        case .decimal: return .decimal(Decimal128(Int64.random(in: 0..<100_000, using: &random)))
        case .binary: return binary()
        default:
            let words = ["haven", "vale", "amber", "quartz", "delta", "ember", "fjord", "slate"]
            let count = chance(12) ? 30 : Int.random(in: 0...6, using: &random)
            return text((0..<count).map { _ in words[Int.random(in: 0..<8, using: &random)] }.joined(separator: " "))
        }
    }

    private mutating func binary() -> Value {
        let bytes = (0..<Int.random(in: 0...40, using: &random)).map { _ in UInt8.random(in: 0...255, using: &random) }
        kept.append(ByteStorage(bytes))
        return .binary(kept[kept.count - 1].view)
    }

    private mutating func text(_ text: String) -> Value {
        kept.append(ByteStorage(text))
        return .string(kept[kept.count - 1].view)
    }

    private mutating func chance(_ count: Int) -> Bool { Int.random(in: 0..<count, using: &random) == 0 }
}
