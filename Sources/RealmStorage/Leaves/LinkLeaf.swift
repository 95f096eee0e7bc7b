// SPDX-License-Identifier: Apache-2.0

package import RealmPlatform

/// A leaf of links to one table: the object key plus 1 in a cluster, the plain object key in a collection.
///
/// A key below 0 is a link to nothing or to a tombstone; both read as null, and only code that
/// maintains links reads the stored key itself. Source: docs/format.md, "Link".
package struct LinkLeaf: Sendable {
    /// The stored keys, one element per link.
    package let elements: PackedIntegers
    /// The table that all links point to.
    package let targetTable: TableKey
    /// The offset of stored keys: 1 in a cluster, where 0 is null; 0 in a list or set.
    @usableFromInline let shift: Int64
    package var count: Int { elements.count }

    /// Attaches a leaf of links.
    ///
    /// - Parameters:
    ///   - node: The leaf, one node of integers.
    ///   - targetTable: The table that the column links to.
    ///   - inCluster: Whether keys are stored plus one.
    ///   - filter: Hides some of the links; nil when all are shown.
    /// - Throws: `.corrupt` for a node with refs, or one that does not hold integers, and what the filter throws.
    init(_ node: Node, targetTable: TableKey, inCluster: Bool, filter: LinkFilter? = nil) throws(StorageError) {
        guard !node.hasRefs else { throw node.corrupt("expected a leaf of links, found a node with refs") }
        let stored = try node.integers()
        let shift = inCluster ? LinkLeaf.shiftInClusters : 0
        elements = try filter?.visible(stored, of: node.ref, to: targetTable, shift: shift) ?? stored
        self.targetTable = targetTable
        self.shift = shift
    }

    /// Attaches all links of a list or set whose tree is one leaf; nil for a longer one.
    ///
    /// - Parameters:
    ///   - root: The root of the collection, which is not `Ref.none`.
    ///   - targetTable: The table that the column links to.
    /// - Throws: `.corrupt` for a root that is no leaf of links.
    @inlinable
    package init?(ofShortList root: Ref, _ space: NodeSpace, targetTable: TableKey) throws(StorageError) {
        let node = try space.node(at: root)
        guard !node.isInner else { return nil }
        try self.init(ofList: node, space, targetTable: targetTable)
    }

    /// Attaches a leaf of a list or set.
    @usableFromInline
    init(ofList node: Node, _ space: NodeSpace, targetTable: TableKey) throws(StorageError) {
        try self.init(node, targetTable: targetTable, inCluster: false, filter: space.linkFilter)
    }

    /// The offset of keys that are stored in a cluster. Elements below it are null, or links to tombstones.
    package static let shiftInClusters: Int64 = 1

    /// Returns the stored key: `ObjectKey.null`, a live key, or a key of -2 and below for an unresolved link.
    @inlinable package func key(_ row: Int) -> ObjectKey { ObjectKey(elements[row] &- shift) }

    /// Returns the link in `row`, or null when there is none or its target is a tombstone.
    @inlinable package func value(_ row: Int) -> Value {
        let key = key(row)
        return key.rawValue < 0 ? .null : .link(targetTable, key)
    }
}
