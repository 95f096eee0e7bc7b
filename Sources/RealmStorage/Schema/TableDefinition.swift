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
    var columnSet: TableDefinition.ColumnSet?
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

extension TableDefinition {
    /// The columns of a table between two changes of its schema, inside of a write transaction.
    ///
    /// It is made from a definition when it is first needed, and shared by all copies of the state until the definition
    /// changes. Its identity shows whether writers made for the columns are still valid.
    final class ColumnSet: Sendable {
        /// The public columns in the order of their declaration.
        let columns: [Column]
        /// The hidden columns of incoming links, which have no name.
        let backlinks: [Column]
        /// The positions of the public columns in `columns`, by name.
        let positions: [ByteText: Int]

        /// Makes a set of columns with a look-up by name.
        init(columns: [Column], backlinks: [Column]) {
            self.columns = columns
            self.backlinks = backlinks
            positions = Dictionary(texts: columns.enumerated().map { ($1.name, $0) }, uniquingKeysWith: { first, _ in first })
        }
    }
}
