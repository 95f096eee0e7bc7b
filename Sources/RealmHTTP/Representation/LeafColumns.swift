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

    /// The columns of a leaf, which is most often the one that was asked for last.
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
