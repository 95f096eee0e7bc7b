// SPDX-License-Identifier: Apache-2.0

/// Writes the shortest decimal text that reads back as the same floating-point number.
///
/// The text always has a point or an exponent, so that it is valid JSON and distinguishes a double
/// from an integer: `1.0`, `-0.0`, `0.1`, `1e+20`. Numbers that are not finite become `NaN`,
/// `Infinity` or `-Infinity`, which JSON needs in quotes.
package enum RealWriter {
    /// The greatest number of bytes that is written for a number; the longest text of a double has 24.
    package static let maximumByteCount = 32

    /// Writes the text of `number` and returns its length in bytes.
    ///
    /// Reading the text back gives the same number, bit by bit, except that all NaNs become one.
    ///
    /// - Parameters:
    ///   - number: The number.
    ///   - target: Room for `maximumByteCount` bytes.
    package static func write(_ number: Double, to target: ByteRoom) -> Int {
        target.require(maximumByteCount)
        let magnitude = number.magnitude
        // Numbers of up to 15 digits with few decimals are the common case and need no search for the shortest text.
        if magnitude < 1e15, magnitude >= 0.001 || magnitude == 0 {
            let isNegative = number.sign == .minus
            if isNegative { target[0] = UInt8(ascii: "-") }
            let start = isNegative ? 1 : 0
            if let count = writeShort(magnitude, to: target.suffix(from: start)) { return start + count }
        }
        guard number.isFinite else { return target.store(special(isNaN: number.isNaN, number.sign)) }
        return target.store(number.description)
    }

    /// Writes the shortest text that reads back as the same 32-bit number, and returns its length
    /// in bytes.
    package static func write(_ number: Float, to target: ByteRoom) -> Int {
        guard number.isFinite else { return target.store(special(isNaN: number.isNaN, number.sign)) }
        return target.store(number.description)
    }

    /// Writes a number below 10^15 that is an integer divided by 1, 10, 100, 1000 or 10000; nil for
    /// all others.
    ///
    /// The quotient of two exact numbers is rounded correctly, so the decimal that is found reads
    /// back as `magnitude`; fewer decimals are tried first, so it is the shortest.
    private static func writeShort(_ magnitude: Double, to target: ByteRoom) -> Int? {
        let whole = UInt64(magnitude)
        if Double(whole) == magnitude { return write(whole, fraction: 0, digitCount: 1, to: target) }
        var unit = 1.0
        for digitCount in 1...4 {
            unit *= 10
            let scaled = (magnitude * unit).rounded()
            guard scaled < 1e15 else { return nil }
            if scaled / unit == magnitude {
                let (whole, fraction) = UInt64(scaled).quotientAndRemainder(dividingBy: UInt64(unit))
                return write(whole, fraction: fraction, digitCount: digitCount, to: target)
            }
        }
        return nil
    }

    /// Writes a number with `digitCount` decimals, and returns the length of the text in bytes.
    private static func write(
        _ whole: UInt64, fraction: UInt64, digitCount: Int, to target: ByteRoom
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
