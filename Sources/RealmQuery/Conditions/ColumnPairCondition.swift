// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform
internal import RealmStorage

/// Compares two int properties of the base class, whole packed leaves at a time.
final class ColumnPairCondition: Condition {
    /// The relation that the left value must have to the right one.
    private let relation: Relation
    private let left: ColumnReader
    private let right: ColumnReader
    private let label: String

    /// Creates the condition that compares two int properties.
    ///
    /// - Parameters:
    ///   - left: An int property.
    ///   - relation: The relation that its value must have to the value of `right`.
    ///   - right: Another int property of the same class.
    ///   - label: The part of the query that the condition implements.
    ///   - cancellation: The check that limits the leaves which the readers of the query keep.
    init(_ left: Column, _ relation: Relation, _ right: Column, label: String, cancellation: CancellationCheck) {
        self.relation = relation
        self.left = ColumnReader(left, cancellation)
        self.right = ColumnReader(right, cancellation)
        self.label = label
    }

    var cost: Double { 2 }

    func evaluate(_ leaf: ClusterLeaf, _ candidates: Mask) throws(StorageError) -> Mask {
        guard case .int(let mine) = try left.values(of: leaf), case .int(let others) = try right.values(of: leaf) else {
            return .none
        }
        return candidates & mine.compare(relation, with: others)
    }

    func matches(_ row: Row) throws(StorageError) -> Bool {
        Comparator.relation(relation).holds(try left.value(row), try right.value(row))
    }

    var outline: ConditionOutline { ConditionOutline("compare packed columns", label: label) }
}
