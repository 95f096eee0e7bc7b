// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform
internal import RealmStorage

/// A table of a database without a file, whose rows are found while SQLite asks for them. One thread at a time uses it.
///
/// Subclasses override the members that are not final.
class VirtualTable {
    /// The name, as statements write it.
    let name: String
    /// Keeps the first error of the tables of a database, which SQLite cannot pass on.
    let failures: VirtualFailures

    /// Creates a table.
    ///
    /// - Parameters:
    ///   - name: A name that differs from those of other tables even without case.
    ///   - failures: The errors of all tables of the database.
    init(named name: String, failures: VirtualFailures) {
        self.name = name
        self.failures = failures
    }

    /// The statement that would make the table; SQLite reads the columns from it. Called when a statement first names the table.
    var declaration: String { "CREATE TABLE x (\"_\")" }

    /// Chooses how rows are found that a part of a statement asks for.
    ///
    /// - Throws: Any error; the statement is refused then.
    func plan(_ request: VirtualRequest) throws -> VirtualPlan { VirtualPlan() }

    /// Makes a cursor, which is not at a row yet.
    func open() -> VirtualCursor { VirtualCursor(failures) }
}

/// A place in a `VirtualTable`. Subclasses override the members that are not final.
class VirtualCursor {
    /// The errors of the tables of the database.
    let failures: VirtualFailures

    init(_ failures: VirtualFailures) { self.failures = failures }

    /// Begins at the first row.
    ///
    /// - Parameters:
    ///   - values: The values of the constraints that the plan uses, in its order.
    /// - Returns: Whether there is a row.
    /// - Throws: Any error; the statement fails then.
    func begin(_ plan: Int, _ values: [SQLiteStatement.Found]) throws -> Bool { false }

    /// Advances to the next row.
    ///
    /// - Returns: Whether there is one.
    /// - Throws: Any error; the statement fails then.
    func next() throws -> Bool { false }

    /// Returns the value of a column of the present row to SQLite.
    ///
    /// - Throws: Any error; the statement fails then.
    func write(_ column: Int, to result: SQLiteResult) throws {}

    /// The number of the row, for tables whose declaration does not leave it out.
    var row: Int64 { 0 }
}
