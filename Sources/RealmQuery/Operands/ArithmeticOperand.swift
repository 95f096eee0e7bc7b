// SPDX-License-Identifier: Apache-2.0

internal import RealmStorage

/// The result of `+ - * /` on two operands, at most one of which is multi-valued.
final class ArithmeticOperand: Operand {
    let type: OperandType
    let quantifier: Quantifier?
    let label: String
    private let operation: ArithmeticOperator
    private let left: any Operand
    private let right: any Operand
    private var leftGroups: ValueGroups
    private var rightGroups: ValueGroups

    private init(
        _ left: any Operand, _ operation: ArithmeticOperator, _ right: any Operand, cancellation: CancellationCheck?
    ) {
        leftGroups = ValueGroups(cancellation)
        rightGroups = ValueGroups(cancellation)
        self.operation = operation
        self.left = left
        self.right = right
        type = left.type
        quantifier = left.quantifier ?? right.quantifier
        label = ArithmeticOperand.label(left, operation, right)
    }

    /// The operand for `left operation right`, in the form that suits them.
    static func make(
        _ left: any Operand, _ operation: ArithmeticOperator, _ right: any Operand, cancellation: CancellationCheck?
    ) -> any Operand {
        guard let leftSingle = left.single, let rightSingle = right.single else {
            return ArithmeticOperand(left, operation, right, cancellation: cancellation)
        }
        return ArithmeticSingleOperand(leftSingle, operation, rightSingle)
    }

    /// The expression as plans and messages show it.
    static func label(_ left: any Operand, _ operation: ArithmeticOperator, _ right: any Operand) -> String {
        "(\(left.label) \(operation.rawValue) \(right.label))"
    }

    var isMultiValued: Bool { left.isMultiValued || right.isMultiValued }
    var single: (any SingleOperand)? { nil }

    func evaluate(_ row: borrowing Row, into groups: inout ValueGroups) throws(StorageError) {
        defer {
            leftGroups.release()
            rightGroups.release()
        }
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
