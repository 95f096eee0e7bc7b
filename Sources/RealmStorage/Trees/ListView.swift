// SPDX-License-Identifier: Apache-2.0

/// A list or set, read in place: of a property or nested in Mixed.
///
/// Lists and sets of links leave unresolved links out; elsewhere an unresolved link reads as null.
package struct ListView: Sendable {
    /// The elements as they are stored.
    private let tree: BPlusTree
    /// Positions of the visible elements; nil when every element is visible.
    private let visible: [Int]?
    /// How many elements can be seen.
    package let count: Int

    /// `mayHoldUnresolved` says that the target table has tombstones, so that links must be looked through.
    package init(
        root: Ref, space: NodeSpace, shape: ElementShape, mayHoldUnresolved: Bool = false
    ) throws(StorageError) {
        tree = try BPlusTree(root: root, space: space, shape: shape)
        guard shape.type == .link, mayHoldUnresolved else {
            visible = nil
            count = tree.count
            return
        }
        let positions = try ListView.resolvedPositions(tree)
        visible = positions
        count = positions.count
    }

    /// A list nested in Mixed.
    package init(nested root: Ref, space: NodeSpace) throws(StorageError) {
        try self.init(root: root, space: space, shape: .mixed)
    }

    /// Whether there are none.
    package var isEmpty: Bool { count == 0 }
    /// What the elements are.
    package var shape: ElementShape { tree.shape }

    /// The element at `index`, which must be in `0..<count`.
    ///
    /// O(log n). Loops use `elements`, which goes from leaf to leaf.
    package func value(at index: Int) throws(StorageError) -> Value {
        try tree.value(at: visible.map { $0[index] } ?? index)
    }

    /// Where the element at `index` is stored, unresolved links counted; the end for `count`.
    package func storedIndex(of index: Int) -> Int {
        guard let visible else { return index }
        return index < visible.count ? visible[index] : tree.count
    }

    /// The elements in order. A walk that goes on into nested collections gives all of them the same `budget`.
    ///
    /// Throws while walking, not here: no node is read yet.
    package func elements(within budget: WalkBudget? = nil) -> ElementCursor {
        ElementCursor(tree, skipsUnresolved: visible != nil, within: budget)
    }

    /// The leaves, for kernels over whole runs. Unresolved links are in them.
    package func leaves() -> LeafCursor { tree.leaves() }

    /// Where the links to live objects are.
    private static func resolvedPositions(_ tree: BPlusTree) throws(StorageError) -> [Int] {
        var positions: [Int] = []
        var cursor = tree.leaves()
        while let (leaf, start) = try cursor.next() {
            guard case .link(let links) = leaf else { continue }
            for row in 0..<links.count where links.key(row).rawValue >= 0 { positions.append(start + row) }
        }
        return positions
    }
}
