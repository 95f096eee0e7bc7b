// SPDX-License-Identifier: Apache-2.0

internal import RealmStorage

/// A property of the base class is one of several constants of exactly its type.
final class MembershipCondition: Condition {
    let column: Column
    /// Distinct; null stands for itself.
    let values: [Value]
    private let integers: IntegerSet?
    private let acceptsNull: Bool
    /// Of decimals: there a NaN equals every other. A NaN of floats and doubles equals none, as IEEE 754 has it.
    private let acceptsNaN: Bool
    private let members: Set<OrderedValue>
    private let reader: ColumnReader
    private let label: String
    private var buffer: [Value] = []

    /// `values` have exactly the type of the column, or are null; duplicates count once.
    init(_ column: Column, _ values: [Value], label: String) {
        self.column = column
        self.label = label
        reader = ColumnReader(column)
        acceptsNaN = column.type == .decimal && values.contains { $0.isNaN }
        members = Set(values.filter { !$0.isNaN }.map { OrderedValue($0) })
        self.values = members.map(\.value) + (acceptsNaN ? values.filter { $0.isNaN }.prefix(1) : [])
        acceptsNull = values.contains { $0.isNull }
        guard column.type == .int else {
            integers = nil
            return
        }
        integers = IntegerSet(
            values.compactMap { value -> Int64? in
                if case .int(let number) = value { return number }
                return nil
            })
    }

    var cost: Double { integers == nil ? 25 : 2 }

    func evaluate(_ leaf: ClusterLeaf, _ candidates: Mask) throws(StorageError) -> Mask {
        let values = try reader.values(of: leaf)
        if let integers, case .int(let leaf) = values {
            return candidates & leaf.isMember(of: integers, orNull: acceptsNull)
        }
        buffer.removeAll(keepingCapacity: true)
        try values.append(candidates, to: &buffer)
        var found = Mask.none
        var index = 0
        candidates.forEach { row in
            if isMember(buffer[index]) { found[row] = true }
            index += 1
        }
        return found
    }

    func matches(_ row: Row) throws(StorageError) -> Bool {
        isMember(try reader.value(row))
    }

    /// Whether the value equals one of the constants.
    private func isMember(_ value: Value) -> Bool {
        acceptsNaN && value.isNaN || members.contains(OrderedValue(value))
    }

    var outline: ConditionOutline { ConditionOutline("one of \(values.count) constants", label: label) }
}
