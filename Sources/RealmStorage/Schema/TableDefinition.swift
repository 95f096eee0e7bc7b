// SPDX-License-Identifier: Apache-2.0

/// What of a table seldom changes.
final class TableDefinition {
    var name: String
    var spec: SpecState
    var oppositeTables: [Int64]
    var oppositeColumns: [Int64]
    /// Nil when something changed since it was made.
    var columnSet: ColumnSet?
    var space: NodeSpace

    init(
        _ name: String, _ space: NodeSpace, _ spec: SpecState, _ oppositeTables: [Int64], _ oppositeColumns: [Int64]
    ) {
        self.name = name
        self.space = space
        self.spec = spec
        self.oppositeTables = oppositeTables
        self.oppositeColumns = oppositeColumns
    }

    convenience init(copyOf other: TableDefinition) {
        self.init(other.name, other.space, other.spec, other.oppositeTables, other.oppositeColumns)
        columnSet = other.columnSet
    }
}
