// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform
internal import RealmStorage

extension ArithmeticOperator {
    /// Returns the result of this operator for two values of any type.
    ///
    /// - Returns: A value of the wider of the two numeric types: int, float, double, decimal. Null
    ///   when one of the values is null or not a number.
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

    /// Calculates with integers of 64 bits and wraps around on overflow.
    ///
    /// A quotient is truncated towards zero. Division by zero yields the greatest integer, or the
    /// least one when the dividend is negative, so that no query can stop the server.
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

    /// Calculates with floats or doubles by the rules of IEEE 754.
    private func apply<Number: FloatingPoint>(_ left: Number, _ right: Number) -> Number {
        switch self {
        case .plus: return left + right
        case .minus: return left - right
        case .times: return left * right
        case .divided: return left / right
        }
    }

    /// Calculates with decimals, whose results are rounded to 34 digits.
    private func apply(_ left: Decimal128, _ right: Decimal128) -> Decimal128 {
        switch self {
        case .plus: return left + right
        case .minus: return left - right
        case .times: return left * right
        case .divided: return left / right
        }
    }
}
