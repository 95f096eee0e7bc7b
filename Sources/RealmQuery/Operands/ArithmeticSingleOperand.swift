// SPDX-License-Identifier: Apache-2.0

internal import RealmStorage

/// The result of `+ - * /` on two operands that have one value each.
final class ArithmeticSingleOperand: SingleOperand {
    let type: OperandType
    let quantifier: Quantifier?
    let label: String
    private let operation: ArithmeticOperator
    private let left: any SingleOperand
    private let right: any SingleOperand
    private var buffer: [Value] = []

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

    func value(_ row: borrowing Row) throws(StorageError) -> Value {
        operation.apply(try left.value(row), try right.value(row))
    }

    func append(_ leaf: ClusterLeaf, _ rows: Mask, to values: inout [Value]) throws(StorageError) {
        let start = values.count
        try left.append(leaf, rows, to: &values)
        buffer.removeAll(keepingCapacity: true)
        try right.append(leaf, rows, to: &buffer)
        for index in buffer.indices { values[start + index] = operation.apply(values[start + index], buffer[index]) }
    }
}
