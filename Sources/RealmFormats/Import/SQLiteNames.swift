// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform
internal import RealmStorage

/// The classes and properties that the tables and columns of an export hold, as its `NameMap` states them.
///
/// The file comes from a client. Rows that contradict each other are refused here; whether the tables and columns exist is
/// checked where they are read.
struct SQLiteNames {
    /// A table with a row for each object, or each embedded one.
    struct Objects {
        let className: String
        /// The column with the keys of the rows.
        let key: String
        /// The columns that are properties, with the primary key.
        let properties: [(column: String, property: String)]
    }

    /// A table with a row for each element of a collection.
    struct Elements {
        let table: String
        let property: String
        /// The columns of the owner, of the place and of the element.
        let columns: [String]
        let isDictionary: Bool
    }

    /// The names of all tables, in the order of the map.
    private(set) var tables: [String] = []
    /// The tables of objects, by their names.
    private(set) var objects: [ByteText: Objects] = [:]
    /// The tables of collections, by the names of the classes that have them.
    private(set) var elements: [ByteText: [Elements]] = [:]
    /// The names of the tables of objects, by those of their classes.
    private(set) var tablesOfClasses: [ByteText: String] = [:]
    /// The names in `tables`.
    private let all: Set<ByteText>

    /// Bounds on the map, which is in memory as a whole.
    private static let (mostRows, mostBytes) = (100_000, 16 << 20)

    /// The rows of one table.
    private struct Draft {
        let className: String
        var columns: [(name: String, property: String?, role: NameMap.Role)] = []
        var seen: Set<ByteText> = []
    }

    /// Whether the map has a table of this name.
    func has(_ table: String) -> Bool { all.contains(ByteText(table)) }

    /// Reads the map.
    ///
    /// - Parameter rows: The rows with `NameMap.columns`.
    /// - Throws: `invalid_body` for rows that contradict each other or are too many, or `SQLiteFailure`.
    init(_ rows: SQLiteStatement) throws {
        var drafts: [ByteText: Draft] = [:]
        var (rowCount, byteCount) = (0, 0)
        while try rows.next() {
            let cells = NameMap.columns.indices.map { rows.value($0) }
            rowCount += 1
            byteCount += cells.reduce(0) { $0 + $1.byteCount }
            guard rowCount <= SQLiteNames.mostRows, byteCount <= SQLiteNames.mostBytes else {
                throw SQLiteNames.problem("has more than \(SQLiteNames.mostRows) rows or \(SQLiteNames.mostBytes) bytes")
            }
            let texts = try cells.map(SQLiteNames.text)
            guard let table = texts[0], let column = texts[1], let className = texts[2], let word = texts[4],
                let role = NameMap.Role.allCases.first(where: { $0.rawValue == word })
            else { throw SQLiteNames.problem("has in row \(rowCount) no table, column or class, or an unknown role") }
            if drafts[table] == nil { tables.append(table) }
            var draft = drafts.removeValue(forKey: table) ?? Draft(className: className)
            guard draft.className == className else {
                throw SQLiteNames.problem("gives the table '\(table.truncated)' two classes")
            }
            guard draft.seen.insert(ByteText(column)).inserted else {
                throw SQLiteNames.problem("has the column '\(column.truncated)' of the table '\(table.truncated)' twice")
            }
            draft.columns.append((column, texts[3], role))
            drafts[table] = draft
        }
        all = Set(texts: tables)
        try add(drafts)
    }

    /// Returns a text, or nil for null.
    private static func text(_ value: SQLiteStatement.Found) throws(Problem) -> String? {
        switch value {
        case .null: return nil
        case .text(let bytes):
            if !bytes.contains(0), let text = String(validating: bytes, as: UTF8.self) { return text }
        case .int, .double, .blob: break
        }
        throw problem("has a value that is not a text, or has a NUL")
    }

    /// Makes the problem of a map that cannot be true.
    static func problem(_ detail: String) -> Problem {
        Problem(.invalidBody, "the table '\(NameMap.table)', which names the classes and properties of an export, \(detail)")
    }

    /// Adds the tables, each property of a class once.
    private mutating func add(_ drafts: [ByteText: Draft]) throws(Problem) {
        var seen: [ByteText: Set<ByteText>] = [:]
        func take(_ property: String, of className: String) throws(Problem) {
            guard seen[className, default: []].insert(ByteText(property)).inserted else {
                throw SQLiteNames.problem(
                    "has the property '\(property.truncated)' of the class '\(className.truncated)' twice")
            }
        }
        for table in tables {
            guard let draft = drafts[table] else { continue }
            if draft.columns.contains(where: { $0.role == .key }) {
                let made = try SQLiteNames.objects(draft, table)
                for each in made.properties { try take(each.property, of: made.className) }
                objects[table] = made
                guard tablesOfClasses.updateValue(table, forKey: made.className) == nil else {
                    throw SQLiteNames.problem("gives the class '\(made.className.truncated)' two tables")
                }
            } else {
                let made = try SQLiteNames.elements(draft, table)
                try take(made.property, of: draft.className)
                elements[draft.className, default: []].append(made)
            }
        }
        for each in elements.keys.texts.sorted() where tablesOfClasses[each] == nil {
            throw SQLiteNames.problem("has collections of the class '\(each.truncated)', but no table of its objects")
        }
    }

    private static func objects(_ draft: Draft, _ table: String) throws(Problem) -> Objects {
        var key: String?
        var properties: [(String, String)] = []
        for (name, property, role) in draft.columns {
            guard role == .key && key == nil || role == .property && property != nil else { throw unlike(table) }
            if role == .key { key = name }
            if let property { properties.append((name, property)) }
        }
        guard let key else { throw unlike(table) }
        return Objects(className: draft.className, key: key, properties: properties)
    }

    private static func elements(_ draft: Draft, _ table: String) throws(Problem) -> Elements {
        func column(_ roles: NameMap.Role...) -> (name: String, property: String?, role: NameMap.Role)? {
            draft.columns.first { roles.contains($0.role) }
        }
        guard draft.columns.count == 3, let owner = column(.owner), let place = column(.position, .entry),
            let value = column(.value), let property = value.property,
            draft.columns.allSatisfy({ $0.property.map { $0 == property } == true })
        else { throw unlike(table) }
        return Elements(
            table: table, property: property, columns: [owner.name, place.name, value.name], isDictionary: place.role == .entry)
    }

    /// Makes the problem of a table whose columns are neither those of objects nor those of a collection.
    private static func unlike(_ table: String) -> Problem {
        problem(
            "must give the table '\(table.truncated)' one key and properties, or an owner, a position or entry, and a value "
                + "of one property")
    }
}
