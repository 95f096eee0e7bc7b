// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform
internal import RealmStorage

/// The condition that an object of a view has to fulfil to be in it.
///
/// It reads the version as it is, also where it follows links that the view hides. Plans do not describe its test: users of the
/// view must not learn it.
final class RuleCondition: Condition {
    /// The condition of the rule, bound to the whole version.
    let inner: any Condition
    /// The space of the whole version.
    private let space: NodeSpace

    /// Creates the condition.
    ///
    /// - Parameters:
    ///   - inner: The condition of the rule, bound to the whole version.
    ///   - space: The space of that version.
    init(_ inner: any Condition, in space: NodeSpace) {
        self.inner = inner
        self.space = space
    }

    var cost: Double { inner.cost }
    var outline: ConditionOutline { ConditionOutline("row rule") }

    func evaluate(_ leaf: ClusterLeaf, _ candidates: Mask) throws(StorageError) -> Mask {
        try inner.evaluate(leaf.read(in: space), candidates)
    }

    func matches(_ row: Row) throws(StorageError) -> Bool {
        try inner.matches(Row(leaf: row.leaf.read(in: space), index: row.index))
    }
}
