// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform

/// Reads the parts of a number from text and rounds them to a decimal.
///
/// The first 34 significant digits are kept exactly; of the rest only what rounding needs is remembered. So the time is that of
/// reading the text, and no text can make the number of digits in memory grow.
package struct DecimalReader {
    let text: ByteView
    /// The index of the next byte to be read.
    var position = 0
    /// The first 34 significant digits as an integer.
    var coefficient: UInt128 = 0
    /// How many significant digits were read, those that do not fit included.
    var digitCount = 0
    /// The first digit that does not fit into the coefficient.
    var roundDigit: UInt8 = 0
    /// Whether a digit after `roundDigit` was not zero.
    var isSticky = false
    /// The power of ten that belongs to the coefficient.
    var exponent = 0

    /// Makes a reader at the start of `text`.
    init(_ text: ByteView) { self.text = text }

    /// Reads the whole text; nil when it is not a number. It may be called once.
    mutating func read() -> DecimalReader.ParsedDecimal? {
        let isNegative = readSign()
        guard let first = peek else { return nil }
        guard first == UInt8(ascii: ".") || isDigit(first) else { return readSpecial(isNegative) }
        guard readDigits(), position == text.count || readExponent() else { return nil }
        return position == text.count ? rounded(isNegative) : nil
    }

    /// The next byte; nil at the end.
    private var peek: UInt8? { position < text.count ? text[position] : nil }

    /// Whether a byte is one of the digits 0 to 9.
    private func isDigit(_ byte: UInt8) -> Bool { byte &- UInt8(ascii: "0") < 10 }

    /// Skips a sign, if there is one, and returns whether it was a minus.
    private mutating func readSign() -> Bool {
        guard let byte = peek, byte == UInt8(ascii: "-") || byte == UInt8(ascii: "+") else { return false }
        position += 1
        return byte == UInt8(ascii: "-")
    }

    /// Reads the words for NaN and the infinities, in any letter case.
    private func readSpecial(_ isNegative: Bool) -> DecimalReader.ParsedDecimal? {
        let special: Decimal128
        switch text.suffix(from: position).string.lowercasedASCII {
        case "inf", "infinity": special = isNegative ? .negativeInfinity : .infinity
        case "nan":
            special = Decimal128(
                low: 0, high: Decimal128.notANumber.high | (isNegative ? Decimal128.signBit : 0))
        default: return nil
        }
        return DecimalReader.ParsedDecimal(value: special, isExact: true)
    }

    /// Reads digits with an optional point; returns false when there is no digit at all.
    private mutating func readDigits() -> Bool {
        var hasDigit = false
        var isFraction = false
        while let byte = peek {
            if isDigit(byte) {
                hasDigit = true
                take(byte &- UInt8(ascii: "0"), isFraction)
            } else if byte == UInt8(ascii: "."), !isFraction {
                isFraction = true
            } else {
                break
            }
            position += 1
        }
        return hasDigit
    }

    /// Adds a digit to the coefficient, or to the digits that are rounded away.
    private mutating func take(_ digit: UInt8, _ isFraction: Bool) {
        if digitCount < Decimal128.maximumDigitCount {
            coefficient = coefficient * 10 + UInt128(digit)
            if coefficient != 0 { digitCount += 1 }
            if isFraction { exponent -= 1 }
            return
        }
        if digitCount == Decimal128.maximumDigitCount { roundDigit = digit } else if digit != 0 { isSticky = true }
        digitCount += 1
        if !isFraction { exponent += 1 }
    }

    /// Reads `e`, an optional sign and digits; returns false when it is incomplete. The exponent
    /// saturates far outside of those of a decimal.
    private mutating func readExponent() -> Bool {
        guard let byte = peek, byte | 0x20 == UInt8(ascii: "e") else { return false }
        position += 1
        let isNegative = readSign()
        var power = 0
        var hasDigit = false
        while let byte = peek, isDigit(byte) {
            hasDigit = true
            power = min(power * 10 + Int(byte &- UInt8(ascii: "0")), 1 << 40)
            position += 1
        }
        exponent += isNegative ? -power : power
        return hasDigit
    }

    /// Returns the number that was read, rounded half to even.
    private func rounded(_ isNegative: Bool) -> DecimalReader.ParsedDecimal {
        var coefficient = coefficient
        var exponent = exponent
        var isExact = roundDigit == 0 && !isSticky
        let roundsUp = roundDigit > 5 || (roundDigit == 5 && (isSticky || coefficient & 1 == 1))
        if exponent < Decimal128.exponents.lowerBound {
            return tiny(isNegative)
        }
        if roundsUp { coefficient += 1 }
        if coefficient > Decimal128.maximumCoefficient {
            coefficient /= 10
            exponent += 1
        }
        while exponent > Decimal128.exponents.upperBound, coefficient != 0, coefficient * 10 <= Decimal128.maximumCoefficient {
            coefficient *= 10
            exponent -= 1
        }
        if exponent > Decimal128.exponents.upperBound {
            if coefficient != 0 {
                return DecimalReader.ParsedDecimal(value: isNegative ? .negativeInfinity : .infinity, isExact: false)
            }
            exponent = Decimal128.exponents.upperBound
        }
        if coefficient == 0 { isExact = true }
        return DecimalReader.ParsedDecimal(
            value: Decimal128(isNegative: isNegative, coefficient: coefficient, exponent: exponent), isExact: isExact)
    }

    /// Returns a number with digits below the smallest exponent: they are rounded away in one step with those after the 34th.
    private func tiny(_ isNegative: Bool) -> DecimalReader.ParsedDecimal {
        let lowest = Decimal128.exponents.lowerBound
        let dropped = lowest - exponent
        let hasTail = roundDigit != 0 || isSticky
        guard dropped <= Decimal128.maximumDigitCount + 1 else {
            let zero = Decimal128(isNegative: isNegative, coefficient: 0, exponent: lowest)
            return DecimalReader.ParsedDecimal(value: zero, isExact: coefficient == 0)
        }
        let unit = PowersOfTen.values[dropped]
        let (quotient, remainder) = coefficient.quotientAndRemainder(dividingBy: unit)
        let isAboveHalf = remainder > unit / 2 || (remainder == unit / 2 && hasTail)
        let roundsUp = isAboveHalf || (remainder == unit / 2 && quotient & 1 == 1)
        return DecimalReader.ParsedDecimal(
            value: Decimal128(isNegative: isNegative, coefficient: roundsUp ? quotient + 1 : quotient, exponent: lowest),
            isExact: remainder == 0 && !hasTail)
    }
}

extension DecimalReader {
    /// A decimal that was read from text, with a note whether the text was kept exactly.
    ///
    /// A text that is not exact is rejected as the value of a property; a comparison in a query rounds it.
    package struct ParsedDecimal: Sendable {
        /// The number, rounded if needed.
        package let value: Decimal128
        /// Whether no digit was lost. It is false when digits after the 34th were rounded away, the
        /// number became infinite because of its size, or digits were lost below the smallest exponent.
        package let isExact: Bool
    }
}
