// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform
internal import RealmStorage

/// A table of a database without a file, whose rows are found while SQLite asks for them. One thread at a time uses it.
///
/// Subclasses override what is not final.
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

/// A place in a `VirtualTable`. Subclasses override what is not final.
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

/// The first error of the tables of a database.
final class VirtualFailures {
    /// The error; nil as long as there is none.
    private(set) var first: (any Error)?

    /// Notes an error, unless there was one before.
    func note(_ error: any Error) { if first == nil { first = error } }
}

/// The rows that a part of a statement asks a table for.
struct VirtualRequest {
    /// The comparison of a column with a value.
    enum Comparison {
        case equal, less, lessOrEqual, greater, greaterOrEqual, like
        /// The greatest number of rows that are read, and the number of rows to leave out. They concern no column.
        case limit, offset
        case other
    }

    struct Constraint {
        let column: Int
        let comparison: Comparison
        /// Whether the value is known when rows are found.
        let isUsable: Bool
    }

    struct Term {
        let column: Int
        let isDescending: Bool
    }

    var constraints: [Constraint] = []
    /// The order in which the statement wants the rows.
    var order: [Term] = []
}

/// The way of finding the rows of a request.
struct VirtualPlan {
    /// The number that a cursor begins with.
    var number = 0
    /// The positions of the used constraints, in the order of their values.
    var uses: [Int] = []
    /// The plan for people.
    var text = ""
    /// The estimated work, in rows that are read.
    var cost = 1.0
    /// The estimated number of found rows.
    var rows: Int64 = 1
    /// Whether there is one row at most.
    var isUnique = false
    /// Whether rows are found in the wanted order.
    var isOrdered = false
}
