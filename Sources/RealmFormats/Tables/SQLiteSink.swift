// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform
internal import RealmStorage

/// Writes the rows of an export into a database of SQLite.
final class SQLiteSink: RelationalSink {
    /// The database that is filled.
    private let database: SQLiteDatabase
    /// The tables.
    private let schema: RelationalSchema
    /// The statement that adds a row, for each table.
    private let statements: [SQLiteStatement]
    /// Called now and then, so that the file is charged to the budget for temporary files.
    private let grown: () throws(StorageError) -> Void
    /// The number of rows, and of their bytes, since `grown` was called.
    private var (rows, bytes) = (0, 0)
    /// The number of rows, or bytes, after which `grown` is called.
    private static let (rowsPerLook, bytesPerLook) = (512, 4 << 20)

    /// The most columns that a table of SQLite can have.
    static let columnLimit = 2000

    /// Creates the tables.
    ///
    /// - Parameters:
    ///   - schema: The tables.
    ///   - database: An empty database.
    ///   - grown: Called now and then while the file grows.
    /// - Throws: `SQLiteFailure`.
    init(_ schema: RelationalSchema, in database: SQLiteDatabase, grown: @escaping () throws(StorageError) -> Void)
        throws(SQLiteFailure)
    {
        self.schema = schema
        self.database = database
        self.grown = grown
        try database.run("BEGIN")
        var statements: [SQLiteStatement] = []
        for table in schema.tables {
            try database.run(SQLiteSink.create(table, schema))
            let places = Array(repeating: "?", count: table.columns.count).joined(separator: ",")
            statements.append(try database.prepare("INSERT INTO \(SQLiteDatabase.quoted(table.name)) VALUES (\(places))"))
        }
        self.statements = statements
        try NameMap.write(schema, to: database)
    }

    /// Makes the indexes, once all rows are there, and ends the transaction.
    ///
    /// - Throws: `SQLiteFailure`.
    func finish() throws(SQLiteFailure) {
        var names = RelationalNames()
        for table in schema.tables { _ = names.take(table.name) }
        for table in schema.tables {
            for column in table.columns where column.isIndexed && !column.isUnique {
                let name = names.take("index_\(table.name)_\(column.name)")
                try database.run(
                    "CREATE INDEX \(SQLiteDatabase.quoted(name)) ON \(SQLiteDatabase.quoted(table.name)) (\(SQLiteDatabase.quoted(column.name)))"
                )
            }
        }
        try database.run("COMMIT")
    }

    private static func create(_ table: RelationalTable, _ schema: RelationalSchema) -> String {
        var parts = table.columns.map { column in
            var text = SQLiteDatabase.quoted(column.name) + " " + type(of: column.kind)
            if !column.isNullable { text += " NOT NULL" }
            if column.isUnique { text += " UNIQUE" }
            return text
        }
        let key = table.key.map { SQLiteDatabase.quoted(table.columns[$0].name) }
        parts.append("PRIMARY KEY (\(key.joined(separator: ", ")))")
        for column in table.columns {
            guard let target = column.target.map({ schema.tables[$0] }) else { continue }
            let name = SQLiteDatabase.quoted(target.columns[0].name)
            parts.append(
                "FOREIGN KEY (\(SQLiteDatabase.quoted(column.name))) REFERENCES \(SQLiteDatabase.quoted(target.name)) (\(name))")
        }
        return "CREATE TABLE \(SQLiteDatabase.quoted(table.name)) (\n  \(parts.joined(separator: ",\n  "))\n)"
    }

    /// Returns the declared type of a kind. Strings stay strings, whatever they look like.
    static func type(of kind: RelationalTable.Kind) -> String {
        switch kind {
        case .int: return "INTEGER"
        case .bool: return "BOOLEAN"
        case .float, .double: return "REAL"
        case .bytes: return "BLOB"
        case .text, .date, .decimal, .objectID, .uuid, .json: return "TEXT"
        }
    }

    func add(_ cells: [RelationalCell], to table: Int) throws {
        let statement = statements[table]
        for (index, cell) in cells.enumerated() { try bind(cell, index + 1, statement) }
        try statement.run()
        rows += 1
        bytes += cells.reduce(0) { $0 + $1.byteCount }
        guard rows >= SQLiteSink.rowsPerLook || bytes >= SQLiteSink.bytesPerLook else { return }
        (rows, bytes) = (0, 0)
        try grown()
    }

    /// Binds the value of a column.
    private func bind(_ cell: RelationalCell, _ index: Int, _ statement: SQLiteStatement) throws(SQLiteFailure) {
        switch cell {
        case .number(let number): statement.bind(index, number)
        case .text(let text): try statement.bind(index, text)
        case .json(let bytes): try statement.bind(index, bytes, asText: true)
        case .value(let value): try bind(value, index, statement)
        }
    }

    private func bind(_ value: Value, _ index: Int, _ statement: SQLiteStatement) throws(SQLiteFailure) {
        switch value {
        case .null, .list, .dictionary, .link: statement.bindNull(index)
        case .int(let number): statement.bind(index, number)
        case .bool(let flag): statement.bind(index, Int64(flag ? 1 : 0))
        case .float(let number): try bind(Double(number), index, statement)
        case .double(let number): try bind(number, index, statement)
        // Text that is not UTF-8 is stored as bytes.
        case .string(let text): try statement.bind(index, text, asText: text.validatedString != nil)
        case .binary(let bytes): try statement.bind(index, bytes, asText: false)
        case .timestamp(let date): try statement.bind(index, date.text)
        case .decimal(let number): try statement.bind(index, number.description)
        case .objectID(let id): try statement.bind(index, id.description)
        case .uuid(let id): try statement.bind(index, id.description)
        }
    }

    /// Binds a number. SQLite has no value that is not a number, and would store null.
    private func bind(_ number: Double, _ index: Int, _ statement: SQLiteStatement) throws(SQLiteFailure) {
        if number.isNaN { try statement.bind(index, "NaN") } else { statement.bind(index, number) }
    }
}
