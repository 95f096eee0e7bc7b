// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform
internal import RealmStorage

/// One side of a comparison, or a part of it: something that has values for an object.
///
/// The binder makes operands from the parts of a query: properties, links, collections, constants, aggregates, arithmetic and
/// subqueries each have a type of their own. An operand belongs to one bound query. It keeps the leaves that it read last, so
/// that neighbouring rows are read quickly; therefore a bound query is used by one thread at a time.
protocol Operand: AnyObject {
    /// The type of the operand's values, as far as it is known before evaluation; `.mixed` when it depends on the object.
    var type: OperandType { get }

    /// The type by which an argument is read that is compared with the operand. It differs from `type` where
    /// the engine compares values as if they were mixed, although all of them have one type.
    var readingType: OperandType { get }

    /// `ANY`, `ALL` or `NONE` in front of the operand; nil when the query has none there.
    var quantifier: Quantifier? { get }

    /// The operand's text, which query plans and error messages show. It is the source text where there is one.
    var label: String { get }

    /// Whether the operand may have more or fewer values than one for an object.
    var isMultiValued: Bool { get }

    /// The same operand when it has exactly one value for every object; nil otherwise.
    ///
    /// Comparisons of two such operands are evaluated for a whole leaf at once, without groups and quantifiers.
    var single: (any SingleOperand)? { get }

    /// Whether the operand may be the right side of `IN`, which takes lists, collections and to-many paths only.
    var isCollectionForIn: Bool { get }

    /// Whether the operand ends in a collection of values that are not links. Two of these cannot be compared with each other.
    var isPrimitiveCollection: Bool { get }

    /// Whether the operand is one element of a list or one value inside of a mixed value. It has several values as far as the rules for
    /// lists go, but never more than one.
    var selectsOne: Bool { get }

    /// Gives an operand that `selectsOne` the quantifier `ANY`.
    func demandAny()

    /// Replaces the contents of a buffer by the operand's values for an object.
    ///
    /// - Parameters:
    ///   - groups: The buffer. Each collection that is reached adds one group of values to it.
    /// - Throws: A storage error when the file is damaged, when the check of the query asks to
    ///   stop, or when there are more values than the query may hold at once.
    func evaluate(_ row: borrowing Row, into groups: inout ValueGroups) throws(StorageError)
}

/// Default implementations for operands that are not collections, and tests for constants.
extension Operand {
    /// By default the type of the values.
    var readingType: OperandType { type }
    /// By default false: most operands cannot be the right side of `IN`.
    var isCollectionForIn: Bool { false }
    /// By default false: most operands have exactly one value, or any number.
    var selectsOne: Bool { false }
    /// By default nothing: other operands keep the quantifier that they were made with.
    func demandAny() {}
    /// By default false: most operands do not end in a collection of values.
    var isPrimitiveCollection: Bool { false }

    /// Whether the operand is a literal, an argument or a list of them, so that evaluation needs no object.
    var isConstant: Bool { self is ConstantOperand }

    /// The value of a constant that has exactly one, also as the only element of a list; nil for all other operands.
    var constantValue: Value? { (self as? ConstantOperand)?.onlyValue }
}
