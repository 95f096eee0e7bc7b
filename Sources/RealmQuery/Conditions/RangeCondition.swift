// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform
internal import RealmStorage

/// Tests whether an int property of the base class lies within two limits: `BETWEEN` with two ints.
final class RangeCondition: Condition {
    /// The least and the greatest value that match, both included.
    let limits: ClosedRange<Int64>
    /// The column of the property whose values are tested.
    let column: Column
    private let reader: ColumnReader
    private let label: String

    /// Creates the condition that tests whether an int lies within two limits.
    ///
    /// - Parameters:
    ///   - column: An int property of the class.
    ///   - limits: The limits, both of which belong to the range.
    ///   - label: The part of the query that the condition implements.
    ///   - cancellation: The check that limits the leaves which the readers of the query keep.
    init(_ column: Column, _ limits: ClosedRange<Int64>, label: String, cancellation: CancellationCheck) {
        self.limits = limits
        self.column = column
        self.label = label
        reader = ColumnReader(column, cancellation)
    }

    var cost: Double { 1 }

    func evaluate(_ leaf: ClusterLeaf, _ candidates: Mask) throws(StorageError) -> Mask {
        let values = try reader.values(of: leaf)
        guard case .int(let integers) = values else { return .none }
        return candidates & integers.isBetween(limits.lowerBound, limits.upperBound)
    }

    /// Returns whether the value lies within the limits; null does not.
    func matches(_ row: Row) throws(StorageError) -> Bool {
        guard case .int(let number) = try reader.value(row) else { return false }
        return limits.contains(number)
    }

    var outline: ConditionOutline { ConditionOutline("compare packed column", label: label) }
}
