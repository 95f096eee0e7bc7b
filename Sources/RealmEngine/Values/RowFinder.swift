// SPDX-License-Identifier: Apache-2.0

package import RealmStorage

/// Finds objects of one class by key, remembering the leaf it looked into last: keys that come in order cost little.
///
/// Used by one thread at a time.
package final class RowFinder {
    /// The table that is searched.
    private let table: Table
    /// The leaf of the last object that was found.
    private var leaf: ClusterLeaf?

    /// Finds objects of `table`, whose snapshot has to be held meanwhile.
    package init(_ table: Table) { self.table = table }

    /// The object of a key, or nil.
    package func find(_ key: ObjectKey) throws(StorageError) -> Row? {
        if let leaf, let index = leaf.row(of: key) { return Row(leaf: leaf, index: index) }
        guard let row = try table.find(key) else { return nil }
        leaf = row.leaf
        return row
    }
}
