// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform
internal import RealmStorage

/// The leaf of each class that was read last, with its attached columns.
///
/// Rows come in the order of their keys mostly, so the next row is most often in the same leaf. One
/// value serves one response, on one thread at a time.
final class LeafColumns {
    /// The leaf of the row that was read last, of any class; nil before the first row.
    private var last: AttachedLeaf?
    /// One leaf of each other class, in no particular order: a response shows few classes.
    private var others: [AttachedLeaf] = []

    /// Returns the columns of a leaf.
    ///
    /// - Complexity: O(1) for the leaf that was read last, otherwise O(n) in the number of classes
    ///   that the response shows.
    @inline(__always) func attached(_ table: Table, _ leaf: ClusterLeaf) -> AttachedLeaf {
        if let last, last.isOf(table, leaf) { return last }
        return known(table, leaf)
    }

    /// Finds the leaf among those of other classes, or replaces the one of its class.
    @inline(never) private func known(_ table: Table, _ leaf: ClusterLeaf) -> AttachedLeaf {
        if last?.table !== table { changeClass(to: table) }
        if let last, last.isOf(table, leaf) { return last }
        // The memory of the class's last leaf is used again, unless another object is still reading it: the object that contains
        // this one may be of the same class.
        if isKnownUniquelyReferenced(&last), let last {
            last.reuse(for: leaf)
            return last
        }
        let attached = AttachedLeaf(table, leaf)
        last = attached
        return attached
    }

    /// Makes the leaf of another class the last one; nil if none of that class was read.
    private func changeClass(to table: Table) {
        let previous = last
        last = others.firstIndex { $0.table === table }.map { others.remove(at: $0) }
        if let previous { others.append(previous) }
    }

    /// Returns the primary key of an object.
    ///
    /// - Returns: The value, which may be null; nil in a class without primary key.
    /// - Throws: `StorageError` for a damaged file.
    func primaryKey(of row: Row, in table: Table) throws(StorageError) -> Value? {
        try attached(table, row.leaf).primaryKey(row.index)
    }
}
