// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform
internal import RealmStorage

/// Compares integers that are calculated for each object, such as numbers of links, with a constant, a leaf at a time.
final class IntegerCondition: Condition {
    private let operand: any IntegerOperand
    private let relation: Relation
    private let constant: Int64
    private let label: String
    private let cancellation: CancellationCheck

    /// Creates the condition.
    ///
    /// - Parameters:
    ///   - relation: The comparison with the constant.
    ///   - label: The part of the query that the condition implements.
    ///   - cancellation: The check that can stop the query.
    init(
        _ operand: any IntegerOperand, _ relation: Relation, _ constant: Int64, label: String, _ cancellation: CancellationCheck
    ) {
        self.operand = operand
        self.relation = relation
        self.constant = constant
        self.label = label
        self.cancellation = cancellation
    }

    var cost: Double { 20 }
    var outline: ConditionOutline { ConditionOutline("row by row", label: label) }

    func evaluate(_ leaf: ClusterLeaf, _ candidates: Mask) throws(StorageError) -> Mask {
        var integers: [Int64] = []
        integers.reserveCapacity(candidates.count)
        try operand.append(leaf, candidates, to: &integers)
        try cancellation.step(candidates.count)
        switch relation {
        case .equal: return found(candidates, integers) { $0 == constant }
        case .notEqual: return found(candidates, integers) { $0 != constant }
        case .less: return found(candidates, integers) { $0 < constant }
        case .lessOrEqual: return found(candidates, integers) { $0 <= constant }
        case .greater: return found(candidates, integers) { $0 > constant }
        case .greaterOrEqual: return found(candidates, integers) { $0 >= constant }
        }
    }

    func matches(_ row: Row) throws(StorageError) -> Bool {
        guard case .int(let integer) = try operand.value(row) else { return false }
        return relation.holds(integer, constant)
    }

    /// Returns the candidates whose integer passes a test.
    @inline(__always) private func found(_ candidates: Mask, _ integers: [Int64], _ test: (Int64) -> Bool) -> Mask {
        var next = 0
        return candidates.filtered { _ in
            next &+= 1
            return next <= integers.count && test(integers[next &- 1])
        }
    }
}
