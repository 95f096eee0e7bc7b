// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform

/// The writers of the objects, leaves and indexes of one table, for one state of its columns.
///
/// A transaction keeps one for each table in which it changes objects, and makes a new one when the
/// columns of the table change.
final class TableWriters {
    /// The columns that the writers are made for.
    let columnSet: TableDefinition.ColumnSet
    /// The writer of the cluster tree.
    let cluster: ClusterWriter
    /// The writers of the lists of distinct strings, with the position of their column in the spec.
    let enumerations: [(position: Int, writer: EnumerationWriter)]
    /// The writers of the leaves of columns, by leaf index.
    private let leaves: [Int: LeafWriter]
    /// The position of the primary key among the public columns.
    let primaryKeyPosition: Int?
    /// The public columns that may have an index of single values, with their positions.
    let indexable: [(position: Int, column: Column)]
    /// The writers of search indexes by leaf index, made when they are needed.
    var indexes: [Int: (column: Column, writer: ColumnIndexWriter)] = [:]

    /// Makes writers for the present columns of a table.
    ///
    /// - Parameters:
    ///   - writes: The nodes of the transaction.
    ///   - state: The present state of the table.
    ///   - shift: log2 of the capacity of cluster leaves.
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

    /// Returns what the leaves of a column hold: refs for collections and backlinks, else values.
    static func shape(_ column: Column) -> LeafWriter.LeafShape {
        column.collection == nil && column.type != .backlink ? .values(column.elementShape) : .refs
    }

    /// Returns the writer of a column's leaves; nil for a column that this state of the table does not have.
    func leaf(_ column: Column) -> LeafWriter? { leaves[column.leafIndex] }
}
