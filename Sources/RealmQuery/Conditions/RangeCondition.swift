// SPDX-License-Identifier: Apache-2.0

internal import RealmStorage

/// An int property of the base class within two limits.
final class RangeCondition: Condition {
    private let limits: ClosedRange<Int64>
    private let reader: ColumnReader
    private let label: String

    /// `column` is an int column, and both limits belong to the range.
    init(_ column: Column, _ limits: ClosedRange<Int64>, label: String) {
        self.limits = limits
        self.label = label
        reader = ColumnReader(column)
    }

    var cost: Double { 1 }

    func evaluate(_ leaf: ClusterLeaf, _ candidates: Mask) throws(StorageError) -> Mask {
        let values = try reader.values(of: leaf)
        guard case .int(let integers) = values else { return .none }
        return candidates & integers.isBetween(limits.lowerBound, limits.upperBound)
    }

    func matches(_ row: Row) throws(StorageError) -> Bool {
        guard case .int(let number) = try reader.value(row) else { return false }
        return limits.contains(number)
    }

    var outline: ConditionOutline { ConditionOutline("compare packed column", label: label) }
}
