// SPDX-License-Identifier: Apache-2.0

internal import RealmStorage

/// One leaf whose single-valued columns are attached when they are first asked for.
final class AttachedLeaf {
    /// The class of the objects in the leaf.
    let table: Table
    private let leaf: ClusterLeaf
    private var columns: [AttachedColumn?]

    /// A leaf none of whose columns were read yet.
    init(_ table: Table, _ leaf: ClusterLeaf) {
        self.table = table
        self.leaf = leaf
        columns = Array(repeating: nil, count: table.columns.count)
    }

    /// Whether this is the leaf, which is compared by its ref.
    @inline(__always) func isOf(_ table: Table, _ leaf: ClusterLeaf) -> Bool {
        self.table === table && self.leaf.node.ref == leaf.node.ref && self.leaf.offset == leaf.offset
    }

    /// The value in `row` of the single-valued column at `position` in `table.columns`.
    @inline(__always) func value(_ position: Int, _ row: Int) throws(StorageError) -> Value {
        if let column = columns[position] { return try column.value(row) }
        return try attach(position).value(row)
    }

    @inline(never) private func attach(_ position: Int) throws(StorageError) -> AttachedColumn {
        let column = AttachedColumn(try leaf.attach(table.columns[position]))
        columns[position] = column
        return column
    }
}
