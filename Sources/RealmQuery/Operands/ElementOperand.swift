// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform
internal import RealmStorage

/// The element of a collection that is currently tested: `self` in a filter over plain values.
///
/// Such a filter has no object. The element to test is put into a box before each evaluation.
final class ElementOperand: SingleOperand {
    /// Holds the element that is tested next. The query over elements owns it and sets it before each evaluation.
    final class Box { var value = Value.null }

    let type: OperandType
    var quantifier: Quantifier? { nil }
    var label: String { "self" }
    private let box: Box

    /// Creates the operand that reads the tested element from a box.
    ///
    /// - Parameters:
    ///   - box: The place from which the element is read.
    init(_ box: Box, type: OperandType) {
        self.box = box
        self.type = type
    }

    var isMultiValued: Bool { false }
    var single: (any SingleOperand)? { self }

    /// Returns the collection element that is currently tested; the row is not read.
    func value(_ row: borrowing Row) throws(StorageError) -> Value { box.value }
}
