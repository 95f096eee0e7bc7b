// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform
internal import RealmQuery
internal import RealmStorage

/// Values as numbers and booleans. A number passes when the result is equal to it, or may be rounded to it.
extension ValueConversion {
    // MARK: - Whole numbers

    /// Returns a value as an integer; nil when it has a fraction that may not be rounded, is beyond 64 bits, or is no number.
    func integer(_ value: Value, _ rounding: PropertyChange.Rounding) -> Int64? {
        switch value {
        case .int(let number): return number
        case .bool(let flag): return flag ? 1 : 0
        case .float(let number): return ValueConversion.integer(Double(number), rounding)
        case .double(let number): return ValueConversion.integer(number, rounding)
        case .decimal(let number): return ValueConversion.integer(number, rounding)
        case .string(let bytes): return bytes.validatedString.flatMap { Int64($0) }
        case .timestamp(let date): return ticks(of: date, rounding)
        default: return nil
        }
    }

    /// Returns a real number as an integer, rounded if it may be.
    private static func integer(_ number: Double, _ rounding: PropertyChange.Rounding) -> Int64? {
        switch rounding {
        case .exact: return Int64(exactly: number)
        case .nearest: return Int64(exactly: number.rounded(.toNearestOrEven))
        case .truncate: return Int64(exactly: number.rounded(.towardZero))
        }
    }

    /// Returns a decimal as an integer, rounded if it may be.
    private static func integer(_ number: Decimal128, _ rounding: PropertyChange.Rounding) -> Int64? {
        guard rounding != .exact else { return number.exactInt64 }
        guard let whole = number.truncatedInt64, rounding == .nearest else { return number.truncatedInt64 }
        let fraction = number - Decimal128(whole)
        return rounded(whole, up: (fraction + fraction).compare(1), down: (fraction + fraction).compare(-1))
    }

    /// Returns a whole number, or its neighbour when the fraction that was cut off makes that the nearer
    /// one; nil when 64 bits cannot hold it.
    ///
    /// - Parameters:
    ///   - whole: The number without its fraction.
    ///   - up: How twice the fraction compares with 1.
    ///   - down: How twice the fraction compares with -1.
    private static func rounded(_ whole: Int64, up: Int, down: Int) -> Int64? {
        let isOdd = whole & 1 == 1
        let step: Int64 = up > 0 || up == 0 && isOdd ? 1 : down < 0 || down == 0 && isOdd ? -1 : 0
        let (result, overflow) = whole.addingReportingOverflow(step)
        return overflow ? nil : result
    }

    /// Returns a date as seconds or milliseconds since 1970; nil when smaller parts may not be rounded, and for other forms.
    private func ticks(of date: Timestamp, _ rounding: PropertyChange.Rounding) -> Int64? {
        let perSecond: Int64
        switch form {
        case .seconds: perSecond = 1
        case .milliseconds: perSecond = 1000
        case .usual, .utf8: return nil
        }
        let unit = 1_000_000_000 / perSecond
        let (ticks, rest) = Int64(date.nanoseconds).quotientAndRemainder(dividingBy: unit)
        let (scaled, overflow) = date.seconds.multipliedReportingOverflow(by: perSecond)
        let (whole, carried) = scaled.addingReportingOverflow(ticks)
        guard !overflow, !carried, rest == 0 || rounding != .exact else { return nil }
        guard rounding == .nearest else { return whole }
        let twice = 2 * rest
        return ValueConversion.rounded(
            whole, up: twice < unit ? -1 : twice == unit ? 0 : 1, down: twice > -unit ? 1 : twice == -unit ? 0 : -1)
    }

    // MARK: - Booleans

    /// Returns a value as a boolean: the numbers 0 and 1, and the texts `false` and `true`.
    static func flag(_ value: Value) -> Bool? {
        switch value {
        case .bool(let flag): return flag
        case .int(let number): return flag(number)
        case .float(let number): return Int64(exactly: number).flatMap(flag)
        case .double(let number): return Int64(exactly: number).flatMap(flag)
        case .decimal(let number): return number.exactInt64.flatMap(flag)
        case .string(let bytes):
            switch bytes.validatedString {
            case "true": return true
            case "false": return false
            default: return nil
            }
        default: return nil
        }
    }

    /// Returns 0 as false and 1 as true; nil for other numbers.
    private static func flag(_ number: Int64) -> Bool? { number == 0 ? false : number == 1 ? true : nil }

    // MARK: - Real numbers

