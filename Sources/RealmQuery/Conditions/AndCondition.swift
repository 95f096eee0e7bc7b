// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform
internal import RealmStorage

/// The conjunction of several conditions. Each of them is evaluated only for the rows that the ones before it left.
final class AndCondition: Condition {
    /// The conditions that all have to match, in the order in which they are tested.
    let children: [any Condition]
    /// The sum of the costs of all children, as if every one were tested.
    let cost: Double

    /// Creates the conjunction of conditions.
    ///
    /// - Parameter children: The conditions, in the order in which they shall be tested.
    init(_ children: [any Condition]) {
        self.children = children
        cost = children.reduce(0) { $0 + $1.cost }
    }

    var outline: ConditionOutline { ConditionOutline("all of, in this order:", children: children) }

    /// Returns the rows that all children match; the evaluation ends as soon as no row is left.
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
