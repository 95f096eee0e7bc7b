// SPDX-License-Identifier: Apache-2.0

package import RealmStorage

/// Finds the objects of one class by key and keeps the leaves that were found last: keys that come in order cost little.
///
/// Used by one thread at a time.
package final class ObjectFinder {
    package let table: Table
    private var last: ClusterLeaf?
    /// Leaves by the keys they mostly hold: a full leaf has 256 keys in a row.
    private var kept: [ClusterLeaf?] = []
    private static let keptCount = 64

    package init(_ table: Table) { self.table = table }

    /// The object with `key`, or nil when there is none.
    package func find(_ key: ObjectKey) throws(StorageError) -> Row? {
        guard key.rawValue >= 0 else { return nil }
        if let last, let row = last.row(of: key) { return Row(leaf: last, index: row) }
        let slot = Int(truncatingIfNeeded: key.rawValue >> 8) % ObjectFinder.keptCount
        if !kept.isEmpty, let leaf = kept[slot], let row = leaf.row(of: key) {
            last = leaf
            return Row(leaf: leaf, index: row)
        }
        guard let row = try table.find(key) else { return nil }
        if kept.isEmpty, last != nil { kept = [ClusterLeaf?](repeating: nil, count: ObjectFinder.keptCount) }
        if !kept.isEmpty { kept[slot] = row.leaf }
        last = row.leaf
        return row
    }
}
