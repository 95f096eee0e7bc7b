// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform
internal import RealmStorage

/// The mapping of the classes of a version to tables of a relational database.
///
/// A class is a table whose columns are its single properties. The key of a row is the primary key; without one it is the key of
/// the object in a column `_key`. A link is a column with the key of its target. Embedded objects are rows of a separate table with
/// their keys in `_id`, and their owner has that key. A collection is a table with a row for each element.
struct RelationalSchema: Sendable {
    /// The identity of the rows of a class.
    enum Key: Sendable {
        /// The primary key, which cannot be null.
        case primary(Column)
        /// The text of the primary key, which may be null and is represented by a special text then.
        case keyText
        /// The key of the object.
        case object
        /// The key of an embedded object.
        case number

        /// The kind of values of a column with such keys.
        var kind: RelationalTable.Kind {
            switch self {
            case .primary(let column): return RelationalSchema.kind(of: column)
            case .keyText: return .text
            case .object, .number: return .int
            }
        }
    }

    /// A property in the tables.
    struct Member: Sendable {
        /// The way of storing a property.
        enum Place: Sendable {
            /// In a column of the row.
            case column
            /// As rows of another table, given by its position.
            case collection(Int)
        }

        let column: Column
        /// The way of storing it.
        let place: Place
    }

    struct Class: Sendable {
        let table: Table
        /// The position of its table.
        let position: Int
        /// The identity of its rows.
        let key: Key
        /// Whether it is one of the classes that are exported, and does not come with another.
        var isRoot = false
        /// Its properties.
        var members: [Member] = []
    }

    private(set) var tables: [RelationalTable] = []
    private(set) var classes: [TableKey: Class] = [:]
    /// The names of the tables.
    private var names = RelationalNames()
    /// Whether links lead to objects that are all in the export, so that the database may check them.
    private let isWhole: Bool

    /// Makes the tables of some classes and of all embedded objects in them.
    ///
    /// - Parameters:
    ///   - roots: The classes that are exported.
    ///   - snapshot: The version, as its reader sees it.
    ///   - isWhole: Whether all objects of all classes are exported.
    init(_ roots: [Table], in snapshot: Snapshot, isWhole: Bool) {
        self.isWhole = isWhole
        var waiting = roots
        var order: [Table] = []
        while !waiting.isEmpty {
            let table = waiting.removeFirst()
            guard classes[table.key] == nil else { continue }
            order.append(table)
            classes[table.key] = Class(
                table: table, position: order.count - 1, key: RelationalSchema.key(of: table), isRoot: order.count <= roots.count)
            let className = table.className ?? table.name
            tables.append(RelationalTable(name: names.take(className), className: className, columns: [], key: [0]))
            for target in table.columns.compactMap({ RelationalSchema.target($0, snapshot) }) where target.kind == .embedded {
                waiting.append(target)
            }
        }
        for table in order { addColumns(of: table, snapshot) }
    }

    static func key(of table: Table) -> Key {
        if table.kind == .embedded { return .number }
        guard let column = table.primaryKey else { return .object }
        return column.isNullable ? .keyText : .primary(column)
    }

    /// Returns the class that a property leads to; nil for one that leads nowhere.
    private static func target(_ column: Column, _ snapshot: Snapshot) -> Table? {
        column.type == .link ? column.targetTable.flatMap { snapshot.table($0) } : nil
    }

    /// Returns the kind of values of a property that is no link.
    static func kind(of column: Column) -> RelationalTable.Kind {
        switch column.type {
        case .int: return .int
        case .bool: return .bool
        case .string: return .text
        case .binary: return .bytes
        case .timestamp: return .date
        case .float: return .float
        case .double: return .double
        case .decimal: return .decimal
        case .objectID: return .objectID
        case .uuid: return .uuid
        case .mixed: return .json
        case .link, .backlink: return .text
        }
    }