    /// Returns a value as a double; nil when it may not be rounded, is beyond the range, or is no number.
    func double(_ value: Value, _ rounding: PropertyChange.Rounding) -> Double? {
        switch value {
        case .double(let number): return number
        case .float(let number): return number.isNaN ? .nan : Double(number)
        case .bool(let flag): return flag ? 1 : 0
        case .int(let number):
            let real = Double(number)
            return rounding != .exact || Int64(exactly: real) == number ? real : nil
        case .decimal(let number):
            return ValueConversion.accept(number.doubleValue, for: number, isExact: true, rounding)
        case .string(let bytes):
            guard let (number, text, isExact) = ValueConversion.number(bytes) else { return nil }
            return ValueConversion.accept(Double(text) ?? number.doubleValue, for: number, isExact: isExact, rounding)
        case .timestamp(let date):
            let real = Double(date.seconds) + Double(date.nanoseconds) / 1_000_000_000
            guard form == .seconds, rounding != .exact || ValueConversion.date(real, .nearest) == date else { return nil }
            return real
        default: return nil
        }
    }

    /// Returns a value as a float; nil when it may not be rounded, is beyond the range, or is no number.
    static func float(_ value: Value, _ rounding: PropertyChange.Rounding) -> Float? {
        switch value {
        case .float(let number): return number
        case .bool(let flag): return flag ? 1 : 0
        case .int(let number):
            let real = Float(number)
            return rounding != .exact || Int64(exactly: real) == number ? real : nil
        case .double(let number):
            guard !number.isNaN else { return .nan }
            let real = Float(number)
            guard real.isFinite || !number.isFinite else { return nil }
            return rounding != .exact || Double(real) == number ? real : nil
        case .decimal(let number):
            return accept(Float(number.description) ?? .nan, for: number, isExact: true, rounding)
        case .string(let bytes):
            guard let (number, text, isExact) = self.number(bytes) else { return nil }
            return accept(Float(text) ?? .nan, for: number, isExact: isExact, rounding)
        default: return nil
        }
    }

    /// Returns a value as a decimal; nil for a text of more than 34 digits that may not be rounded, and
    /// for what is no number. Of a float or double these are the digits of its shortest text.
    static func decimal(_ value: Value, _ rounding: PropertyChange.Rounding) -> Decimal128? {
        switch value {
        case .decimal(let number): return number
        case .int(let number): return Decimal128(number)
        case .bool(let flag): return flag ? 1 : 0
        case .float(let number): return number.isNaN ? .notANumber : shortest { $0.append(shortest: number) }
        case .double(let number): return number.isNaN ? .notANumber : shortest { $0.append(shortest: number) }
        case .string(let bytes):
            guard let (number, _, isExact) = self.number(bytes), isExact || rounding != .exact && number.isFinite else {
                return nil
            }
            return number
        default: return nil
        }
    }

    /// Returns a binary number that was made of a decimal, if it may replace it.
    ///
    /// - Parameters:
    ///   - real: The nearest float or double.
    ///   - isExact: Whether the decimal is all that was written.
    ///   - rounding: Whether the two may differ.
    /// - Returns: Nil for a finite decimal beyond the range, and when digits may not be lost.
    private static func accept<Real: BinaryFloatingPoint>(
        _ real: Real, for number: Decimal128, isExact: Bool, _ rounding: PropertyChange.Rounding
    ) -> Real? {
        if number.isNaN { return .nan }
        guard number.isFinite || isExact, real.isFinite == number.isFinite else { return nil }
        guard rounding == .exact else { return real }
        let back: Decimal128?
        switch real {
        case let real as Float: back = decimal(.float(real), .exact)
        case let real as Double: back = decimal(.double(real), .exact)
        default: back = nil
        }
        return isExact && back?.isEqual(to: number) == true ? real : nil
    }

    /// Returns the decimal of a text that was written for a binary number, without a fraction that is only a zero.
    private static func shortest(_ write: (inout [UInt8]) -> Void) -> Decimal128? {
        var text: [UInt8] = []
        write(&text)
        if text.count > 2, text[text.count - 2] == UInt8(ascii: "."), text.last == UInt8(ascii: "0") { text.removeLast(2) }
        return Decimal128.parse(String(decoding: text, as: UTF8.self))?.value
    }

    /// Reads a text as a number in the usual notation, `NaN` or an infinity; nil for other texts.
    ///
    /// - Returns: The number, its text, and whether 34 digits hold all of it.
    private static func number(_ bytes: ByteView) -> (number: Decimal128, text: String, isExact: Bool)? {
        guard let text = bytes.validatedString else { return nil }
        do throws(NumberText.OutOfRange) {
            return try NumberText.decimal(text).map { ($0, text, true) }
        } catch {
            return Decimal128.parse(text).map { ($0.value, text, false) }
        }
    }
}
