// SPDX-License-Identifier: Apache-2.0

/// Decimal digits of whole numbers, written into memory or appended to an array of bytes.
///
/// Responses consist mostly of numbers, so these functions write two digits at a time and neither
/// allocate nor use `String`. Callers provide room for `maximumByteCount` bytes.
package enum DigitWriter {
    /// The texts "00", "01" … "99" in one string: two digits per step halve the divisions.
    @usableFromInline static let pairs: StaticString = """
        0001020304050607080910111213141516171819202122232425262728293031323334353637383940414243444546474849\
        5051525354555657585960616263646566676869707172737475767778798081828384858687888990919293949596979899
        """

    /// The greatest number of bytes that one of the functions below writes for a number of 64 bits.
    package static let maximumByteCount = 20

    /// Writes the digits of `number` without leading zeros, and returns how many there are, 1...20.
    @inlinable package static func write(_ number: UInt64, to target: WritableBytes) -> Int {
        let count = digitCount(number)
        write(number, digitCount: count, to: target)
        return count
    }

    /// Writes a minus sign if the number has one, then its digits; returns the number of bytes,
    /// 1...20.
    @inlinable package static func write(_ number: Int64, to target: WritableBytes) -> Int {
        guard number < 0 else { return write(number.magnitude, to: target) }
        target.require(1)
        target[0] = UInt8(ascii: "-")
        return 1 + write(number.magnitude, to: target.suffix(from: 1))
    }

    /// Writes exactly `digitCount` digits, with leading zeros where the number is shorter. A longer
    /// number loses its leading digits.
    @inlinable package static func write(_ number: UInt64, digitCount: Int, to target: WritableBytes) {
        // The table has 200 bytes and a pair is below 100, so both loads are inside it.
        let table = unsafe pairs.utf8Start
        target.require(digitCount)
        var rest = number
        var end = digitCount
        while end >= 2 {
            let quotient = rest / 100
            let pair = Int(truncatingIfNeeded: rest &- quotient &* 100) << 1
            end &-= 2
            target.store(unsafe UInt16(table[pair]) | UInt16(table[pair &+ 1]) << 8, at: end)
            rest = quotient
        }
        if end == 1 { target[0] = 48 &+ UInt8(truncatingIfNeeded: rest % 10) }
    }

    /// Writes the two digits of a number below 100 from `offset` on, where the room has two bytes.
    @inlinable @inline(__always) package static func writePair(_ number: UInt32, to target: WritableBytes, at offset: Int) {
        // One multiplication divides by ten, exactly below 100.
        let tens = (number &* 103) &>> 10
        let ones = number &- tens &* 10
        target.store(0x3030 &+ UInt16(truncatingIfNeeded: ones &<< 8 | tens), at: offset)
    }

    /// Returns how many decimal digits `number` has; 1 for zero.
    @inlinable package static func digitCount(_ number: UInt64) -> Int {
        var count = 1
        var rest = number
        while rest >= 10_000 {
            rest /= 10_000
            count &+= 4
        }
        if rest >= 1000 { return count &+ 3 }
        if rest >= 100 { return count &+ 2 }
        return rest >= 10 ? count &+ 1 : count
    }
}

/// Appending of digits to responses and keys that are built as arrays of bytes.
extension [UInt8] {
    /// Appends the decimal digits of a whole number, with a minus sign where it has one.
    package mutating func append(digitsOf number: Int64) {
        appendBytes(capacity: DigitWriter.maximumByteCount) { DigitWriter.write(number, to: $0) }
    }

    /// Appends the decimal digits of a whole number.
    package mutating func append(digitsOf number: UInt64) {
        appendBytes(capacity: DigitWriter.maximumByteCount) { DigitWriter.write(number, to: $0) }
    }

    /// Appends exactly `digitCount` digits (0...20), with leading zeros where the number is shorter.
    package mutating func append(digitsOf number: UInt64, digitCount: Int) {
        appendBytes(capacity: DigitWriter.maximumByteCount) { target in
            DigitWriter.write(number, digitCount: digitCount, to: target)
            return digitCount
        }
    }

    /// Appends the decimal digits of a number of up to 128 bits.
    package mutating func append(digitsOf number: UInt128) {
        if number >> 64 == 0 { return append(digitsOf: UInt64(truncatingIfNeeded: number)) }
        // Ten to the 19th is the largest power below 2^64, so the lower half always fits.
        let (high, low) = number.quotientAndRemainder(dividingBy: 10_000_000_000_000_000_000)
        append(digitsOf: high)
        append(digitsOf: UInt64(truncatingIfNeeded: low), digitCount: 19)
    }
}
