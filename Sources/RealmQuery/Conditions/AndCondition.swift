// SPDX-License-Identifier: Apache-2.0

internal import RealmStorage

/// All children match. Each is asked only about the rows that the ones before it left.
final class AndCondition: Condition {
    let children: [any Condition]
    let cost: Double

    /// `children` in the order in which they are tested.
    init(_ children: [any Condition]) {
        self.children = children
        cost = children.reduce(0) { $0 + $1.cost }
    }

    var outline: ConditionOutline { ConditionOutline("all of, in this order:", children: children) }

    func evaluate(_ leaf: ClusterLeaf, _ candidates: Mask) throws(StorageError) -> Mask {
        var remaining = candidates
        for child in children {
            remaining = try child.evaluate(leaf, remaining)
            if remaining.isEmpty { break }
        }
        return remaining
    }

    func matches(_ row: Row) throws(StorageError) -> Bool {
        for child in children where try !child.matches(row) { return false }
        return true
    }
}
