// SPDX-License-Identifier: Apache-2.0

package import RealmPlatform

/// A list or set, read in place: of a property or nested in Mixed.
///
/// Lists and sets of links leave unresolved links out, and those that a view hides, so that positions are those of the visible
/// elements; elsewhere such a link reads as null. A value of this type borrows from its snapshot.
package struct ListView: Sendable {
    /// The tree of the elements as they are stored, unresolved links included.
    private let tree: BPlusTree
    /// Positions of the visible elements; nil when every element is visible.
    private let visible: [Int]?
    /// How many elements are visible.
    package let count: Int

    /// Makes a view of a list or set from its root.
    ///
    /// - Parameters:
    ///   - root: The root, or `Ref.none` for an empty collection.
    ///   - shape: The type of the elements.
    ///   - mayHoldUnresolved: Whether the target table has tombstones, so that all links are read
    ///     to find the visible ones.
    /// - Throws: `.corrupt` for a damaged tree.
    package init(
        root: Ref, space: NodeSpace, shape: ElementShape, mayHoldUnresolved: Bool = false
    ) throws(StorageError) {
        tree = try BPlusTree(root: root, space: space, shape: shape)
        let mayLeaveOut =
            switch shape.type {
            case .link: mayHoldUnresolved || space.mayHideLinks(to: shape.targetTable)
            case .mixed: space.linkFilter != nil
            default: false
            }
        guard mayLeaveOut else {
            visible = nil
            count = tree.count
            return
        }
        let positions = try ListView.visiblePositions(tree)
        visible = positions
        count = positions.count
    }

    /// Makes a view of a list that is nested in Mixed.
    package init(nested root: Ref, space: NodeSpace) throws(StorageError) {
        try self.init(root: root, space: space, shape: .mixed)
    }

    /// Whether no element is visible.
    package var isEmpty: Bool { count == 0 }
    /// The type of the elements, and whether they may be null.
    package var shape: ElementShape { tree.shape }

    /// Returns the element at `index`, which must be in `0..<count`.
    ///
    /// - Complexity: O(log n). Loops use `elements`, which walks from leaf to leaf.
    package func value(at index: Int) throws(StorageError) -> Value {
        try tree.value(at: visible.map { $0[index] } ?? index)
    }

    /// Returns the position at which the element at `index` is stored, unresolved links counted;
    /// for `count`, the end of the tree.
    package func storedIndex(of index: Int) -> Int {
        guard let visible else { return index }
        return index < visible.count ? visible[index] : tree.count
    }

    /// Returns a cursor over the visible elements in order. No node is read yet, so damage is reported while walking.
    ///
    /// - Parameter budget: The nodes that may be visited in a walk that continues into nested
    ///   collections, which share it; nil for a walk of this collection alone.
    package func elements(within budget: WalkBudget? = nil) -> ElementCursor {
        ElementCursor(tree, skipsUnresolved: visible != nil, within: budget)
    }

    /// Returns the positions of the elements that are not left out.
    private static func visiblePositions(_ tree: BPlusTree) throws(StorageError) -> [Int] {
        var positions: [Int] = []
        var cursor = tree.leaves()
        while let (leaf, start) = try cursor.next() {
            for row in 0..<leaf.count where try !leaf.leavesOut(row) { positions.append(start + row) }
        }
        return positions
    }
}
