// SPDX-License-Identifier: Apache-2.0

internal import RealmEngine
internal import RealmPlatform
internal import RealmStorage

/// Reads the tables of embedded objects and collections that an export makes next to those of classes.
///
/// A table is read if it has the name and exactly the columns that an export gives it. Missing tables are left out, so
/// `mode=upsert` keeps their values.
///
/// SQLite finds the rows of an owner by the collation and the affinity that the file declares, under which one row may belong to
/// several owners. Of the rows that it finds only those count whose owner is the same key.
final class SQLiteParts {
    /// An element of a collection: its key in a dictionary, and its value.
    private typealias Element = (key: SQLiteStatement.Found, value: SQLiteStatement.Found)

    /// The tables as an export of the same classes has them.
    let schema: RelationalSchema
    /// The version whose classes give the columns their types.
    private let snapshot: Snapshot
    private let database: SQLiteDatabase
    /// The longest line of an object.
    private let byteLimit: Int
    /// Whether tables that take the place of those of an export, and are not read, are left out.
    private let isLenient: Bool
    /// The columns of a table by its name; nil when the database has no such table.
    private let columns: (String) throws -> [String]?
    /// The statements that find the rows of a table for an owner, by its position; nil for a table that is not read. The first
    /// column is the owner, or the number of an embedded object.
    private var statements: [Int: SQLiteStatement?] = [:]
    /// The number of rows that were read of a table, by its position.
    private var readCounts: [Int: Int] = [:]
    /// The nesting depth of embedded objects at the moment.
    private var nesting = 0
    /// As many as `ObjectEncoder` permits.
    private static let maximumNesting = 128

    /// Prepares to read.
    ///
    /// - Parameters:
    ///   - snapshot: The version whose classes give the columns their types.
    ///   - byteLimit: The longest line of an object.
    ///   - isLenient: Whether a table with other columns is left out, rather than refused.
    ///   - columns: Returns the columns of a table; nil when there is none of this name.
    init(
        _ database: SQLiteDatabase, _ snapshot: Snapshot, byteLimit: Int, isLenient: Bool,
        columns: @escaping (String) throws -> [String]?
    ) {
        self.database = database
        self.snapshot = snapshot
        self.byteLimit = byteLimit
        self.isLenient = isLenient
        self.columns = columns
        schema = RelationalSchema(snapshot.classes.filter { $0.kind != .embedded }, in: snapshot, isWhole: true)
    }

    /// Returns the collections of a class that have separate tables.
    ///
    /// - Parameters:
    ///   - names: The columns of its table in the database, whose collections come from there.
    /// - Returns: The position of the column with the key of the owner, and the collections; nil for none.
    func collections(of table: Table, in names: [String]) throws -> (key: Int, members: [RelationalSchema.Member])? {
        guard let made = schema.classes[table.key] else { return nil }
        let members = try made.members.filter { member in
            guard case .collection(let position) = member.place, !names.contains(member.column.name) else { return false }
            return try statement(position) != nil
        }
        // Without the key the rows belong to no object.
        guard let key = names.firstIndex(of: schema.tables[made.position].columns[0].name), !members.isEmpty else { return nil }
        return (key, members)
    }

    /// Writes the collections of an object as members.
    ///
    /// - Parameters:
    ///   - members: The collections.
    ///   - owner: The key of the object in the tables.
    ///   - writer: Receives them.
    func write(_ members: [RelationalSchema.Member], of owner: SQLiteStatement.Found, to writer: inout JSONWriter) throws {
        for member in members {
            guard case .collection(let position) = member.place else { continue }
            writer.key(MemberNaming.documents.member(member.column.name))
            try write(member.column, try elements(position, of: owner), to: &writer)
        }
    }

    /// Writes an embedded object that a column refers to by its number.
    ///
    /// - Parameters:
    ///   - writer: Receives the object.
    /// - Returns: Whether the value was such a number.
    /// - Throws: `SQLiteCell.Unfit` for the number of no row.
    func writeEmbedded(_ value: SQLiteStatement.Found, _ column: Column, to writer: inout JSONWriter) throws -> Bool {
        guard case .int = value, column.type == .link, let target = column.targetTable.flatMap({ snapshot.table($0) }),
            target.kind == .embedded, let made = schema.classes[target.key], let row = try statement(made.position)
        else { return false }
        try row.find(value)
        repeat {
            guard try row.next() else {
                throw SQLiteCell.Unfit(
                    name: column.name,
                    detail: "column '\(column.name.truncated)': the table '\(schema.tables[made.position].name.truncated)' "
                        + "has no embedded object with this number",
                    code: .linkTargetMissing)
            }
        } while !row.value(0).isSameKey(as: value)
        let cells = (1..<row.columnCount).map { row.value($0) }
        readCounts[made.position, default: 0] += 1
        nesting += 1
        defer { nesting -= 1 }
        guard nesting <= SQLiteParts.maximumNesting else { throw SQLiteFailure.malformed }
        writer.beginObject()
        for (index, member) in made.members.filter(\.isColumn).enumerated() {
            try write(cells[index], member.column, named: member.column.name, to: &writer)
        }
        let collections = try made.members.filter { member in
            guard case .collection(let position) = member.place else { return false }
            return try statement(position) != nil
        }
        try write(collections, of: value, to: &writer)
        writer.endObject()
        return true
    }

