// SPDX-License-Identifier: Apache-2.0

internal import CDecimal

/// The number of the decimal library for rounding to nearest, ties to even, which is the only mode in use.
let nearestEven: UInt32 = 0

/// Conversion to the type of the decimal library.
extension BID_UINT128 {
    /// Makes the number that the functions of the decimal library take.
    init(_ number: Decimal128) { self.init(w: (number.low, number.high)) }
}

/// Conversion from the type of the decimal library.
extension Decimal128 {
    /// Makes a decimal from a result of the decimal library.
    init(_ number: BID_UINT128) { self.init(low: number.w.0, high: number.w.1) }
}

/// Conversions between decimals and binary numbers, on which the rules of comparison rely.
extension Decimal128 {
    /// Makes the same number as an integer, exactly, with exponent 0.
    package init(_ number: Int64) {
        self.init(low: number.magnitude, high: 0x3040_0000_0000_0000 | (number < 0 ? Decimal128.signBit : 0))
    }

    /// Makes a double rounded to 15 significant digits, the form in which it is compared with decimals.
    package init(_ number: Double) { self.init(number, significantDigits: 15) }

    /// Makes a float rounded to 7 significant digits, the form in which it is compared with decimals.
    package init(_ number: Float) { self.init(Double(number), significantDigits: 7) }

    /// Makes a double rounded to 34 significant digits. Doubles and decimals keep their exact order, since different doubles remain
    /// different.
    init(nearest number: Double) {
        var flags: UInt32 = 0
        self = unsafe Decimal128(__binary64_to_bid128(number, nearestEven, &flags))
    }

    /// Rounds a number to a number of digits; one that needs no more digits keeps the exponent of its exact conversion.
    private init(_ number: Double, significantDigits: Int) {
        let exact = Decimal128(nearest: number)
        let digits = PowersOfTen.digitCount(exact.coefficient)
        guard exact.isFinite, digits > significantDigits else {
            self = exact
            return
        }
        self = exact.droppingDigits(digits - significantDigits)
    }

    /// Returns this finite number with its last `count` digits rounded away. A carry into a new digit drops one digit more.
    private func droppingDigits(_ count: Int) -> Decimal128 {
        let rounded = Decimal128.roundHalfEven(coefficient, droppingDigits: count)
        let kept = PowersOfTen.digitCount(coefficient) - count
        let carried = PowersOfTen.digitCount(rounded) > kept
        return Decimal128(
            isNegative: isNegative, coefficient: carried ? rounded / 10 : rounded,
            exponent: exponent + count + (carried ? 1 : 0))
    }

    /// Returns `number` / 10^`count` rounded to the nearest integer, ties to the even one; `count` must be 1...38.
    static func roundHalfEven(_ number: UInt128, droppingDigits count: Int) -> UInt128 {
        let unit = PowersOfTen.values[count]
        let (quotient, remainder) = number.quotientAndRemainder(dividingBy: unit)
        let half = unit / 2
        let roundsUp = remainder > half || (remainder == half && quotient & 1 == 1)
        return roundsUp ? quotient + 1 : quotient
    }

    /// The nearest double; numbers beyond its range become infinite.
    package var doubleValue: Double {
        var flags: UInt32 = 0
        return unsafe __bid128_to_binary64(BID_UINT128(self), nearestEven, &flags)
    }

    /// The number truncated toward zero; nil when that does not fit into 64 bits or the number is not finite.
    package var truncatedInt64: Int64? {
        guard isFinite else { return nil }
        let coefficient = coefficient
        guard coefficient != 0, exponent > -Decimal128.maximumDigitCount else { return 0 }
        if exponent <= 0 { return signed(coefficient / PowersOfTen.values[-exponent]) }
        guard exponent < 19 else { return nil }
        let (product, overflow) = coefficient.multipliedReportingOverflow(by: PowersOfTen.values[exponent])
        return overflow ? nil : signed(product)
    }

    /// The number as a 64-bit integer if it is one exactly; nil otherwise.
    package var exactInt64: Int64? {
        guard let truncated = truncatedInt64, Decimal128(truncated).isEqual(to: self) else { return nil }
        return truncated
    }

    /// Returns the magnitude with the sign of this number; nil when that does not fit into 64 bits.
    private func signed(_ magnitude: UInt128) -> Int64? {
        isNegative
            ? Int64(exactly: -Int128(truncatingIfNeeded: min(magnitude, 1 << 64)))
            : Int64(exactly: magnitude)
    }
}

/// Decimals from integer literals in code.
extension Decimal128: ExpressibleByIntegerLiteral {
    /// Makes the integer of a literal, exactly.
    package init(integerLiteral number: Int64) { self.init(number) }
}
