// SPDX-License-Identifier: Apache-2.0

internal import RealmStorage

/// Two int properties of the base class.
final class ColumnPairCondition: Condition {
    private let relation: Relation
    private let left: ColumnReader
    private let right: ColumnReader
    private let label: String

    /// `left` and `right` are int columns of one class.
    init(_ left: Column, _ relation: Relation, _ right: Column, label: String) {
        self.relation = relation
        self.left = ColumnReader(left)
        self.right = ColumnReader(right)
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
