// SPDX-License-Identifier: Apache-2.0

internal import RealmStorage

/// Matches everything or nothing.
final class ConstantCondition: Condition {
    let isTrue: Bool

    init(_ isTrue: Bool) { self.isTrue = isTrue }

    var cost: Double { 0 }
    var outline: ConditionOutline { ConditionOutline(isTrue ? "every object" : "no object") }

    func evaluate(_ leaf: ClusterLeaf, _ candidates: Mask) -> Mask { isTrue ? candidates : .none }

    func matches(_ row: Row) -> Bool { isTrue }
}
