// SPDX-License-Identifier: Apache-2.0

internal import RealmStorage

/// A literal, an argument or a list of them.
final class ConstantOperand: SingleOperand {
    let type: OperandType
    let quantifier: Quantifier?
    let label: String
    let values: [Value]
    let isList: Bool

    /// A single value.
    init(_ value: Value, type: OperandType, label: String) {
        self.type = type
        self.label = label
        quantifier = nil
        values = [value]
        isList = false
    }

    /// A list, which counts as mixed unless its elements are all of one other kind.
    init(list values: [Value], type: OperandType = .mixed, quantifier: Quantifier?, label: String) {
        self.type = type
        self.quantifier = quantifier
        self.label = label
        self.values = values
        isList = true
    }

    var isMultiValued: Bool { isList }
    var isCollectionForIn: Bool { isList }
    var single: (any SingleOperand)? { isList ? nil : self }

    /// The value, or the only element of the list; nil when there are more or fewer.
    var onlyValue: Value? { values.count == 1 ? values[0] : nil }

    func value(_ row: borrowing Row) throws(StorageError) -> Value { values[0] }

    func append(_ leaf: ClusterLeaf, _ rows: Mask, to values: inout [Value]) {
        values.append(contentsOf: repeatElement(self.values[0], count: rows.count))
    }

    func evaluate(_ row: borrowing Row, into groups: inout ValueGroups) throws(StorageError) {
        groups.reset(isList: isList)
        for value in values { try groups.append(value) }
        groups.closeGroup()
    }
}
