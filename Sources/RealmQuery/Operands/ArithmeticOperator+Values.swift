// SPDX-License-Identifier: Apache-2.0

internal import RealmStorage

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
