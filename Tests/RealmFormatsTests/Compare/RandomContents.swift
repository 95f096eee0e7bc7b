// SPDX-License-Identifier: Apache-2.0

import RealmEngine
import RealmPlatform
import RealmStorage
import RealmTestSupport

/// Random objects and changes in a schema with every type of property, made of few values so that equal objects are frequent.
struct RandomContents {
    private var random: SeededGenerator

    init(seed: UInt64) { random = SeededGenerator(seed: seed) }

    static let classes = [
        ClassInput(
            "Item", primaryKey: "id",
            [PropertyInput("id", "int")] + scalars + [
                PropertyInput("any", "mixed"), PropertyInput("next", "object", objectType: "Item"),
                PropertyInput("loose", "object", objectType: "Loose"), PropertyInput("tag", "object", objectType: "Tag"),
                PropertyInput("part", "object", objectType: "Part"),
                PropertyInput("parts", "object", collection: "list", objectType: "Part"),
                PropertyInput("places", "object", collection: "dictionary", objectType: "Part"),
                PropertyInput("items", "object", collection: "list", objectType: "Item"),
                PropertyInput("fans", "object", collection: "set", objectType: "Item"),
                PropertyInput("team", "object", collection: "dictionary", objectType: "Loose"),
                PropertyInput("numbers", "int", collection: "list", optional: true),
                PropertyInput("words", "string", collection: "set"),
                PropertyInput("marks", "double", collection: "dictionary", optional: true),
                PropertyInput("things", "mixed", collection: "list"), PropertyInput("bag", "mixed", collection: "set"),
                PropertyInput("map", "mixed", collection: "dictionary"),
            ]),
        ClassInput("Tag", primaryKey: "name", [PropertyInput("name", "string"), PropertyInput("n", "int")]),
        ClassInput(
            "Loose",
            [
                PropertyInput("text", "string"), PropertyInput("n", "int", optional: true),
                PropertyInput("next", "object", objectType: "Loose"),
                PropertyInput("all", "object", collection: "list", objectType: "Loose"),
                PropertyInput("item", "object", objectType: "Item"), PropertyInput("any", "mixed"),
                PropertyInput("part", "object", objectType: "Part"),
            ]),
        ClassInput("Plain", [PropertyInput("text", "string"), PropertyInput("n", "int")]),
        ClassInput(
            "Part", type: "embedded",
            [
                PropertyInput("city", "string"), PropertyInput("n", "int", optional: true),
                PropertyInput("loose", "object", objectType: "Loose"), PropertyInput("tags", "string", collection: "list"),
            ]),
    ]

    /// A property of each single type, required and optional by turns.
    private static let scalars = zip(
        ["int", "bool", "string", "data", "date", "float", "double", "decimal128", "objectId", "uuid"], 0...
    ).flatMap { type, position in
        [
            PropertyInput("\(type)\(position)", type, optional: position % 2 == 0),
            PropertyInput("other\(position)", type, optional: position % 2 == 1),
        ]
    }

    // MARK: - Numbers

    private mutating func number(_ range: Range<Int>) -> Int { Int.random(in: range, using: &random) }
    private mutating func happens(oneIn count: Int) -> Bool { number(0..<count) == 0 }
    private mutating func one<Element>(of elements: [Element]) -> Element? { elements.randomElement(using: &random) }

    // MARK: - Changes

    /// Creates, changes and deletes objects.
    mutating func change(_ session: WriteSession, steps: Int) throws {
        for _ in 0..<steps {
            let view = try session.view()
            guard let table = one(of: view.classes.filter { $0.kind == .topLevel }), let name = table.className else { return }
            let keys = try RandomContents.keys(table)
            switch number(0..<20) {
            case 0..<9: try create(name, table, view, session)
            case 9..<11:
                if let key = one(of: keys) { _ = try session.delete(ObjectPlace(table: table.key, object: key)) }
            default:
                guard let key = one(of: keys), let column = one(of: table.columns), column.name != table.primaryKey?.name else {
                    continue
                }
                let place = ObjectPlace(table: table.key, object: key)
                let value = try value(column, view, depth: 0)
                try session.setProperty(try session.property(column.name, of: place), of: place, to: value)
            }
        }
    }

    static func keys(_ table: Table) throws -> [ObjectKey] {
        var keys: [ObjectKey] = []
        var cursor = table.leaves()
        while let leaf = try cursor.next() { keys += (0..<leaf.count).map { leaf.key(at: $0) } }
        return keys
    }

    private mutating func create(_ name: String, _ table: Table, _ view: Snapshot, _ session: WriteSession) throws {
        var members: [(name: String, value: InputValue)] = []
        for column in table.columns {
            var given = try value(column, view, depth: 0)
            if column.name == table.primaryKey?.name {
                let number = number(-3..<30)
                let text = one(of: ["@empty", "@@a", "b", "c/d", "é"]) ?? "b"
                let key = column.type == .int ? String(number) : text
                guard try session.find(.text(key), class: name) == nil else { return }
                given = column.type == .int ? .integer(Int64(number)) : .typed(.stringBytes(KeyText.stringBytes(text) ?? []))
            } else if RandomContents.mayBeMissing(column), happens(oneIn: 2) {
                continue
            }
            members.append((name: column.name, value: given))
        }
        _ = try session.create(name, InputObject(members))
    }

    private static func mayBeMissing(_ column: Column) -> Bool {
        column.isNullable || column.collection != nil || column.type == .link || column.type == .mixed
    }

