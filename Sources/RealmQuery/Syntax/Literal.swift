// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform
internal import RealmStorage

/// Converts the text of literal tokens into values.
///
/// The functions expect text that the lexer has accepted, and therefore check only what its rules leave open.
enum Literal {
    /// Reads an integer in C notation: `0x` introduces hexadecimal digits, another leading zero octal ones.
    ///
    /// Reading stops at the first character that is not a digit of the radix, so `08` is 0. Values
    /// beyond 64 bits saturate at the least or the greatest integer.
    ///
    /// - Parameter text: An optional sign and digits.
    /// - Returns: The number.
    static func integer(_ text: some Collection<UInt8>) -> Int64 {
        var rest = text[...]
        let isNegative = rest.first == ASCII.minus
        if isNegative || rest.first == ASCII.plus { rest = rest.dropFirst() }
        var radix: Int64 = 10
        if rest.first == UInt8(ascii: "0") {
            rest = rest.dropFirst()
            radix = 8
            if let mark = rest.first, mark | 0x20 == UInt8(ascii: "x") {
                rest = rest.dropFirst()
                radix = 16
            }
        }
        return accumulate(rest, radix: radix, isNegative: isNegative)
    }

    /// Reads a run of decimal digits, in which leading zeros have no meaning; saturates at the greatest integer.
    static func decimalInteger(_ text: some Collection<UInt8>) -> Int64 {
        accumulate(text[...], radix: 10, isNegative: false)
    }

    /// Adds up digits of a radix, from the most significant one, and saturates beyond 64 bits.
    ///
    /// Negative numbers are accumulated downwards, as the least integer has no positive counterpart.
    private static func accumulate(_ digits: some Collection<UInt8>, radix: Int64, isNegative: Bool) -> Int64 {
        var value: Int64 = 0
        for byte in digits {
            guard let digit = hexDigit(byte), digit < radix else { break }
            let (product, overflows) = value.multipliedReportingOverflow(by: radix)
            let (sum, overflowsToo) =
                isNegative
                ? product.subtractingReportingOverflow(digit) : product.addingReportingOverflow(digit)
            if overflows || overflowsToo { return isNegative ? .min : .max }
            value = sum
        }
        return value
    }