    // MARK: - Rows

    /// Returns the statement that finds rows by their owner or number; nil when the table is not there, or is to be left out.
    ///
    /// - Throws: `invalid_body` for a table with other columns than an export gives it, unless it is to be left out.
    private func statement(_ position: Int) throws -> SQLiteStatement? {
        if let known = statements[position] { return known }
        let table = schema.tables[position]
        let names = table.columns.map(\.name)
        var made: SQLiteStatement?
        if let found = try columns(table.name) {
            if found.count == names.count, names.allSatisfy({ found.contains($0) }) {
                let quoted = names.map(SQLiteDatabase.quoted)
                let order = table.key.count > 1 ? " ORDER BY \(quoted[1]) COLLATE BINARY" : ""
                made = try database.prepare(
                    "SELECT \(quoted.joined(separator: ", ")) FROM \(SQLiteDatabase.quoted(table.name)) WHERE \(quoted[0]) = ?\(order)"
                )
            } else if !isLenient {
                throw Problem(
                    .invalidBody,
                    "the table '\(table.name.truncated)' must have the columns \(SQLiteImport.listed(names)), as in an export, but has "
                        + "\(SQLiteImport.listed(found)); 'Prefer: handling=lenient' leaves it out")
            }
        }
        statements[position] = .some(made)
        return made
    }

    /// Returns the elements of a collection.
    private func elements(_ position: Int, of owner: SQLiteStatement.Found) throws -> [Element] {
        guard let rows = try statement(position) else { return [] }
        try rows.find(owner)
        var elements: [Element] = []
        var byteCount = 0
        while try rows.next() {
            guard rows.value(0).isSameKey(as: owner) else { continue }
            let element = (key: rows.value(1), value: rows.value(2))
            byteCount += MemoryLayout<Element>.stride + element.key.byteCount + element.value.byteCount
            guard byteCount <= byteLimit else { throw SQLiteFailure.tooLong }
            elements.append(element)
        }
        readCounts[position, default: 0] += elements.count
        return elements
    }

    /// Returns the name of a table of which more rows are there than were read; nil for none.
    ///
    /// - Parameter isWhole: Whether all classes were read, so that each row of a table must have an owner.
    /// - Throws: `invalid_body` for what takes the place of a table.
    func tableWithRowsLeft(isWhole: Bool) throws -> String? {
        let classes = schema.classes.values.filter { $0.table.kind != .embedded }
        let ofClasses = Set(
            classes.flatMap { made in
                made.members.compactMap { member -> Int? in
                    guard case .collection(let position) = member.place else { return nil }
                    return position
                }
            })
        if isWhole {
            // Also tables of which no row has asked for any.
            let read = Set(classes.map(\.position))
            for position in schema.tables.indices where !read.contains(position) { _ = try statement(position) }
        }
        for (position, statement) in statements where statement != nil && (isWhole || ofClasses.contains(position)) {
            let name = schema.tables[position].name
            // Functions such as `count` do not run.
            let rows = try database.prepare("SELECT 1 FROM \(SQLiteDatabase.quoted(name)) NOT INDEXED")
            var left = readCounts[position] ?? 0
            while try rows.next() {
                if left == 0 { return name }
                left -= 1
            }
        }
        return nil
    }

    // MARK: - JSON

    /// Writes the elements of a collection.
    private func write(_ column: Column, _ elements: [Element], to writer: inout JSONWriter) throws {
        guard column.collection == .dictionary else {
            writer.beginArray()
            for element in elements { try write(element.value, column, named: column.name, isMember: false, to: &writer) }
            return writer.endArray()
        }
        writer.beginObject()
        for element in elements {
            guard case .text(let bytes) = element.key, let key = String(validating: bytes, as: UTF8.self) else {
                throw SQLiteCell.Unfit(name: column.name, detail: "a key of '\(column.name.truncated)' is not a text")
            }
            writer.key(key)
            try write(element.value, column, named: key, isMember: false, to: &writer)
        }
        writer.endObject()
    }

    /// Writes a value or an element.
    private func write(
        _ value: SQLiteStatement.Found, _ column: Column, named name: String, isMember: Bool = true, to writer: inout JSONWriter
    ) throws {
        guard writer.count <= byteLimit else { throw SQLiteFailure.tooLong }
        let cell = SQLiteCell(name: name, column: column, snapshot: snapshot, isElement: !isMember)
        if isMember { cell.writeName(to: &writer) }
        guard try !writeEmbedded(value, column, to: &writer) else { return }
        try cell.writeValue(value, to: &writer)
    }
}

extension RelationalSchema.Member {
    /// Whether the property is a column of the row.
    fileprivate var isColumn: Bool {
        if case .column = place { return true }
        return false
    }
}
