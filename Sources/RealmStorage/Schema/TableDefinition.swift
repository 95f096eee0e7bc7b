// SPDX-License-Identifier: Apache-2.0

/// What of a table seldom changes.
///
/// A class with one owner: a state that is copied shares it, and makes a copy before it changes anything here. Most transactions
/// change objects only and never do.
final class TableDefinition {
    /// The full name of the table.
    var name: String
    /// The columns as the spec has them.
    var spec: SpecState
    /// The other table of each link or backlink column, by leaf index.
    var oppositeTables: [Int64]
    /// The other column of each link or backlink column, by leaf index.
    var oppositeColumns: [Int64]
    /// Nil when something changed since it was made.
    var columnSet: ColumnSet?
    /// Where lists of distinct strings are read.
    var space: NodeSpace

    /// The definition of a table that nothing else refers to yet.
    init(
        name: String, _ space: NodeSpace, _ spec: SpecState, oppositeTables: [Int64], oppositeColumns: [Int64]
    ) {
        self.name = name
        self.space = space
        self.spec = spec
        self.oppositeTables = oppositeTables
        self.oppositeColumns = oppositeColumns
    }

    /// A copy, for a state that was copied before it changes.
    convenience init(copyOf other: TableDefinition) {
        self.init(
            name: other.name, other.space, other.spec, oppositeTables: other.oppositeTables,
            oppositeColumns: other.oppositeColumns)
        columnSet = other.columnSet
    }
}
