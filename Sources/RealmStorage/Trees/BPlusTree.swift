// SPDX-License-Identifier: Apache-2.0

package import RealmPlatform

/// A B+ tree of values: a list, a set, keys or values of a dictionary, a long backlink list.
///
/// A tree is named by the ref of its root; a root without the inner flag is the only leaf, `Ref.none` is an empty tree. An
/// inner node of n children has n + 2 slots: 0 is a number e (every child but the last holds e elements) or a ref to n - 1
/// ascending offsets, 1 to n are the children, n + 1 is the total. A value of this type reads nodes on demand, and is valid
/// while its snapshot or transaction is. Source: docs/format.md, "B+ trees".
package struct BPlusTree: Sendable {
    /// The root of the tree; `Ref.none` for an empty one.
    package let root: Ref
    package let space: NodeSpace
    /// The type of the values in the leaves.
    package let shape: ElementShape
    /// The number of elements, as the root states it.
    package let count: Int

    /// Makes a tree from its root, which is read to learn the count.
    ///
    /// - Parameters:
    ///   - root: The root, or `Ref.none` for an empty tree.
    ///   - shape: The type of the values, and whether they may be null.
    /// - Throws: `.corrupt` when the root is not a node of such a tree.
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

    /// Returns the number of elements of a tree whose root states it without being attached as a leaf: one leaf of numbers or
    /// links in a space that hides none of them; nil for other trees.
    ///
    /// - Parameters:
    ///   - root: The root, which is not `Ref.none`.
    ///   - shape: The type of the elements.
    /// - Throws: `.corrupt` when the root cannot be a node.
    package static func plainCount(_ root: Ref, _ space: NodeSpace, _ shape: ElementShape) throws(StorageError) -> Int? {
        switch shape.type {
        case .int where !shape.isNullable: break
        case .link where !space.mayHideLinks(to: shape.targetTable): break
        case .double where !shape.isNullable: break
        default: return nil
        }
        let node = try space.node(at: root)
        return node.isInner || node.hasRefs || node.widthType != 0 ? nil : node.count
    }

    /// Whether the tree has no elements.
    package var isEmpty: Bool { count == 0 }

    /// An attached leaf and a row that it has.
    ///
    /// The row was checked against the leaf itself, so it may be read without another check.
    package struct Place: Sendable {
        /// The attached leaf that holds the element.
        package let leaf: ColumnLeaf
        /// The row, in `0..<leaf.count`, whatever the nodes above the leaf state.
        package let row: Int
        /// The position of the leaf's first element in the tree.
        package let start: Int
        /// The ref of the leaf's node.
        package let ref: Ref
    }

    /// Returns the leaf that holds element `index`, and its row there.
    ///
    /// This is the only way from a position to a leaf: inner nodes of a damaged file may state
    /// counts that their leaves do not have.
    ///
    /// - Throws: `.corrupt` when the leaf does not have the element.
    /// - Complexity: O(depth).
    package func place(of index: Int) throws(StorageError) -> Place {
        let (node, start) = try BPlusInnerNode.leafNode(for: index, below: root, space)
        let leaf = try ColumnLeaf(node, space, shape, inCluster: false)
        let row = index &- start
        guard row >= 0, row < leaf.count else {
            throw BPlusInnerNode.tooShort(node, count: leaf.count)
        }
        return Place(leaf: leaf, row: row, start: start, ref: node.ref)
    }

    /// Returns the element at `index`, which must be in `0..<count`.
    ///
    /// - Throws: `.corrupt` when the leaf does not have the element.
    /// - Complexity: O(depth).
    package func value(at index: Int) throws(StorageError) -> Value {
        let place = try place(of: index)
        return try place.leaf.value(place.row)
    }

    /// Returns a cursor over the leaves in order; no node is read yet.
    ///
    /// - Parameter budget: The nodes that may be visited in a walk over several trees, which share
    ///   it; nil for a walk of this tree alone.
    package func leaves(within budget: WalkBudget? = nil) -> LeafCursor { LeafCursor(self, within: budget) }

    /// Returns all elements of a tree of plain integers as object keys, which they are in backlink lists and in indexes.
    ///
    /// - Parameter budget: The nodes that may be visited in a walk over several trees, which share
    ///   it; nil for a walk of this tree alone.
    /// - Throws: `.corrupt` for a damaged tree.
    /// - Complexity: O(count), in time and memory.
    package func objectKeys(within budget: WalkBudget? = nil) throws(StorageError) -> [ObjectKey] {
        var keys: [ObjectKey] = []
        // The root of a damaged tree may state any number.
        keys.reserveCapacity(min(count, 1 << 20))
        var cursor = leaves(within: budget)
        while let (leaf, _) = try cursor.next() {
            guard case .int(let integers) = leaf else { continue }
            let elements = integers.elements
            keys.append(contentsOf: (0..<integers.count).lazy.map { ObjectKey(elements[$0]) })
        }
        return keys
    }
}