    // MARK: - Values

    private mutating func value(_ column: Column, _ view: Snapshot, depth: Int) throws -> InputValue {
        let count = number(0..<4)
        switch column.collection {
        case nil: return try element(column, view, depth: depth) ?? .null
        case .list, .set:
            return .list(try (0..<count).compactMap { _ in try element(column, view, depth: depth) })
        case .dictionary:
            let entries = try (0..<count).compactMap { index in
                try element(column, view, depth: depth).map { (name: "k\(index + depth)", value: $0) }
            }
            return .object(InputObject(entries))
        }
    }

    /// Returns one value; nil for a link in a list or set that has nothing to lead to.
    private mutating func element(_ column: Column, _ view: Snapshot, depth: Int) throws -> InputValue? {
        if column.type == .link { return try link(column, view, depth: depth) }
        if column.type == .mixed { return try mixed(view, depth: column.collection == .set ? 9 : depth) }
        if column.isNullable, happens(oneIn: 4) { return .null }
        return scalar(column.type, isInSet: column.collection == .set)
    }

    private mutating func link(_ column: Column, _ view: Snapshot, depth: Int) throws -> InputValue? {
        let mayBeNull = column.collection == nil || column.collection == .dictionary
        guard let table = column.targetTable.flatMap({ view.table($0) }), !(mayBeNull && happens(oneIn: 3)) else { return .null }
        guard table.kind != .embedded else {
            return .object(
                InputObject(try table.columns.map { (name: $0.name, value: try value($0, view, depth: depth + 1)) }))
        }
        guard let key = one(of: try RandomContents.keys(table)) else { return mayBeNull ? .null : nil }
        return .link(.stub(className: table.className ?? "", key: .objectKey(key)))
    }

    private mutating func mixed(_ view: Snapshot, depth: Int) throws -> InputValue {
        switch number(0..<16) {
        case 0: return .null
        case 1:
            guard let table = one(of: view.classes.filter { $0.kind == .topLevel }),
                let key = one(of: try RandomContents.keys(table))
            else { return .null }
            return .link(.stub(className: table.className ?? "", key: .objectKey(key)))
        case 2 where depth < 2: return .list(try (0..<number(0..<3)).map { _ in try mixed(view, depth: depth + 1) })
        case 3 where depth < 2:
            return .object(
                InputObject(try (0..<number(0..<3)).map { (name: "m\($0)", value: try mixed(view, depth: depth + 1)) }))
        default:
            let types: [ColumnType] = [.int, .bool, .string, .binary, .timestamp, .float, .double, .decimal, .objectID, .uuid]
            return scalar(one(of: types) ?? .int, isInSet: depth == 9)
        }
    }

    private mutating func scalar(_ type: ColumnType, isInSet: Bool) -> InputValue {
        let small = number(-1..<3)
        switch type {
        case .int: return .typed(.int(happens(oneIn: 9) ? .max : Int64(small)))
        case .bool: return .bool(small > 0)
        case .string: return .text(one(of: ["", "a", "<b> & \"c\"", "é\n", "long " + String(repeating: "x", count: 90)]) ?? "")
        case .binary: return .typed(.binary(Array(repeating: UInt8(small + 1), count: small + 1)))
        case .timestamp: return .typed(.timestamp(Timestamp(seconds: Int64(small + 1) * 86_400, nanoseconds: Int32(small + 1))))
        case .float: return .typed(.float(Float(small) / 4))
        case .double: return .typed(.double(!isInSet && happens(oneIn: 9) ? .nan : Double(small) / 4))
        case .decimal: return .typed(.decimal(Decimal128("\(small).50") ?? .zero))
        case .objectID: return .typed(.objectID(ObjectID(first: UInt64(small + 1), last: 7)))
        default: return .typed(.uuid(UUIDValue(first: UInt64(small + 1), last: 9)))
        }
    }

    // MARK: - Schemas

    /// Returns random steps that change the schema; none at times.
    mutating func migration(keepsKeys: Bool) -> [MigrationStep] {
        var steps: [MigrationStep] = []
        for step in RandomContents.steps where happens(oneIn: 3) { steps.append(step) }
        if !keepsKeys, happens(oneIn: 4) { steps.append(.setPrimaryKey(className: "Tag", name: nil)) }
        return steps
    }

    private static let steps: [MigrationStep] = {
        var required = PropertyChange("Item", "int0")
        required.optional = false
        var optional = PropertyChange("Loose", "text")
        optional.optional = true
        return [
            .addProperty(className: "Item", PropertyInput("extra", "string"), value: nil),
            .addProperty(className: "Item", PropertyInput("extras", "int", collection: "list"), value: nil),
            .addProperty(className: "Loose", PropertyInput("aside", "object", objectType: "Plain"), value: nil),
            .addProperty(className: "Part", PropertyInput("aaa", "int"), value: nil),
            .removeProperty(className: "Item", name: "double6"), .removeProperty(className: "Item", name: "team"),
            .removeProperty(className: "Loose", name: "n"), .removeProperty(className: "Part", name: "n"),
            .changeProperty(required), .changeProperty(optional),
            .setIndex(className: "Item", name: "string2", indexed: "general"),
            .addClass(ClassInput("Extra", [PropertyInput("text", "string"), PropertyInput("any", "mixed")])),
            .addClass(
                ClassInput(
                    "More", primaryKey: "id", [PropertyInput("id", "int"), PropertyInput("of", "object", objectType: "Item")])),
        ]
    }()
}
