// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform

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
        /// Whether the values come from `IN`. SQLite tests the found rows by the affinity of the column alone then, so that texts
        /// which equal numbers would be lost.
        let isList: Bool
    }

    struct Term {
        let column: Int
        let isDescending: Bool
    }

    var constraints: [Constraint] = []
    /// The order in which the statement wants the rows.
    var order: [Term] = []
}
