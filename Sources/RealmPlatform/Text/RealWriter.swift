// SPDX-License-Identifier: Apache-2.0

/// Writes the shortest decimal text that reads back as the same floating-point number.
///
/// The text always has a point or an exponent, so that it is valid JSON and distinguishes a double from an integer: `1.0`,
/// `-0.0`, `0.1`, `1e+20`. Numbers that are not finite become `NaN`, `Infinity` or `-Infinity`, which JSON needs in quotes.
package enum RealWriter {
    /// The greatest number of bytes that is written for a number; the longest text of a double has 24.
    package static let maximumByteCount = 32

    /// Writes the text of `number` and returns its length in bytes.
    ///
    /// Reading the text back gives the same number, bit by bit, except that all NaNs become one.
    ///
    /// - Parameters:
    ///   - target: Room for `maximumByteCount` bytes.
    package static func write(_ number: Double, to target: WritableBytes) -> Int {
        target.require(maximumByteCount)
        let magnitude = number.magnitude
        // Most numbers are in this range, in which all of the calculation is exact.
        if magnitude < 1e15, magnitude >= 0.001 || magnitude == 0 {
            let isNegative = number.sign == .minus
            if isNegative { target[0] = UInt8(ascii: "-") }
            let start = isNegative ? 1 : 0
            if let count = writeDecimal(magnitude, to: target.suffix(from: start)) { return start + count }
        }
        guard number.isFinite else { return target.store(special(isNaN: number.isNaN, number.sign)) }
        return target.store(number.description)
    }

    /// Writes the shortest text that reads back as the same 32-bit number, and returns its length in bytes.
    package static func write(_ number: Float, to target: WritableBytes) -> Int {
        guard number.isFinite else { return target.store(special(isNaN: number.isNaN, number.sign)) }
        return target.store(number.description)
    }

    /// Writes a positive number from 0.001 up to 10^15, or zero; nil for a power of two, whose neighbours are not equally far away.
    ///
    /// A double is `significand` times a negative power of two, and represents all numbers that are nearer to it than to its
    /// neighbours. The scale is the power of ten that has between one and ten multiples among these. If one of them is a multiple
    /// of ten times as much, it is the only such one and the shortest text; otherwise the nearest multiple is. In this range all
    /// products fit 128 bits, so nothing is rounded on the way.
    private static func writeDecimal(_ magnitude: Double, to target: WritableBytes) -> Int? {
        let whole = UInt64(magnitude)
        if Double(whole) == magnitude { return write(whole, fraction: 0, digitCount: 1, to: target) }
        // A quotient of two exact numbers is rounded correctly, so it reads back; there is no other text of as few digits.
        let scaled = magnitude * 10_000
        if scaled < 1e15 {
            let digits = UInt64(scaled + 0.5)
            if Double(digits) / 10_000 == magnitude { return writeFourDecimals(digits, to: target) }
        }
        let fractionBits = magnitude.significandBitPattern
        guard fractionBits != 0 else { return nil }
        let significand = fractionBits | 1 << 52
        let exponent = Int(truncatingIfNeeded: magnitude.exponentBitPattern) - 1075
        // The logarithm of two, times 2^22.
        let decimals = -((exponent &* 1_262_611) >> 22)
        let power = powersOfTen[decimals]
        let shift = UInt128(1 - exponent)
        let middle = product(2 * significand, power)
        let isEven = significand & 1 == 0
        let low = middle - UInt128(power) + (isEven ? 0 : 1)
        let high = middle + UInt128(power) - (isEven ? 0 : 1)
        let unit = UInt64(truncatingIfNeeded: middle &>> shift)
        let below = unit - unit % 10
        let hasBelow = UInt128(below) &<< shift >= low
        let hasAbove = UInt128(below + 10) &<< shift <= high
        if hasBelow != hasAbove { return write(hasBelow ? below : below + 10, decimals: decimals, to: target) }
        let hasUnit = UInt128(unit) &<< shift >= low
        let hasNext = UInt128(unit + 1) &<< shift <= high
        guard hasUnit == hasNext else { return write(hasUnit ? unit : unit + 1, decimals: decimals, to: target) }
        let half = UInt128(2 * unit + 1) &<< (shift - 1)
        let isNext = half == middle ? unit & 1 == 1 : half < middle
        return write(isNext ? unit + 1 : unit, decimals: decimals, to: target)
    }

    /// Writes a number of ten-thousandths that is no whole number, without zeros at the end.
    @inline(__always)
    private static func writeFourDecimals(_ digits: UInt64, to target: WritableBytes) -> Int {
        let (whole, fraction) = digits.quotientAndRemainder(dividingBy: 10_000)
        guard fraction % 100 == 0 else {
            if fraction % 10 != 0 { return write(whole, fraction: fraction, digitCount: 4, to: target) }
            return write(whole, fraction: fraction / 10, digitCount: 3, to: target)
        }
        let hundredths = fraction / 100
        if hundredths % 10 != 0 { return write(whole, fraction: hundredths, digitCount: 2, to: target) }
        return write(whole, fraction: hundredths / 10, digitCount: 1, to: target)
    }

    /// The powers of ten that fit 64 bits.
    package static let powersOfTen: [UInt64] = (0...19).map { exponent in (0..<exponent).reduce(1) { power, _ in power * 10 } }

    /// Returns the product of two numbers.
    @inline(__always)
    private static func product(_ left: UInt64, _ right: UInt64) -> UInt128 {
        let (high, low) = left.multipliedFullWidth(by: right)
        return UInt128(high) << 64 | UInt128(low)
    }

    /// Writes digits of which so many are decimals, without zeros at the end, and returns the length of the text in bytes.
    private static func write(_ digits: UInt64, decimals: Int, to target: WritableBytes) -> Int {
        var digits = digits
        var decimals = decimals
        func drop(_ count: Int, dividingBy power: UInt64) {
            digits /= power
            decimals -= count
        }
        // There are at most 18 zeros, and no decimals without another digit.
        if digits % 100_000_000 == 0 { drop(8, dividingBy: 100_000_000) }
        if digits % 100_000_000 == 0 { drop(8, dividingBy: 100_000_000) }
        if digits % 10_000 == 0 { drop(4, dividingBy: 10_000) }
        if digits % 100 == 0 { drop(2, dividingBy: 100) }
        while digits % 10 == 0 { drop(1, dividingBy: 10) }
        let (whole, fraction) = digits.quotientAndRemainder(dividingBy: powersOfTen[decimals])
        return write(whole, fraction: fraction, digitCount: decimals, to: target)
    }

    /// Writes a number with `digitCount` decimals, and returns the length of the text in bytes.
    private static func write(
        _ whole: UInt64, fraction: UInt64, digitCount: Int, to target: WritableBytes
    ) -> Int {
        let count = DigitWriter.write(whole, to: target)
        target[count] = UInt8(ascii: ".")
        DigitWriter.write(fraction, digitCount: digitCount, to: target.suffix(from: count + 1))
        return count + 1 + digitCount
    }

    /// Returns the text of a number that is not finite.
    private static func special(isNaN: Bool, _ sign: FloatingPointSign) -> String {
        isNaN ? "NaN" : sign == .minus ? "-Infinity" : "Infinity"
    }
}

/// Appending of floating-point numbers to arrays of bytes.
extension [UInt8] {
    /// Appends the shortest text that reads back as `number`; see `RealWriter`.
    package mutating func append(shortest number: Double) {
        appendBytes(capacity: RealWriter.maximumByteCount) { RealWriter.write(number, to: $0) }
    }

    /// Appends the shortest text that reads back as the same 32-bit `number`; see `RealWriter`.
    package mutating func append(shortest number: Float) {
        appendBytes(capacity: RealWriter.maximumByteCount) { RealWriter.write(number, to: $0) }
    }
}
