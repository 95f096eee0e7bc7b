// SPDX-License-Identifier: Apache-2.0

import RealmStorage

/// The result of `+ - * /` on two operands, at most one of which is multi-valued.
final class ArithmeticOperand: Operand {
    private let operation: ArithmeticOperator
    private let left: Operand
    private let right: Operand
    private var leftGroups: ValueGroups
    private var rightGroups: ValueGroups
    private var buffer: [Value] = []

    init(_ operation: ArithmeticOperator, _ left: Operand, _ right: Operand, _ interrupt: Interrupt?) {
        leftGroups = ValueGroups(interrupt)
        rightGroups = ValueGroups(interrupt)
        self.operation = operation
        self.left = left
        self.right = right
        super.init(
            type: left.type, quantifier: left.quantifier ?? right.quantifier,
            label: "(\(left.label) \(operation.rawValue) \(right.label))")
    }

    override var isMultiValued: Bool { left.isMultiValued || right.isMultiValued }
    override var isSingle: Bool { left.isSingle && right.isSingle }

    override func value(_ row: borrowing Row) throws(StorageError) -> Value {
        operation.apply(try left.value(row), try right.value(row))
    }

    override func append(_ leaf: ClusterLeaf, _ rows: Mask, to values: inout [Value]) throws(StorageError) {
        let start = values.count
        try left.append(leaf, rows, to: &values)
        buffer.removeAll(keepingCapacity: true)
        try right.append(leaf, rows, to: &buffer)
        for index in buffer.indices { values[start + index] = operation.apply(values[start + index], buffer[index]) }
    }

    override func evaluate(_ row: borrowing Row, into groups: inout ValueGroups) throws(StorageError) {
        if isSingle { return groups.set(try value(row)) }
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

extension ArithmeticOperator {
    /// The result, of the wider type of the two; null when a value is null or no number.
    func apply(_ left: Value, _ right: Value) -> Value {
        switch (left, right) {
        case (.int(let a), .int(let b)): return .int(apply(a, b))
        case (.float(let a), .float(let b)): return .float(apply(a, b))
        case (.double(let a), .double(let b)): return .double(apply(a, b))
        case (.decimal(let a), .decimal(let b)): return .decimal(apply(a, b))
        default: break
        }
        guard let leftRank = left.numericRank, let rightRank = right.numericRank else { return .null }
        switch max(leftRank, rightRank) {
        case .float: return .float(apply(left.asFloat, right.asFloat))
        case .double: return .double(apply(left.asDouble, right.asDouble))
        default: return .decimal(apply(left.asDecimal ?? .zero, right.asDecimal ?? .zero))
        }
    }

    /// Wraps around; division truncates, and by zero yields the largest or the smallest integer.
    private func apply(_ left: Int64, _ right: Int64) -> Int64 {
        switch self {
        case .plus: return left &+ right
        case .minus: return left &- right
        case .times: return left &* right
        case .divided:
            if right == 0 { return left < 0 ? .min : .max }
            return left.dividedReportingOverflow(by: right).partialValue
        }
    }

    private func apply<Number: FloatingPoint>(_ left: Number, _ right: Number) -> Number {
        switch self {
        case .plus: return left + right
        case .minus: return left - right
        case .times: return left * right
        case .divided: return left / right
        }
    }

    private func apply(_ left: Decimal128, _ right: Decimal128) -> Decimal128 {
        switch self {
        case .plus: return left + right
        case .minus: return left - right
        case .times: return left * right
        case .divided: return left / right
        }
    }
}

/// The numeric types from narrow to wide.
enum NumericRank: Int, Comparable {
    case int, float, double, decimal

    static func < (left: NumericRank, right: NumericRank) -> Bool { left.rawValue < right.rawValue }
}

extension Value {
    /// Nil for values that are no numbers.
    var numericRank: NumericRank? {
        switch self {
        case .int: return .int
        case .float: return .float
        case .double: return .double
        case .decimal: return .decimal
        default: return nil
        }
    }

    fileprivate var asFloat: Float {
        switch self {
        case .int(let number): return Float(number)
        case .float(let number): return number
        default: return .nan
        }
    }

    fileprivate var asDouble: Double {
        switch self {
        case .int(let number): return Double(number)
        case .float(let number): return Double(number)
        case .double(let number): return number
        default: return .nan
        }
    }
}
