// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform
internal import RealmStorage

/// The table of an SQLite export that states for each column which property of which class it has, since the names of tables
/// and columns may have got numbers.
enum NameMap {
    /// The meaning of the values of a column.
    enum Role: String, CaseIterable, Sendable {
        /// The keys of the objects, whose property is the primary key, or none.
        case key
        /// One value for each object.
        case property
        /// The key of the object that has the collection.
        case owner
        /// The places of the elements of a list or a set, and the keys of the entries of a dictionary.
        case position, entry
        /// The elements of a collection.
        case value
    }

    /// The name of the table, which no class and no collection gets.
    static let table = "_realm_names"
    static let columns = ["table", "column", "class", "property", "role"]

    /// Adds the table to a database.
    ///
    /// - Parameters:
    ///   - schema: The tables that the export has.
    ///   - database: The database, in a transaction.
    /// - Throws: `SQLiteFailure`.
    static func write(_ schema: RelationalSchema, to database: SQLiteDatabase) throws(SQLiteFailure) {
        let parts = columns.map { SQLiteDatabase.quoted($0) + " TEXT" + ($0 == "property" ? "" : " NOT NULL") }
        try database.run(
            "CREATE TABLE \(SQLiteDatabase.quoted(table)) (\n  \(parts.joined(separator: ",\n  ")),\n  PRIMARY KEY (\"table\", \"column\")\n)"
        )
        let statement = try database.prepare("INSERT INTO \(SQLiteDatabase.quoted(table)) VALUES (?,?,?,?,?)")
        for table in schema.tables {
            for column in table.columns {
                for (index, text) in [table.name, column.name, table.className, column.property, column.role.rawValue]
                    .enumerated()
                {
                    if let text { try statement.bind(index + 1, text) } else { statement.bindNull(index + 1) }
                }
                try statement.run()
            }
        }
    }
}
