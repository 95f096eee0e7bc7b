// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform
internal import RealmStorage

/// The result of `+ - * /` on two operands of which one is multi-valued.
///
/// Every value of the multi-valued side is combined with the value of the other side. The groups of values are kept, so that
/// comparisons see the same collections as without arithmetic. The binder rejects two multi-valued sides.
final class ArithmeticOperand: Operand {
    let type: OperandType
    private(set) var quantifier: Quantifier?
    let label: String
    private let operation: ArithmeticOperator
    private let left: any Operand
    private let right: any Operand
    private let cancellation: CancellationCheck?

    /// Creates the operand for two sides of which at least one may have several values. Callers use `make`.
    private init(
        _ left: any Operand, _ operation: ArithmeticOperator, _ right: any Operand, cancellation: CancellationCheck?
    ) {
        self.cancellation = cancellation
        self.operation = operation
        self.left = left
        self.right = right
        type = left.type
        quantifier = left.quantifier ?? right.quantifier
        label = ArithmeticOperand.label(left, operation, right)
    }

    /// Returns the operand for an arithmetic expression, in the form that suits both sides.
    ///
    /// - Parameters:
    ///   - left: The left side.
    ///   - right: The right side.
    ///   - cancellation: The check that can stop the query while it collects the values of long collections.
    /// - Returns: An `ArithmeticSingleOperand` when both sides have exactly one value, otherwise an
    ///   `ArithmeticOperand`.
    static func make(
        _ left: any Operand, _ operation: ArithmeticOperator, _ right: any Operand, cancellation: CancellationCheck?
    ) -> any Operand {
        guard let leftSingle = left.single, let rightSingle = right.single else {
            return ArithmeticOperand(left, operation, right, cancellation: cancellation)
        }
        return ArithmeticSingleOperand(leftSingle, operation, rightSingle)
    }

    /// The expression in parentheses, as query plans and messages show it.
    static func label(_ left: any Operand, _ operation: ArithmeticOperator, _ right: any Operand) -> String {
        "(\(left.label) \(operation.rawValue) \(right.label))"
    }

    var isMultiValued: Bool { left.isMultiValued || right.isMultiValued }
    var selectsOne: Bool {
        (left.selectsOne || !left.isMultiValued) && (right.selectsOne || !right.isMultiValued) && isMultiValued
    }
    func demandAny() { quantifier = .any }
    var single: (any SingleOperand)? { nil }

    /// Combines the values of both sides for an object. When the other side has no value, the result is an empty list.
    func evaluate(_ row: borrowing Row, into groups: inout ValueGroups) throws(StorageError) {
        var leftGroups = ValueGroups.take(cancellation)
        defer { leftGroups.giveBack() }
        var rightGroups = ValueGroups.take(cancellation)
        defer { rightGroups.giveBack() }
        try left.evaluate(row, into: &leftGroups)
        try right.evaluate(row, into: &rightGroups)
        let isLeftMany = leftGroups.isList
        groups.reset(isList: leftGroups.isList || rightGroups.isList)
        let other = isLeftMany ? rightGroups.values.first : leftGroups.values.first
        let many = isLeftMany ? leftGroups : rightGroups
        guard let other else { return groups.finish() }
        for index in 0..<many.groupCount {
            for value in many.values[many.group(index)] {
                try groups.append(isLeftMany ? operation.apply(value, other) : operation.apply(other, value))
            }
            groups.closeGroup()
        }
        groups.finish()
    }
}
