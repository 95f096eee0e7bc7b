// SPDX-License-Identifier: Apache-2.0

package import RealmPlatform

/// Walks the elements of a collection in order.
///
/// It is a value: a copy continues independently from the same place. The collection must not change while it is walked.
package struct ElementCursor: Sendable {
    /// The walk over the leaves.
    private var leaves: LeafCursor
    /// The leaf that holds the next element; nil before the first one.
    private var leaf: ColumnLeaf?
    /// The row of the next element in `leaf`.
    private var row = 0
    /// Whether links to tombstones, and to objects that a view hides, are left out.
    private let skipsUnresolved: Bool

    /// Makes a cursor in front of the first element; no node is read yet.
    ///
    /// - Parameters:
    ///   - skipsUnresolved: Whether links to tombstones, and to objects that a view hides, are left out.
    ///   - budget: The nodes that a walk over several trees may visit.
    init(_ tree: BPlusTree, skipsUnresolved: Bool = false, within budget: WalkBudget? = nil) {
        leaves = tree.leaves(within: budget)
        self.skipsUnresolved = skipsUnresolved
    }

    /// Returns the next element, or nil at the end; throws `.corrupt` on damage.
    package mutating func next() throws(StorageError) -> Value? {
        while true {
            if let leaf, row < leaf.count {
                row += 1
                if skipsUnresolved, try leaf.leavesOut(row - 1) { continue }
                return try leaf.value(row - 1)
            }
            guard let (next, _) = try leaves.next() else { return nil }
            leaf = next
            row = 0
        }
    }
}
