// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform
internal import RealmStorage

/// The condition that an embedded object of a view has to fulfil to be in it: that one which owns it is in the view.
///
/// What it tests is not described in plans: users of the view must not learn it.
final class OwnerCondition: Condition {
    /// The rule of the class, which remembers what it has found out about a leaf.
    private let rule: ObjectRule
    /// Stops the evaluation.
    private let cancellation: CancellationCheck

    /// Creates the condition.
    ///
    /// - Parameters:
    ///   - rule: The rule of the class.
    ///   - cancellation: The check that can stop the evaluation.
    init(_ rule: ObjectRule, _ cancellation: CancellationCheck) {
        self.rule = rule
        self.cancellation = cancellation
    }

    // Owners are found by look-ups in other classes.
    var cost: Double { 100 }
    var outline: ConditionOutline { ConditionOutline("what may be seen") }

    func evaluate(_ leaf: ClusterLeaf, _ candidates: Mask) throws(StorageError) -> Mask {
        try cancellation.step(candidates.count)
        return try candidates.isEmpty ? .none : rule.shown(in: leaf) & candidates
    }

    func matches(_ row: Row) throws(StorageError) -> Bool { try rule.shows(row) }
}
