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

    @inline(__always) func attached(_ table: Table, _ leaf: ClusterLeaf) -> AttachedLeaf {
        if let last, last.isOf(table, leaf) { return last }
        return known(table, leaf)
    }

    @inline(never) private func known(_ table: Table, _ leaf: ClusterLeaf) -> AttachedLeaf {
        let found: AttachedLeaf
        if let index = leaves.firstIndex(where: { $0.table === table }) {
            if !leaves[index].isOf(table, leaf) { leaves[index] = AttachedLeaf(table, leaf) }
            found = leaves[index]
        } else {
            found = AttachedLeaf(table, leaf)
            leaves.append(found)
        }
        last = found
        return found
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
    private var columns: [AttachedColumn?]

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
        if let column = columns[position] { return try column.value(row) }
        return try attach(position).value(row)
    }

    @inline(never) private func attach(_ position: Int) throws(StorageError) -> AttachedColumn {
        let column = AttachedColumn(try leaf.attach(table.columns[position]))
        columns[position] = column
        return column
    }
}

/// The values of one column in a leaf. A class, because a leaf has many parts, and a reader of one value should not
/// have to copy them.
private final class AttachedColumn {
    private let values: ColumnLeaf

    init(_ values: ColumnLeaf) { self.values = values }

    func value(_ row: Int) throws(StorageError) -> Value { try values.value(row) }
}
