// SPDX-License-Identifier: Apache-2.0

package import RealmPlatform
package import RealmStorage

/// Finds the objects of one class by key, and keeps the leaves that were found last.
///
/// Keys that come in order, or that lead to few leaves, are found without a walk down the tree. A
/// finder is used by one thread at a time.
package final class ObjectFinder {
    package let table: Table
    /// The cluster leaf in which the last object was found, which is tried first.
    private var last: ClusterLeaf?
    /// Leaves in slots that follow from the keys which they mostly hold: a full leaf has 256
    /// consecutive keys. Allocated when a second object is looked up in the tree.
    private var kept: [ClusterLeaf?] = []
    /// Limits the leaves that the finders of a query keep, all of them together; nil for no limit but that of this finder.
    private let cancellation: CancellationCheck?
    /// The number of leaves that were not kept since the last growth.
    private var misses = 0

    /// Creates a finder for the objects of a class; nothing is read from the file yet.
    package convenience init(_ table: Table) { self.init(table, nil) }

    /// Creates a finder for a part of a query, whose check limits the leaves that all of them keep.
    init(_ table: Table, _ cancellation: CancellationCheck?) {
        self.table = table
        self.cancellation = cancellation
    }

    /// Returns the object with a key.
    ///
    /// - Parameter key: The key; a null or negative one is never found.
    /// - Returns: The object, or nil when there is none.
    /// - Throws: A storage error when the file is damaged.
    /// - Complexity: O(log n) in the number of objects, O(1) in a leaf that is kept.
    package func find(_ key: ObjectKey) throws(StorageError) -> Row? {
        guard key.rawValue >= 0 else { return nil }
        if let last, let row = last.row(of: key) { return try table.visible(Row(leaf: last, index: row)) }
        if !kept.isEmpty, let leaf = kept[slot(of: key)], let row = leaf.row(of: key) {
            last = leaf
            return try table.visible(Row(leaf: leaf, index: row))
        }
        guard let row = try table.find(key) else { return nil }
        if last != nil { keep(row.leaf, for: key) }
        last = row.leaf
        return row
    }

    /// The slot of the leaf that has a key.
    private func slot(of key: ObjectKey) -> Int {
        // The keys of some classes are spread, so that bits 8 to 15 are 0.
        Int(truncatingIfNeeded: (key.rawValue >> 8) ^ (key.rawValue >> 16)) & (kept.count - 1)
    }

    /// Keeps a leaf, and makes room for more leaves when they drive one another out.
    private func keep(_ leaf: ClusterLeaf, for key: ObjectKey) {
        if let count = KeptLeaves.grownCount(from: kept.count, misses: &misses, objectCount: table.count),
            cancellation?.takesLeaves(count - kept.count) ?? true
        {
            kept = [ClusterLeaf?](repeating: nil, count: count)
        }
        if !kept.isEmpty { kept[slot(of: key)] = leaf }
    }
}