    /// The value of a hexadecimal digit in either letter case; nil for other characters.
    private static func hexDigit(_ byte: UInt8) -> Int64? {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): return Int64(byte - UInt8(ascii: "0"))
        case UInt8(ascii: "a")...UInt8(ascii: "f"): return Int64(byte - UInt8(ascii: "a") + 10)
        case UInt8(ascii: "A")...UInt8(ascii: "F"): return Int64(byte - UInt8(ascii: "A") + 10)
        default: return nil
        }
    }

    /// The hexadecimal digits of `text` as one number, most significant first; other characters are skipped.
    ///
    /// - Parameter text: At most 16 digits count; with more, the first ones are shifted out.
    private static func hexNumber(_ text: some Collection<UInt8>) -> UInt64 {
        text.reduce(0) { number, byte in hexDigit(byte).map { number << 4 | UInt64($0) } ?? number }
    }

    /// Returns the UUID that 32 hexadecimal digits represent, with or without hyphens between them.
    static func uuid(_ text: some Collection<UInt8>) -> UUIDValue {
        let digits = text.filter { hexDigit($0) != nil }
        return UUIDValue(first: hexNumber(digits.prefix(16)), last: hexNumber(digits.dropFirst(16)))
    }

    /// Returns the object id that 24 hexadecimal digits represent.
    static func objectID(_ text: some Collection<UInt8>) -> ObjectID {
        ObjectID(first: hexNumber(text.prefix(16)), last: UInt32(truncatingIfNeeded: hexNumber(text.dropFirst(16))))
    }

    /// The result of reading a timestamp literal. Which case applies decides in which stage the query fails.
    enum TimestampResult {
        /// A valid moment, in seconds and nanoseconds since 1970-01-01 UTC.
        case timestamp(Timestamp)
        /// The literal is malformed: the query is a syntax error, with this detail.
        case syntaxError(String)
        /// The literal is well formed, but the language does not support the date: the query is invalid.
        case invalid(String)
    }

    /// Reads a timestamp literal in either notation: `T` seconds `:` nanoseconds, or a calendar date in UTC.
    ///
    /// - Parameter text: The text of the token.
    /// - Returns: The timestamp, or the category of the error with a detail for the client.
    static func timestamp(_ text: ArraySlice<UInt8>) -> TimestampResult {
        text.first == UInt8(ascii: "T") ? secondsTimestamp(text.dropFirst()) : calendarTimestamp(text)
    }

    /// Reads seconds and nanoseconds since 1970, which must not have opposite signs.
    ///
    /// - Parameter text: The text after the letter `T`.
    private static func secondsTimestamp(_ text: ArraySlice<UInt8>) -> TimestampResult {
        let parts = text.split(separator: ASCII.colon, omittingEmptySubsequences: false)
        guard parts.count == 2 else { return .syntaxError("malformed timestamp") }
        let seconds = integer(parts[0])
        let nanoseconds = integer(parts[1])
        guard nanoseconds > -1_000_000_000, nanoseconds < 1_000_000_000 else {
            return .syntaxError("the nanoseconds of a timestamp must be less than one second")
        }
        guard (seconds >= 0 && nanoseconds >= 0) || (seconds <= 0 && nanoseconds <= 0) else {
            return .syntaxError("seconds and nanoseconds of a timestamp must have the same sign")
        }
        return .timestamp(Timestamp(seconds: seconds, nanoseconds: Int32(truncatingIfNeeded: nanoseconds)))
    }

    /// Reads a calendar date: six or seven numbers, whatever separates them.
    ///
    /// The nanoseconds are subtracted when the seconds are negative, so that both parts have the same sign.
    private static func calendarTimestamp(_ text: ArraySlice<UInt8>) -> TimestampResult {
        let fields = text.split { !Lexer.isDigit($0) }.map { decimalInteger($0) }
        guard fields.count >= 6 else { return .syntaxError("malformed timestamp") }
        let nanoseconds = fields.count > 6 ? fields[6] : 0
        guard nanoseconds < 1_000_000_000 else {
            return .syntaxError("the nanoseconds of a timestamp must be less than one second")
        }
        guard fields[0] >= 1900 else { return .invalid("dates before 1900 are not supported") }
        guard let seconds = secondsSinceEpoch(fields) else { return .invalid("the date is out of range") }
        let signed = Int32(truncatingIfNeeded: seconds < 0 ? -nanoseconds : nanoseconds)
        return .timestamp(Timestamp(seconds: seconds, nanoseconds: signed))
    }

    /// The seconds since 1970-01-01 UTC of year, month, day, hour, minute and second.
    ///
    /// Fields beyond their range carry over: month 13 is January of the next year.
    ///
    /// - Parameter fields: The six fields, and others that are ignored.
    /// - Returns: Nil when a field exceeds 100 thousand million or the sum does not fit into 64
    ///   bits.
    private static func secondsSinceEpoch(_ fields: [Int64]) -> Int64? {
        let bound: Int64 = 100_000_000_000
        guard fields.prefix(6).allSatisfy({ $0 <= bound }) else { return nil }
        let months = fields[0] * 12 + fields[1] - 1
        let year = months.quotientAndRemainder(dividingBy: 12)
        let days = daysSinceEpoch(year: year.quotient, month: year.remainder + 1) + fields[2] - 1
        let seconds = days.multipliedReportingOverflow(by: 86_400)
        let time = fields[3] * 3600 + fields[4] * 60 + fields[5]
        let sum = seconds.partialValue.addingReportingOverflow(time)
        return seconds.overflow || sum.overflow ? nil : sum.partialValue
    }

    /// The days from 1970-01-01 to the first day of a month in the proleptic Gregorian calendar.
    ///
    /// - Parameters:
    ///   - year: The year, at least 1900.
    ///   - month: The month, 1 to 12.
    private static func daysSinceEpoch(year: Int64, month: Int64) -> Int64 {
        // Years that begin in March put the leap day at their end.
        let shifted = month <= 2 ? year - 1 : year
        let monthFromMarch = (month + 9) % 12
        let dayOfYear = (153 * monthFromMarch + 2) / 5
        return shifted * 365 + shifted / 4 - shifted / 100 + shifted / 400 + dayOfYear - 719_468
    }
}
