// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform
internal import RealmStorage

/// A small expression over properties of objects: key paths, literals, the operators `+ - * /` and parentheses.
///
/// Migrations use it to compute new values from old ones (`{"$expr": "firstName + ' ' + lastName"}`). It
/// is parsed once for a step by `ExpressionParser` and evaluated once for each object.
///
/// `+` joins strings and adds numbers. An operation with a null operand results in null. Integers are
/// calculated exactly, and overflow is an error. When one operand is a decimal the result is a decimal,
/// otherwise a calculation with a float or double results in a double.
indirect enum Expression {
    /// A literal: a number, a string, a boolean or null.
    case value(OwnedValue)
    /// The value at a key path from the object: a property, an element of a collection, or an aggregate of a collection.
    case path(ExpressionPath)
    /// The value of the inner expression, subtracted from zero.
    case negated(Expression)
    /// An operator with its left and its right operand.
    case binary(Operator, Expression, Expression)

    /// The operators that combine two values.
    enum Operator { case add, subtract, multiply, divide }

    /// The longest string in bytes that joining may produce: 16 MiB.
    ///
    /// Without this limit a short expression that repeats a stored string could produce gigabytes.
    private static let maximumByteCount = 16 << 20

    /// Parses the text of an expression.
    ///
    /// - Parameter text: The expression as it is written in a migration.
    /// - Returns: The parsed expression. Its properties are not checked against a class yet.
    /// - Throws: `WriteError` with the code `invalidSchema`, and the position and reason in its detail,
    ///   when the text is no expression.
    static func parse(_ text: String) throws(WriteError) -> Expression {
        var parser = ExpressionParser(text)
        return try parser.parse()
    }

    /// The key paths in the expression, from left to right.
    var paths: [ExpressionPath] {
        switch self {
        case .value: return []
        case .path(let path): return [path]
        case .negated(let inner): return inner.paths
        case .binary(_, let left, let right): return left.paths + right.paths
        }
    }

    /// Evaluates the expression.
    ///
    /// - Parameters:
    ///   - path: Returns the value of a key path for the object that the expression is evaluated for.
    ///   - spend: Counts the bytes of each operand that is combined with another.
    /// - Returns: The result, with bytes of its own.
    /// - Throws: `WriteError`: `typeMismatch` for operands that cannot be combined, `outOfRange` for an
    ///   overflow, a division by zero or a string that becomes too long, and the errors of `path` and
    ///   `spend`.
    func value(
        _ path: (ExpressionPath) throws(WriteError) -> OwnedValue, spending spend: (Int) throws(WriteError) -> Void
    ) throws(WriteError) -> OwnedValue {
        switch self {
        case .value(let value): return value
        case .path(let steps): return try path(steps)
        case .negated(let inner):
            return try Expression.combine(.subtract, OwnedValue(.int(0)), try inner.value(path, spending: spend))
        case .binary(let sign, let left, let right):
            let first = try left.value(path, spending: spend)
            let second = try right.value(path, spending: spend)
            try spend(first.byteCount + second.byteCount)
            return try Expression.combine(sign, first, second)
        }
    }

    /// Combines two values with an operator; the result is null when one of them is null.
    ///
    /// - Parameters:
    ///   - sign: The operator. Strings only accept `.add`.
    /// - Throws: `WriteError`: `typeMismatch` when the operands are neither two strings nor two numbers,
    ///   `outOfRange` when the result cannot be held.
    static func combine(_ sign: Operator, _ left: OwnedValue, _ right: OwnedValue) throws(WriteError) -> OwnedValue {
        switch (left.value, right.value) {
        case (.null, _), (_, .null): return OwnedValue(.null)
        case (.string(let left), .string(let right)):
            guard sign == .add else { throw WriteError(.typeMismatch, "strings can only be joined with '+'") }
            guard left.count + right.count <= Expression.maximumByteCount else {
                throw WriteError(.outOfRange, "the joined text must have at most \(Expression.maximumByteCount >> 20) MiB")
            }
            return .string(left.array + right.array)
        case (.int(let left), .int(let right)): return OwnedValue(.int(try integer(sign, left, right)))
        case (let left, let right):
            guard let first = left.asDecimal, let second = right.asDecimal else {
                throw WriteError(.typeMismatch, "only two numbers or two strings can be combined")
            }
            if isDecimal(left) || isDecimal(right) { return OwnedValue(.decimal(decimal(sign, first, second))) }
            return OwnedValue(.double(double(sign, real(left), real(right))))
        }
    }

    /// Returns the result of an operator for two integers of 64 bits.
    ///
    /// - Throws: `WriteError` with the code `outOfRange` when 64 bits cannot hold the result, and for a
    ///   division by zero.
    private static func integer(_ sign: Operator, _ left: Int64, _ right: Int64) throws(WriteError) -> Int64 {
        let (result, overflow): (Int64, Bool)
        switch sign {
        case .add: (result, overflow) = left.addingReportingOverflow(right)
        case .subtract: (result, overflow) = left.subtractingReportingOverflow(right)
        case .multiply: (result, overflow) = left.multipliedReportingOverflow(by: right)
        case .divide: (result, overflow) = left.dividedReportingOverflow(by: right)
        }
        guard !overflow else { throw WriteError(.outOfRange, "the result is beyond 64 bits, or a division by zero") }
        return result
    }

    /// Returns whether the value is a decimal. One decimal operand makes the result a decimal.
    private static func isDecimal(_ value: Value) -> Bool {
        if case .decimal = value { return true }
        return false
    }

    /// Returns a number as a double; NaN for a value that is not a number.
    private static func real(_ value: Value) -> Double {
        switch value {
        case .int(let number): return Double(number)
        case .float(let number): return Double(number)
        case .double(let number): return number
        default: return .nan
        }
    }

    /// Returns the result of an operator for two doubles. Division by zero and overflow give infinities
    /// and NaN according to IEEE 754.
    private static func double(_ sign: Operator, _ left: Double, _ right: Double) -> Double {
        switch sign {
        case .add: return left + right
        case .subtract: return left - right
        case .multiply: return left * right
        case .divide: return left / right
        }
    }

    /// Returns the result of an operator for two decimals, rounded to 34 digits.
    private static func decimal(_ sign: Operator, _ left: Decimal128, _ right: Decimal128) -> Decimal128 {
        switch sign {
        case .add: return left + right
        case .subtract: return left - right
        case .multiply: return left * right
        case .divide: return left / right
        }
    }
}
