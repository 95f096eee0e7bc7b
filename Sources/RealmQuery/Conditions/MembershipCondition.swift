// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform
internal import RealmStorage

/// Tests whether a property of the base class is one of several constants.
///
/// It implements `IN` with a list of constants, and a chain of equalities of one property that `OR` joins.
final class MembershipCondition: Condition {
    /// The column of the property whose values are tested.
    let column: Column
    /// The constants of which one has to match, without duplicates. Null is matched by null values.
    let values: [Value]
    /// The constants of an int property in a form that a kernel tests whole leaves with; nil for other types.
    private let integers: IntegerSet?
    /// Whether a null value matches, because null is one of the constants.
    private let acceptsNull: Bool
    /// The constants as they are compared with single values.
    let members: ConstantSet
    /// Whether texts and data are compared without regard to letter case, which no index knows.
    let ignoresCase: Bool
    private let reader: ColumnReader
    private let label: String

    /// Creates the condition that tests whether a property is one of several constants.
    ///
    /// - Parameters:
    ///   - column: A property of the class that holds one value.
    ///   - values: Constants that can equal values of the column; duplicates count once. A number for a float, a double or a
    ///     decimal may be of another type.
    ///   - ignoresCase: Whether letter case is ignored.
    ///   - label: The part of the query that the condition implements.
    ///   - cancellation: The check that limits the leaves which the readers of the query keep.
    init(
        _ column: Column, _ values: [Value], ignoresCase: Bool = false, label: String, cancellation: CancellationCheck
    ) {
        self.column = column
        self.label = label
        reader = ColumnReader(column, cancellation)
        self.ignoresCase = ignoresCase
        // NaN of a float or double property equals nothing but a decimal NaN.
        let equalsNothing = column.type == .float || column.type == .double
        self.values = Set(values.filter { !(equalsNothing && $0.isBinaryNaN) }.map { OrderedValue($0) }).map(\.value)
        members = ConstantSet(self.values, ignoringCase: ignoresCase)
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
        var buffer: [Value] = []
        buffer.reserveCapacity(candidates.count)
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
