// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform
internal import RealmStorage

/// The disjunction of several conditions. Each of them is evaluated only for the rows that no condition before it matched.
final class OrCondition: Condition {
    /// The conditions of which one has to match, in the order in which they are tested.
    let children: [any Condition]
    /// The sum of the costs of all children, as if every one were tested.
    let cost: Double

    /// Creates the disjunction of conditions.
    ///
    /// - Parameter children: The conditions, in the order in which they shall be tested.
    init(_ children: [any Condition]) {
        self.children = children
        cost = children.reduce(0) { $0 + $1.cost }
    }

    var outline: ConditionOutline { ConditionOutline("any of:", children: children) }

    /// Returns the rows that at least one child matches; the evaluation ends as soon as every row is found.
    func evaluate(_ leaf: ClusterLeaf, _ candidates: Mask) throws(StorageError) -> Mask {
        var open = candidates
        var found = Mask.none
        for child in children {
            let matches = try child.evaluate(leaf, open)
            found = found | matches
            open = open.subtracting(matches)
            if open.isEmpty { break }
        }
        return found
    }

    func matches(_ row: Row) throws(StorageError) -> Bool {
        for child in children where try child.matches(row) { return true }
        return false
    }
}
