// SPDX-License-Identifier: Apache-2.0

/// Walks the elements of a collection in order.
///
/// A value type: a copy goes on by itself from the same place. The collection must not change while it is walked.
package struct ElementCursor: Sendable {
    /// Walks the leaves.
    private var leaves: LeafCursor
    /// The leaf with the next element.
    private var leaf: ColumnLeaf?
    /// The row of the next element.
    private var row = 0
    /// Whether links to tombstones are left out.
    private let skipsUnresolved: Bool

    /// A cursor in front of the first element.
    init(_ tree: BPlusTree, skipsUnresolved: Bool = false, within budget: WalkBudget? = nil) {
        leaves = tree.leaves(within: budget)
        self.skipsUnresolved = skipsUnresolved
    }

    /// The next element, or nil at the end. Throws `.corrupt` on damage.
    package mutating func next() throws(StorageError) -> Value? {
        while true {
            if let leaf, row < leaf.count {
                row += 1
                if skipsUnresolved, case .link(let links) = leaf, links.key(row - 1).rawValue < 0 { continue }
                return try leaf.value(row - 1)
            }
            guard let (next, _) = try leaves.next() else { return nil }
            leaf = next
            row = 0
        }
    }
}
