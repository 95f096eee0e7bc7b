// SPDX-License-Identifier: Apache-2.0

package import RealmPlatform

/// The distinct strings of an enumerated column: a string leaf, or a B+ tree of them.
///
/// Leaves of such a column hold indexes into this list. It belongs to its table's `Column`, which
/// outlives the leaves that refer to it. Source: docs/format.md, "String".
package final class StringEnumeration: Sendable {
    private let space: NodeSpace
    /// The root of the list, which the column's entry in the spec refers to.
    package let root: Ref

    /// Makes a reader of the list below `root`; no node is read yet.
    init(root: Ref, space: NodeSpace) {
        self.root = root
        self.space = space
    }

    /// Returns the string that a leaf's index means, or nil for null.
    ///
    /// - Throws: `.corrupt` when the list has no such index.
    func string(at index: Int64) throws(StorageError) -> ByteView? {
        let count = try count()
        guard index >= 0, index < count else {
            throw .corrupt(ref: root, reason: "index \(index) into \(count) enumerated strings")
        }
        let (leaf, start) = try leaf(for: Int(index))
        return try leaf.string(Int(index) - start)
    }

    /// Returns the index of a string in the list; nil when the list does not have it.
    ///
    /// - Parameter bytes: The string; nil is null, which the list may have too.
    /// - Complexity: O(length of the list), as the list is in no order.
    func index(of bytes: ByteView?) throws(StorageError) -> Int64? {
        let budget = WalkBudget(space)
        var first = 0
        let count = try count()
        while first < count {
            try budget.spend(at: root)
            let (leaf, start) = try leaf(for: first)
            for row in 0..<leaf.count where try leaf.string(row) == bytes { return Int64(start + row) }
            first = start + leaf.count
        }
        return nil
    }

    /// Returns the number of strings, as the root of the list states it.
    private func count() throws(StorageError) -> Int {
        guard !root.isNone else { return 0 }
        let node = try space.node(at: root)
        return node.isInner ? try BPlusInnerNode(node, space).total : try strings(of: node).count
    }

    /// Returns the leaf that holds string `index`, and the position of its first string.
    ///
    /// - Throws: `.corrupt` when the leaf is shorter than its parents state.
    private func leaf(for index: Int) throws(StorageError) -> (leaf: StringLeaf, start: Int) {
        let (node, start) = try BPlusInnerNode.leafNode(for: index, below: root, space)
        let leaf = try strings(of: node)
        guard index >= start, index &- start < leaf.count else {
            throw BPlusInnerNode.tooShort(node, count: leaf.count)
        }
        return (leaf, start)
    }

    /// Attaches one leaf of the list.
    private func strings(of node: Node) throws(StorageError) -> StringLeaf {
        try node.requireSensibleCount()
        return try StringLeaf(node, space)
    }
}
