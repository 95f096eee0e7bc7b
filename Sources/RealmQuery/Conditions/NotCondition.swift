// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform
internal import RealmStorage

/// The negation of a condition: it matches exactly the objects that the condition does not match, null or not.
final class NotCondition: Condition {
    /// The condition that must not hold.
    let child: any Condition

    /// Creates the negation of another condition.
    ///
    /// - Parameter child: The condition that must not hold.
    init(_ child: any Condition) { self.child = child }

    var cost: Double { child.cost }
    var outline: ConditionOutline { ConditionOutline("not:", children: [child]) }

    func evaluate(_ leaf: ClusterLeaf, _ candidates: Mask) throws(StorageError) -> Mask {
        candidates.subtracting(try child.evaluate(leaf, candidates))
    }

    func matches(_ row: Row) throws(StorageError) -> Bool { try !child.matches(row) }
}
