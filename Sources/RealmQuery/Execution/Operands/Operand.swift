// SPDX-License-Identifier: Apache-2.0

import RealmStorage

/// One side of a comparison, or a part of it: something that has values for an object.
///
/// Operands belong to one bound query and keep what they read last, so a query is used by one thread at a time.
class Operand {
    let type: OperandType
    /// `ANY`, `ALL` or `NONE` in front of it.
    let quantifier: Quantifier?
    /// The text that plans and messages show.
    let label: String

    init(type: OperandType, quantifier: Quantifier? = nil, label: String) {
        self.type = type
        self.quantifier = quantifier
        self.label = label
    }

    /// May it have more or fewer values than one?
    var isMultiValued: Bool { false }

    /// May it stand on the right of `IN`?
    var isCollectionForIn: Bool { false }

    /// Does it end in a collection of values that are no links? Two of these cannot be compared.
    var isPrimitiveCollection: Bool { false }

    /// The value of a constant that has exactly one.
    var constantValue: Value? { nil }

    /// Does evaluation need no object?
    var isConstant: Bool { false }

    /// The value for `row`. Only for operands that are not multi-valued and yield one value for every object.
    func value(_ row: borrowing Row) throws(StorageError) -> Value { .null }

    /// Can `value` be used instead of `evaluate`?
    var isSingle: Bool { !isMultiValued }

    /// Appends the value for each of `rows`, ascending. Only where `isSingle` holds.
    func append(_ leaf: ClusterLeaf, _ rows: Mask, to values: inout [Value]) throws(StorageError) {
        try rows.forEach { row throws(StorageError) in values.append(try value(Row(leaf: leaf, index: row))) }
    }

    /// Puts the values for `row` into `groups`, replacing what is there.
    func evaluate(_ row: borrowing Row, into groups: inout ValueGroups) throws(StorageError) {
        groups.set(try value(row))
    }
}

/// A literal, an argument or a list of them.
final class ConstantOperand: Operand {
    let values: [Value]
    let isList: Bool

    /// A single value.
    init(_ value: Value, type: OperandType, label: String) {
        values = [value]
        isList = false
        super.init(type: type, label: label)
    }

    /// A list, which counts as mixed unless its elements are all of one other kind.
    init(list values: [Value], type: OperandType = .mixed, quantifier: Quantifier?, label: String) {
        self.values = values
        isList = true
        super.init(type: type, quantifier: quantifier, label: label)
    }

    override var isMultiValued: Bool { isList }
    override var isCollectionForIn: Bool { isList }
    override var isConstant: Bool { true }
    override var constantValue: Value? { values.count == 1 ? values[0] : nil }

    override func value(_ row: borrowing Row) throws(StorageError) -> Value { values[0] }

    override func append(_ leaf: ClusterLeaf, _ rows: Mask, to values: inout [Value]) {
        values.append(contentsOf: repeatElement(self.values[0], count: rows.count))
    }

    override func evaluate(_ row: borrowing Row, into groups: inout ValueGroups) throws(StorageError) {
        groups.reset(isList: isList)
        for value in values { try groups.append(value) }
        groups.closeGroup()
    }
}

/// The element of a collection that is being looked at: `self` in a filter over values.
final class ElementOperand: Operand {
    /// The element in question, set before each evaluation.
    final class Box { var value = Value.null }

    private let box: Box

    init(_ box: Box, type: OperandType) {
        self.box = box
        super.init(type: type, label: "self")
    }

    override func value(_ row: borrowing Row) throws(StorageError) -> Value { box.value }
}
