// SPDX-License-Identifier: Apache-2.0

/// A B+ tree of values: a list, a set, keys or values of a dictionary, a long backlink list.
///
/// A tree is named by the ref of its root; a root without the inner flag is the only leaf, `Ref.none` is empty.
/// An inner node of n children has n + 2 slots: 0 is a number e (every child but the last holds e elements) or a ref
/// to n - 1 ascending offsets, 1 to n are the children, n + 1 is the total.
/// Source: docs/format.md, "B+ trees".
package struct BPlusTree: Sendable {
    /// The root of the tree; `Ref.none` for an empty one.
    package let root: Ref
    /// The space that the nodes are read in.
    package let space: NodeSpace
    /// What the leaves look like.
    package let shape: ElementShape
    /// The number of elements, as the root says.
    package let count: Int

    /// A tree by its root. Reads the root to learn the count. Throws `.corrupt` when that is no node of such a tree.
    package init(root: Ref, space: NodeSpace, shape: ElementShape) throws(StorageError) {
        self.root = root
        self.space = space
        self.shape = shape
        guard !root.isNone else {
            count = 0
            return
        }
        let node = try space.node(at: root)
        count =
            node.isInner
            ? try BPlusInnerNode(node, space).total
            : try ColumnLeaf(node, space, shape, inCluster: false).count
    }

    /// Whether there are no elements.
    package var isEmpty: Bool { count == 0 }

    /// An attached leaf and a row that it has.
    package struct Place: Sendable {
        /// The leaf that holds the element.
        package let leaf: ColumnLeaf
        /// In `0..<leaf.count`, whatever the nodes above the leaf say.
        package let row: Int
        /// The position of the leaf's first element in the tree.
        package let start: Int
        /// The node of the leaf.
        package let ref: Ref
    }

    /// The leaf that holds element `index` and its row there; O(depth).
    ///
    /// The only way from a position to a leaf: inner nodes of a damaged file may promise what their leaves do not have.
    package func place(of index: Int) throws(StorageError) -> Place {
        let (node, start) = try BPlusInnerNode.leafNode(for: index, below: root, space)
        let leaf = try ColumnLeaf(node, space, shape, inCluster: false)
        let row = index &- start
        guard row >= 0, row < leaf.count else {
            throw BPlusInnerNode.tooShort(node, count: leaf.count)
        }
        return Place(leaf: leaf, row: row, start: start, ref: node.ref)
    }

    /// The element at `index`, which must be in `0..<count`; O(depth).
    package func value(at index: Int) throws(StorageError) -> Value {
        let place = try place(of: index)
        return try place.leaf.value(place.row)
    }

    /// The leaves in order. A walk over several trees gives all of them the same `budget`.
    package func leaves(within budget: WalkBudget? = nil) -> LeafCursor { LeafCursor(self, within: budget) }

    /// All elements of a tree of plain integers, as the object keys that backlinks and indexes mean by them.
    package func objectKeys(within budget: WalkBudget? = nil) throws(StorageError) -> [ObjectKey] {
        var keys: [ObjectKey] = []
        var cursor = leaves(within: budget)
        while let (leaf, _) = try cursor.next() {
            guard case .int(let integers) = leaf else { continue }
            for row in 0..<integers.count { keys.append(ObjectKey(integers.elements[row])) }
        }
        return keys
    }
}
