// SPDX-License-Identifier: Apache-2.0

/// What changes the rows of a table, for one state of its columns.
///
/// Kept by a transaction for each table that it changes objects in, and made anew when the columns of the table change.
final class TableWriters {
    /// The columns that the writers are for.
    let columnSet: ColumnSet
    /// Changes the objects of the table.
    let cluster: ClusterWriter
    /// Lists of distinct strings by position in the spec.
    let enumerations: [(position: Int, writer: EnumerationWriter)]
    /// Changes the leaves of columns, by leaf index.
    private let leaves: [Int: LeafWriter]
    /// The position of the primary key among the public columns.
    let primaryKeyPosition: Int?
    /// The public columns that may have an index of single values.
    let indexable: [(position: Int, column: Column)]
    /// Those of search indexes by leaf index, made when they are needed.
    var indexes: [Int: (column: Column, writer: ColumnIndexWriter)] = [:]

    /// Writers for the present columns of a table.
    init(_ writes: WriteSpace, _ state: TableState, shift: Int) {
        columnSet = state.columnSet
        var enumerations: [(position: Int, writer: EnumerationWriter)] = []
        var leaves: [Int: LeafWriter] = [:]
        var columns: [ClusterWriter.Column] = []
        for (position, column) in (state.columns + state.backlinks).enumerated() {
            let shape = TableWriters.shape(column)
            var enumeration: EnumerationWriter?
            if column.enumeration != nil, let root = state.spec.enumerations?[position] {
                let writer = EnumerationWriter(writes, root: root)
                enumerations.append((position, writer))
                enumeration = writer
            }
            let leaf = LeafWriter(writes, shape, inCluster: true, enumeration: enumeration)
            leaves[column.leafIndex] = leaf
            columns.append(ClusterWriter.Column(leafIndex: column.leafIndex, shape: shape, leaf: leaf))
        }
        self.enumerations = enumerations
        self.leaves = leaves
        primaryKeyPosition = state.primaryKeyColumn.flatMap { key in
            state.columns.firstIndex { $0.leafIndex == key.leafIndex }
        }
        indexable = state.columns.enumerated().compactMap { $1.collection == nil && $1.type != .link ? ($0, $1) : nil }
        cluster = ClusterWriter(writes, columns: columns, shift: shift)
    }

    /// What the leaves of a column hold.
    static func shape(_ column: Column) -> LeafShape {
        column.collection == nil && column.type != .backlink ? .values(column.elementShape) : .refs
    }

    /// The writer of a column's leaves.
    func leaf(_ column: Column) -> LeafWriter? { leaves[column.leafIndex] }
}
