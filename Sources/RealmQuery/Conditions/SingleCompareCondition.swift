// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform
internal import RealmStorage

/// Compares two operands that have exactly one value each, a leaf at a time.
final class SingleCompareCondition: Condition {
    private let left: any SingleOperand
    private let right: any SingleOperand
    private let comparator: Comparator
    private let label: String
    private let cancellation: CancellationCheck
    /// Whether the values may be long texts, so that the steps of every single comparison are counted.
    private let mayBeLong: Bool

    /// Creates the condition that compares two operands of one value each.
    ///
    /// - Parameters:
    ///   - comparator: The way in which two values are compared.
    ///   - label: The part of the query that the condition implements.
    ///   - cancellation: The check that can stop the query.
    init(
        _ left: any SingleOperand, _ comparator: Comparator, _ right: any SingleOperand, label: String,
        _ cancellation: CancellationCheck
    ) {
        self.left = left
        self.right = right
        self.comparator = comparator
        self.label = label
        self.cancellation = cancellation
        mayBeLong = left.type.mayBeLong || right.type.mayBeLong
    }

    var cost: Double { 20 }
    var outline: ConditionOutline { ConditionOutline("row by row", label: label) }

    /// Reads the values of both operands for all candidates of the leaf, then compares them in pairs.
    func evaluate(_ leaf: ClusterLeaf, _ candidates: Mask) throws(StorageError) -> Mask {
        // A query may have thousands of comparisons, so none of them keeps its values.
        var leftValues: [Value] = []
        var rightValues: [Value] = []
        leftValues.reserveCapacity(candidates.count)
        rightValues.reserveCapacity(candidates.count)
        try left.append(leaf, candidates, to: &leftValues)
        try right.append(leaf, candidates, to: &rightValues)
        var found = Mask.none
        var index = 0
        guard mayBeLong else {
            try cancellation.step(candidates.count)
            candidates.forEach { row in
                if comparator.holds(leftValues[index], rightValues[index]) { found[row] = true }
                index += 1
            }
            return found
        }
        try candidates.forEach { row throws(StorageError) in
            if try holds(leftValues[index], rightValues[index]) { found[row] = true }
            index += 1
        }
        return found
    }

    func matches(_ row: Row) throws(StorageError) -> Bool { try holds(try left.value(row), try right.value(row)) }

    /// Compares two values, and counts the steps of the query that this takes, so that long texts can be cancelled.
    @inline(__always) private func holds(_ left: Value, _ right: Value) throws(StorageError) -> Bool {
        try cancellation.step(for: left, and: right)
        return comparator.holds(left, right, cancellation)
    }
}