    /// Adds the columns of a class, and the tables of its collections.
    private mutating func addColumns(of table: Table, _ snapshot: Snapshot) {
        guard var made = classes[table.key] else { return }
        var own = RelationalNames(areColumns: true)
        var columns: [RelationalTable.Column] = []
        switch made.key {
        case .primary(let column):
            // The key comes first, as people expect it.
            columns.append(
                .init(
                    name: own.take(column.name), kind: RelationalSchema.kind(of: column), role: .key, property: column.name,
                    isNullable: false))
        case .keyText: columns.append(.init(name: own.take("_key"), kind: .text, role: .key, isNullable: false))
        case .object: columns.append(.init(name: own.take("_key"), kind: .int, role: .key, isNullable: false))
        case .number: columns.append(.init(name: own.take("_id"), kind: .int, role: .key, isNullable: false))
        }
        for column in table.columns {
            if case .primary(let key) = made.key, key.key == column.key { continue }
            guard column.collection == nil else {
                made.members.append(Member(column: column, place: .collection(tables.count)))
                tables.append(collection(column, of: made, snapshot))
                continue
            }
            made.members.append(Member(column: column, place: .column))
            var added = valueColumn(own.take(column.name), .property, of: column, snapshot)
            added.isUnique = column.key == table.primaryKey?.key
            added.isIndexed = added.isIndexed || column.declaredIndex == .general
            columns.append(added)
        }
        tables[made.position].columns = columns
        classes[table.key] = made
    }

    /// Returns the column for the values or elements of a property.
    private func valueColumn(
        _ name: String, _ role: NameMap.Role, of column: Column, _ snapshot: Snapshot
    ) -> RelationalTable.Column {
        guard column.type == .link else {
            return .init(
                name: name, kind: RelationalSchema.kind(of: column), role: role, property: column.name,
                isNullable: column.isNullable || column.type == .mixed)
        }
        guard let target = RelationalSchema.target(column, snapshot) else {
            return .init(name: name, kind: .text, role: role, property: column.name)
        }
        // An embedded object comes with its owner; a linked one is certain to be there only if everything is.
        let leads = isWhole || target.kind == .embedded
        return .init(
            name: name, kind: RelationalSchema.key(of: target).kind, role: role, property: column.name, isIndexed: leads,
            target: leads ? classes[target.key]?.position : nil)
    }

    private mutating func collection(_ column: Column, of owner: Class, _ snapshot: Snapshot) -> RelationalTable {
        let (name, place, kind): (String, NameMap.Role, RelationalTable.Kind) =
            column.collection == .dictionary ? ("key", .entry, .text) : ("position", .position, .int)
        return RelationalTable(
            name: names.take("\(tables[owner.position].name)_\(column.name)"),
            className: tables[owner.position].className,
            columns: [
                .init(
                    name: "owner", kind: owner.key.kind, role: .owner, property: column.name, isNullable: false,
                    target: owner.position),
                .init(name: name, kind: kind, role: place, property: column.name, isNullable: false),
                valueColumn("value", .value, of: column, snapshot),
            ], key: [0, 1])
    }
}

extension RelationalSchema {
    /// Checks that databases can have the tables: each embedded object has its owner, and no table too many columns.
    ///
    /// - Parameter limit: The most columns that a table can have.
    /// - Throws: `answer_too_large` for a class with more properties.
    func requireColumns(atMost limit: Int) throws(Problem) {
        if let root = classes.values.first(where: { $0.isRoot && $0.table.kind == .embedded }) {
            let name = (root.table.className ?? root.table.name).truncated
            throw Problem.invalidParameter(
                "class",
                "the objects of '\(name)' are embedded, and databases need their owners; export a class that has them, or as ndjson, json or csv"
            )
        }
        guard let table = tables.first(where: { $0.columns.count > limit }) else { return }
        throw Problem(
            .answerTooLarge,
            "class \(table.name) has \(table.columns.count) properties, and a table of this format has at most \(limit) columns"
        ).with("limit", .integer(Int64(limit)))
    }
}
