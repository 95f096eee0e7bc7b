// SPDX-License-Identifier: Apache-2.0

internal import RealmStorage

/// The element of a collection that is being looked at: `self` in a filter over values.
final class ElementOperand: SingleOperand {
    /// The element in question, set before each evaluation.
    final class Box { var value = Value.null }

    let type: OperandType
    var quantifier: Quantifier? { nil }
    var label: String { "self" }
    private let box: Box

    init(_ box: Box, type: OperandType) {
        self.box = box
        self.type = type
    }

    var isMultiValued: Bool { false }
    var single: (any SingleOperand)? { self }

    func value(_ row: borrowing Row) throws(StorageError) -> Value { box.value }
}
