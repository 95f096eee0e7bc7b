// SPDX-License-Identifier: Apache-2.0

/// Walks the elements of a collection in order.
package struct ElementCursor: Sendable {
    private var leaves: LeafCursor
    private var leaf: ColumnLeaf?
    private var row = 0
    private let skipsUnresolved: Bool

    init(_ tree: BPlusTree, skipsUnresolved: Bool = false, within budget: WalkBudget? = nil) {
        leaves = tree.leaves(within: budget)
        self.skipsUnresolved = skipsUnresolved
    }

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
