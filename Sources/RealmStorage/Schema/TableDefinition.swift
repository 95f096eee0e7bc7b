// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform

/// The parts of a table's state that seldom change: its name, columns and their opposites.
///
/// It is a class with one owner: a state that is copied shares it, and makes a copy before it
/// changes anything here. Most transactions change objects only and never do.
final class TableDefinition {
    /// The full name of the table.
    var name: String
    /// The columns as the spec has them.
    var spec: SpecState
    /// The other table of each link or backlink column, by leaf index.
    var oppositeTables: [Int64]
    /// The other column of each link or backlink column, by leaf index.
    var oppositeColumns: [Int64]
    /// The columns made from this definition; nil when something changed since they were made.
    var columnSet: ColumnSet?
    /// The space in which lists of distinct strings are read.
    var space: NodeSpace

    /// Makes the definition of a table that nothing else refers to yet.
    init(
        name: String, _ space: NodeSpace, _ spec: SpecState, oppositeTables: [Int64], oppositeColumns: [Int64]
    ) {
        self.name = name
        self.space = space
        self.spec = spec
        self.oppositeTables = oppositeTables
        self.oppositeColumns = oppositeColumns
    }

    /// Makes a copy, for a state that shares its definition and is about to change it.
    convenience init(copyOf other: TableDefinition) {
        self.init(
            name: other.name, other.space, other.spec, oppositeTables: other.oppositeTables,
            oppositeColumns: other.oppositeColumns)
        columnSet = other.columnSet
    }
}
