// SPDX-License-Identifier: Apache-2.0

internal import RealmStorage

/// One side of a comparison, or a part of it: something that has values for an object.
///
/// Operands belong to one bound query and keep the leaves they read last, so a query is used by one thread at a time.
protocol Operand: AnyObject {
    /// The type of its values, as far as it is known before evaluation.
    var type: OperandType { get }

    /// `ANY`, `ALL` or `NONE` in front of it.
    var quantifier: Quantifier? { get }

    /// The text that plans and messages show.
    var label: String { get }

    /// Whether it may have more or fewer values than one.
    var isMultiValued: Bool { get }

    /// The same operand when it has exactly one value for every object, so that whole leaves can be compared; nil otherwise.
    var single: (any SingleOperand)? { get }

    /// Whether it may be the right side of `IN`.
    var isCollectionForIn: Bool { get }

    /// Whether it ends in a collection of values that are not links. Two of these cannot be compared with each other.
    var isPrimitiveCollection: Bool { get }

    /// Puts the values for `row` into `groups`, replacing what they held.
    func evaluate(_ row: borrowing Row, into groups: inout ValueGroups) throws(StorageError)
}

/// Most operands are not collections.
extension Operand {
    var isCollectionForIn: Bool { false }
    var isPrimitiveCollection: Bool { false }

    /// Whether evaluation needs no object.
    var isConstant: Bool { self is ConstantOperand }

    /// The value of a constant that has exactly one.
    var constantValue: Value? { (self as? ConstantOperand)?.onlyValue }
}
