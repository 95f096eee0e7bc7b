// SPDX-License-Identifier: Apache-2.0

internal import RealmStorage

/// The leaf of each class that was read last, with its single-valued columns.
///
/// Used by one thread at a time.
final class LeafColumns {
    /// The leaf of the row before, which most often is that of the next.
    private var last: AttachedLeaf?
    /// One per class, in no order: an answer shows few classes.
    private var leaves: [AttachedLeaf] = []

    func attached(_ table: Table, _ leaf: ClusterLeaf) -> AttachedLeaf {
        if let last, last.isOf(table, leaf) { return last }
        let found = known(table, leaf)
        last = found
        return found
    }

    private func known(_ table: Table, _ leaf: ClusterLeaf) -> AttachedLeaf {
        guard let index = leaves.firstIndex(where: { $0.table === table }) else {
            let fresh = AttachedLeaf(table, leaf)
            leaves.append(fresh)
            return fresh
        }
        if !leaves[index].isOf(table, leaf) { leaves[index] = AttachedLeaf(table, leaf) }
        return leaves[index]
    }

    /// The primary key value of an object; nil in a class without one.
    func primaryKey(of row: Row, in table: Table) throws(StorageError) -> Value? {
        guard let position = table.primaryKeyPosition else { return nil }
        return try attached(table, row.leaf).value(position, row.index)
    }
}

/// One leaf whose single-valued columns are attached when they are first asked for.
final class AttachedLeaf {
    let table: Table
    private let leaf: ClusterLeaf
    private var columns: [ColumnLeaf?]

    init(_ table: Table, _ leaf: ClusterLeaf) {
        self.table = table
        self.leaf = leaf
        columns = Array(repeating: nil, count: table.columns.count)
    }

    @inline(__always) func isOf(_ table: Table, _ leaf: ClusterLeaf) -> Bool {
        self.table === table && self.leaf.node.ref == leaf.node.ref && self.leaf.offset == leaf.offset
    }

    /// The value in `row` of the single-valued column at `position` in `table.columns`.
    @inline(__always) func value(_ position: Int, _ row: Int) throws(StorageError) -> Value {
        if let value = try columns[position]?.value(row) { return value }
        return try attach(position).value(row)
    }

    private func attach(_ position: Int) throws(StorageError) -> ColumnLeaf {
        let column = try leaf.attach(table.columns[position])
        columns[position] = column
        return column
    }
}
