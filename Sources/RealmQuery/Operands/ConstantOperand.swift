// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform
internal import RealmStorage

/// A literal, an argument, or a list of them, after conversion to the type of the other side.
final class ConstantOperand: SingleOperand {
    let type: OperandType
    let quantifier: Quantifier?
    let label: String
    /// The constants: exactly one unless `isList`, otherwise any number. Their bytes belong to the query's `ConstantPool`.
    let values: [Value]
    /// Whether the constant was written or passed as a list; a list may have a single element.
    let isList: Bool

    /// Creates an operand of one value.
    ///
    /// - Parameters:
    ///   - value: The converted constant.
    ///   - type: Its type. For a null it may be that of the other side.
    ///   - label: The text of the constant.
    init(_ value: Value, type: OperandType, label: String) {
        self.type = type
        self.label = label
        quantifier = nil
        values = [value]
        isList = false
    }

    /// Creates an operand of a list of constants.
    ///
    /// - Parameters:
    ///   - values: The converted elements, in order.
    ///   - type: `.mixed`, unless all elements are links or names of types.
    ///   - quantifier: The quantifier before the list, if there is one.
    ///   - label: The text of the list.
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

    /// The value, or the only element of a list; nil when there are more or fewer.
    var onlyValue: Value? { values.count == 1 ? values[0] : nil }

    /// Returns the constant, whatever the object is.
    func value(_ row: borrowing Row) throws(StorageError) -> Value { values[0] }

    /// Appends the constant once for each of the rows; the rows are not read.
    func append(_ leaf: ClusterLeaf, _ rows: Mask, to values: inout [Value]) {
        values.append(contentsOf: repeatElement(self.values[0], count: rows.count))
    }

    /// Puts the constants into one group of values; the object is not read.
    func evaluate(_ row: borrowing Row, into groups: inout ValueGroups) throws(StorageError) {
        groups.reset(isList: isList)
        for value in values { try groups.append(value) }
        groups.closeGroup()
    }
}
