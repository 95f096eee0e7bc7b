// SPDX-License-Identifier: Apache-2.0

internal import RealmStorage

/// A small expression over the properties of one object: key paths, literals, `+ - * /` and parentheses.
///
/// `+` joins texts and adds numbers. Whatever null takes part in is null.
///
/// Whole numbers are calculated exactly, and overflow is an error. With a decimal the result is a decimal, otherwise a double.
indirect enum Expression {
    /// A literal.
    case value(OwnedValue)
    /// The value of a property, or of one that links lead to.
    case path([String])
    /// The inner value, subtracted from zero.
    case negated(Expression)
    /// Two values and what is done with them.
    case binary(Operator, Expression, Expression)

    /// What two values are combined by.
    enum Operator { case add, subtract, multiply, divide }

    /// Texts that are joined do not become longer: a few signs could make gigabytes of a stored text.
    private static let maximumByteCount = 16 << 20

    /// Reads an expression; throws `typeMismatch` with the reason for other texts.
    static func parse(_ text: String) throws(WriteError) -> Expression {
        var parser = ExpressionParser(text)
        return try parser.parse()
    }

    /// The value, with what `path` says that paths hold.
    func value(_ path: ([String]) throws(WriteError) -> OwnedValue) throws(WriteError) -> OwnedValue {
        switch self {
        case .value(let value): return value
        case .path(let names): return try path(names)
        case .negated(let inner): return try Expression.combine(.subtract, OwnedValue(.int(0)), try inner.value(path))
        case .binary(let sign, let left, let right):
            return try Expression.combine(sign, try left.value(path), try right.value(path))
        }
    }

    /// The value of two values; null when one of them is null.
    private static func combine(_ sign: Operator, _ left: OwnedValue, _ right: OwnedValue) throws(WriteError) -> OwnedValue {
        switch (left.value, right.value) {
        case (.null, _), (_, .null): return OwnedValue(.null)
        case (.string(let left), .string(let right)):
            guard sign == .add else { throw WriteError(.typeMismatch, "texts can only be joined by '+'") }
            guard left.count + right.count <= Expression.maximumByteCount else {
                throw WriteError(.outOfRange, "a text of more than \(Expression.maximumByteCount >> 20) MiB")
            }
            return .string(left.array + right.array)
        case (.int(let left), .int(let right)): return OwnedValue(.int(try integer(sign, left, right)))
        case (let left, let right):
            guard let first = left.asDecimal, let second = right.asDecimal else {
                throw WriteError(.typeMismatch, "only numbers can be calculated with, and only texts be joined")
            }
            if isDecimal(left) || isDecimal(right) { return OwnedValue(.decimal(decimal(sign, first, second))) }
            return OwnedValue(.double(double(sign, real(left), real(right))))
        }
    }

    /// The result for whole numbers; throws `outOfRange` when 64 bits cannot hold it, or for a division by zero.
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

    /// Whether the value is a decimal: then the result is one as well.
    private static func isDecimal(_ value: Value) -> Bool {
        if case .decimal = value { return true }
        return false
    }

    /// A number as a double; NaN for what is no number.
    private static func real(_ value: Value) -> Double {
        switch value {
        case .int(let number): return Double(number)
        case .float(let number): return Double(number)
        case .double(let number): return number
        default: return .nan
        }
    }

    /// The result for doubles, with infinities and NaN as IEEE 754 has them.
    private static func double(_ sign: Operator, _ left: Double, _ right: Double) -> Double {
        switch sign {
        case .add: return left + right
        case .subtract: return left - right
        case .multiply: return left * right
        case .divide: return left / right
        }
    }

    /// The result for decimals.
    private static func decimal(_ sign: Operator, _ left: Decimal128, _ right: Decimal128) -> Decimal128 {
        switch sign {
        case .add: return left + right
        case .subtract: return left - right
        case .multiply: return left * right
        case .divide: return left / right
        }
    }
}

extension WriteSession {
    /// The value of an expression over an object, as an input.
    func evaluate(_ expression: Expression, of place: ObjectPlace) throws(WriteError) -> InputValue {
        let value = try expression.value { path throws(WriteError) in try operand(path, of: place) }
        return value.use { value in
            switch value {
            case .null, .list, .dictionary: return .null
            case .bool(let flag): return .bool(flag)
            case .int(let number): return .integer(number)
            case .float(let number): return .typed(.float(number))
            case .double(let number): return .real(number)
            case .string(let bytes): return .typed(.stringBytes(bytes.array))
            case .binary(let bytes): return .typed(.binary(bytes.array))
            case .timestamp(let date): return .typed(.timestamp(date))
            case .decimal(let number): return .typed(.decimal(number))
            case .objectID(let id): return .typed(.objectID(id))
            case .uuid(let id): return .typed(.uuid(id))
            case .link(let table, let object):
                let name = (try? self.table(table).className) ?? ""
                return .link(.stub(className: name, key: .objectKey(object)))
            }
        }
    }

    /// The value at a key path; links on the way may be null, and then so is the value.
    private func operand(_ path: [String], of place: ObjectPlace) throws(WriteError) -> OwnedValue {
        var place = place
        var held = OwnedValue(.null)
        for (index, name) in path.enumerated() {
            let table = try table(place.table)
            guard let column = table.column(named: name), column.collection == nil else {
                throw WriteError(.invalidSchema, "class '\(table.className)' has no single value '\(name)'")
            }
            held = OwnedValue(copying: try stored(try transaction.value(column, of: place.object, in: place.table)))
            guard index < path.count - 1 else { break }
            switch held.value {
            case .null: return held
            case .link(let key, let object): place = ObjectPlace(table: key, object: object)
            default: throw WriteError(.invalidSchema, "'\(name)' leads to no object")
            }
        }
        return held
    }
}
