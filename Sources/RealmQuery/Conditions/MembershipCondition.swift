// SPDX-License-Identifier: Apache-2.0

internal import RealmStorage

/// Tests whether a property of the base class is one of several constants of exactly its type.
///
/// It implements `IN` with a list of constants, and a chain of equalities of one property that `OR`
/// joins.
final class MembershipCondition: Condition {
    /// The constants of a condition, of which a value is one or not.
    struct Members {
        /// The constants, without NaNs.
        let values: Set<OrderedValue>
        /// Whether NaN is one of the constants of a decimal property. Decimal NaNs equal one another;
        /// NaNs of floats and doubles equal nothing, as IEEE 754 demands.
        let acceptsNaN: Bool

        /// Returns whether a value equals one of the constants, by a look-up in the hash set.
        func contains(_ value: Value) -> Bool { acceptsNaN && value.isNaN || values.contains(OrderedValue(value)) }
    }

    /// The column of the property whose values are tested.
    let column: Column
    /// The constants of which one has to match, without duplicates. Null is matched by null values.
    let values: [Value]
    /// The constants of an int property in a form that a kernel tests whole leaves with; nil for
    /// other types.
    private let integers: IntegerSet?
    /// Whether a null value matches, because null is one of the constants.
    private let acceptsNull: Bool
    /// The constants as they are compared with single values.
    let members: Members
    private let reader: ColumnReader
    private let label: String
    private var buffer: [Value] = []

    /// Creates the condition that tests whether a property is one of several constants.
    ///
    /// - Parameters:
    ///   - column: A property of the class that holds one value.
    ///   - values: Constants of exactly the type of the column, or null; duplicates count once.
    ///   - label: The part of the query that the condition implements.
    init(_ column: Column, _ values: [Value], label: String) {
        self.column = column
        self.label = label
        reader = ColumnReader(column)
        let acceptsNaN = column.type == .decimal && values.contains { $0.isNaN }
        members = Members(values: Set(values.filter { !$0.isNaN }.map { OrderedValue($0) }), acceptsNaN: acceptsNaN)
        self.values = members.values.map(\.value) + (acceptsNaN ? values.filter { $0.isNaN }.prefix(1) : [])
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

    /// 2 for ints, which a kernel tests, otherwise 25 for a look-up by hash.
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
            if members.contains(buffer[index]) { found[row] = true }
            index += 1
        }
        return found
    }

    func matches(_ row: Row) throws(StorageError) -> Bool { members.contains(try reader.value(row)) }

    var outline: ConditionOutline { ConditionOutline("one of \(values.count) constants", label: label) }
}
