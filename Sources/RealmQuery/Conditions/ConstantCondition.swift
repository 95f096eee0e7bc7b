// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform
internal import RealmStorage

/// A condition that every object fulfils, or none: `TRUEPREDICATE`, or a comparison whose result the binder knows.
final class ConstantCondition: Condition {
    /// Whether every object matches; otherwise no object does.
    let isTrue: Bool

    /// Creates a condition whose result does not depend on the object.
    ///
    /// - Parameter isTrue: Whether every object matches; otherwise none does.
    init(_ isTrue: Bool) { self.isTrue = isTrue }

    var cost: Double { 0 }
    var outline: ConditionOutline { ConditionOutline(isTrue ? "every object" : "no object") }

    func evaluate(_ leaf: ClusterLeaf, _ candidates: Mask) -> Mask { isTrue ? candidates : .none }

    func matches(_ row: Row) -> Bool { isTrue }
}
