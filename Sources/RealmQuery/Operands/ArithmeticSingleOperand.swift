// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform
internal import RealmStorage

/// The result of `+ - * /` on two operands that have one value each.
final class ArithmeticSingleOperand: SingleOperand {
    let type: OperandType
    let quantifier: Quantifier?
    let label: String
    private let operation: ArithmeticOperator
    private let left: any SingleOperand
    private let right: any SingleOperand

    /// Creates the operand for an arithmetic operator between two operands of one value each.
    ///
    /// Its type is that of the left side. Its quantifier is that of the left side, or of the right side if only that has one.
    init(_ left: any SingleOperand, _ operation: ArithmeticOperator, _ right: any SingleOperand) {
        self.operation = operation
        self.left = left
        self.right = right
        type = left.type
        quantifier = left.quantifier ?? right.quantifier
        label = ArithmeticOperand.label(left, operation, right)
    }

    var isMultiValued: Bool { false }
    var single: (any SingleOperand)? { self }

    /// Returns the result for an object; null when one of the sides is null or not a number.
    func value(_ row: borrowing Row) throws(StorageError) -> Value {
        operation.apply(try left.value(row), try right.value(row))
    }

    /// Calculates the results for the rows of a leaf: first all values of the left side, then those of the right side.
    func append(_ leaf: ClusterLeaf, _ rows: Mask, to values: inout [Value]) throws(StorageError) {
        let start = values.count
        try left.append(leaf, rows, to: &values)
        var buffer: [Value] = []
        buffer.reserveCapacity(rows.count)
        try right.append(leaf, rows, to: &buffer)
        for index in buffer.indices { values[start + index] = operation.apply(values[start + index], buffer[index]) }
    }
}
