// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform
internal import RealmStorage

/// Compares the type of a Mixed property of the class itself with a set of types.
///
/// The word of most values states their type, so they are not read.
final class TypeCondition: Condition {
    private let column: Column
    /// The types, as bits that `TypeName` defines.
    private let types: Int64
    /// Whether values of the other types are wanted.
    private let isNegated: Bool
    /// The types of which all values are wanted, as `MixedLeaf` numbers them.
    private let wanted: MixedTypes
    private let reader: ColumnReader
    private let label: String
    private let cancellation: CancellationCheck

    /// Creates the condition.
    ///
    /// - Parameters:
    ///   - column: The Mixed property.
    ///   - isNegated: Whether values of the other types are wanted.
    ///   - label: The part of the query that the condition implements.
    ///   - cancellation: The check that can stop the query.
    init(_ column: Column, _ types: Int64, isNegated: Bool, label: String, _ cancellation: CancellationCheck) {
        self.column = column
        self.types = types
        self.isNegated = isNegated
        self.label = label
        self.cancellation = cancellation
        reader = ColumnReader(column, cancellation)
        wanted = MixedTypes { (TypeName.bits(of: $0) & types != 0) != isNegated }
    }

    var cost: Double { 2 }
    var outline: ConditionOutline { ConditionOutline("compare packed column", label: label) }

    func evaluate(_ leaf: ClusterLeaf, _ candidates: Mask) throws(StorageError) -> Mask {
        guard case .mixed(let values) = try reader.values(of: leaf) else { return .none }
        let (found, others) = values.rows(of: wanted, among: candidates)
        guard !others.isEmpty else { return found }
        try cancellation.step(others.count)
        return found | (try others.filter { row throws(StorageError) in isWanted(try values.value(row)) })
    }

    func matches(_ row: Row) throws(StorageError) -> Bool { isWanted(try reader.value(row)) }

    private func isWanted(_ value: Value) -> Bool { (TypeName.bits(of: value) & types != 0) != isNegated }
}
