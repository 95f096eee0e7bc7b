// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform
internal import RealmStorage

/// Tests the objects that one step of a path leads to: that one of them fulfils a condition, or that all do.
///
/// A longer path is such a condition on the class that its first step leads to, and so on.
final class LinkedCondition: Condition {
    /// The number of linked objects that have to fulfil the condition.
    enum Amount {
        /// At least one.
        case any
        case all
    }

    private let reader: StepReader
    private let amount: Amount
    private let test: TargetTest
    private let label: String
    private let cancellation: CancellationCheck

    /// Creates a condition on linked objects.
    ///
    /// - Parameters:
    ///   - step: The links that are followed.
    ///   - amount: The number of linked objects that have to fulfil the condition; ignored for a step of one link.
    ///   - test: The test of a linked object, used here alone. For a step of one link it decides a null link, too.
    ///   - label: The part of the query that the condition implements.
    ///   - cancellation: The check that can stop the query.
    init(_ step: LinkStep, _ amount: Amount, _ test: TargetTest, label: String, _ cancellation: CancellationCheck) {
        reader = StepReader(step, cancellation)
        self.amount = amount
        self.test = test
        self.label = label
        self.cancellation = cancellation
    }

    var cost: Double { reader.step.kind == .link ? test.cost : 30 + 2 * test.cost }

    var outline: ConditionOutline { ConditionOutline("linked objects", label: label) }

    func evaluate(_ leaf: ClusterLeaf, _ candidates: Mask) throws(StorageError) -> Mask {
        try test.expect(candidates.count)
        switch reader.step.kind {
        case .link: return try evaluateLinks(leaf, candidates)
        case .list where !reader.step.hasSelector, .set where !reader.step.hasSelector:
            return try evaluateLists(leaf, candidates)
        default:
            return try candidates.filter { row throws(StorageError) in try holds(Row(leaf: leaf, index: row)) }
        }
    }

    func matches(_ row: Row) throws(StorageError) -> Bool {
        try test.expect(1)
        return try holds(row)
    }

    /// Tests the objects that a leaf of single links leads to.
    private func evaluateLinks(_ leaf: ClusterLeaf, _ candidates: Mask) throws(StorageError) -> Mask {
        guard case .link(let links) = try leaf.attach(reader.step.column) else { return .none }
        return try candidates.filter { row throws(StorageError) in
            let key = links.key(row)
            return key.rawValue < 0 ? test.missing : try test.holds(key)
        }
    }

    /// Tests the objects that the lists of a leaf lead to.
    private func evaluateLists(_ leaf: ClusterLeaf, _ candidates: Mask) throws(StorageError) -> Mask {
        let roots = try leaf.attachRefs(reader.step.column)
        return try candidates.filter { row throws(StorageError) in
            try cancellation.step()
            let root = try roots.optionalRef(row, "a collection of '\(reader.step.label)'")
            return try decide { (body) throws(StorageError) in
                _ = try reader.forEachElement(at: root, in: leaf.space, body)
            }
        }
    }

    /// Tests the objects that one object leads to.
    private func holds(_ row: Row) throws(StorageError) -> Bool {
        if reader.step.kind == .link {
            let key = try reader.link(row)
            return key.rawValue < 0 ? test.missing : try test.holds(key)
        }
        return try decide { (body) throws(StorageError) in _ = try reader.forEachTarget(of: row, body) }
    }

    /// Tests linked objects until the outcome is known.
    ///
    /// - Parameter targets: Calls a closure with their keys, until that returns false.
    @inline(__always)
    private func decide(
        _ targets: ((ObjectKey) throws(StorageError) -> Bool) throws(StorageError) -> Void
    ) throws(StorageError) -> Bool {
        var outcome = amount == .all
        try targets { key throws(StorageError) in
            guard try test.holds(key) != outcome else { return true }
            outcome.toggle()
            return false
        }
        return outcome
    }
}
