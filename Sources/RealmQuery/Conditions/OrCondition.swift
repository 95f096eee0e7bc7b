// SPDX-License-Identifier: Apache-2.0

internal import RealmStorage

/// Some child matches. Each is asked only about the rows that no child before it matched.
final class OrCondition: Condition {
    let children: [any Condition]
    let cost: Double

    /// `children` in the order in which they are tested.
    init(_ children: [any Condition]) {
        self.children = children
        cost = children.reduce(0) { $0 + $1.cost }
    }

    var outline: ConditionOutline { ConditionOutline("any of:", children: children) }

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
