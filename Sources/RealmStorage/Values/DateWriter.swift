// SPDX-License-Identifier: Apache-2.0

package import RealmPlatform

/// Writes dates as RFC 3339 text in UTC: `YYYY-MM-DDTHH:MM:SS[.fraction]Z`, with as many fraction digits as needed.
///
/// The years 0001 to 9999 are those that RFC 3339 can express. The HTTP layer writes dates outside
/// of them in another form, so callers use `canWrite` first.
package enum DateWriter {
    /// The seconds from 0001-01-01T00:00:00Z to 9999-12-31T23:59:59Z.
    package static let writableSeconds: ClosedRange<Int64> = -62_135_596_800...253_402_300_799

    /// The greatest number of bytes that a date takes.
    package static let maximumByteCount = 30

    /// Returns whether a date lies in the years 0001 to 9999.
    package static func canWrite(_ date: Timestamp) -> Bool { writableSeconds.contains(date.floor.seconds) }

    /// Writes a date and returns its length in bytes; 0, and nothing is written, outside the years 0001 to 9999.
    ///
    /// - Parameters:
    ///   - target: Room for `maximumByteCount` bytes.
    package static func write(_ date: Timestamp, to target: WritableBytes) -> Int {
        let (seconds, nanoseconds) = date.floor
        guard writableSeconds.contains(seconds) else { return 0 }
        target.require(maximumByteCount)
        let days = CalendarDate.floorDivide(seconds, Timestamp.secondsPerDay)
        let day = CalendarDate(daysSinceEpoch: days)
        let second = UInt32(truncatingIfNeeded: seconds - days * Timestamp.secondsPerDay)
        let year = UInt32(truncatingIfNeeded: day.year)
        DigitWriter.writePair(year / 100, to: target, at: 0)
        DigitWriter.writePair(year % 100, to: target, at: 2)
        put(UInt32(truncatingIfNeeded: day.month), "-", target, at: 4)
        put(UInt32(truncatingIfNeeded: day.day), "-", target, at: 7)
        put(second / 3600, "T", target, at: 10)
        put(second / 60 % 60, ":", target, at: 13)
        put(second % 60, ":", target, at: 16)
        let count = 19 + write(fraction: UInt32(truncatingIfNeeded: nanoseconds), to: target, at: 19)
        target[count] = UInt8(ascii: "Z")
        return count + 1
    }

    /// Writes a point and as many digits of a fraction as it needs, nothing for 0, and returns the length in bytes.
    ///
    /// - Parameters:
    ///   - nanoseconds: The fraction, below 10^9.
    ///   - target: Room for ten bytes from `start` on.
    ///   - start: Where the point belongs.
    @inline(__always)
    private static func write(fraction nanoseconds: UInt32, to target: WritableBytes, at start: Int) -> Int {
        guard nanoseconds != 0 else { return 0 }
        var (digits, digitCount) = (nanoseconds, 9)
        while digits % 1000 == 0 {
            digits /= 1000
            digitCount -= 3
        }
        while digits % 10 == 0 {
            digits /= 10
            digitCount -= 1
        }
        target[start] = UInt8(ascii: ".")
        DigitWriter.write(UInt64(digits), digitCount: digitCount, to: target.suffix(from: start + 1))
        return digitCount + 1
    }

    /// Writes a separator with two digits after it.
    @inline(__always)
    private static func put(_ number: UInt32, _ separator: Unicode.Scalar, _ target: WritableBytes, at offset: Int) {
        target[offset] = UInt8(truncatingIfNeeded: separator.value)
        DigitWriter.writePair(number, to: target, at: offset + 1)
    }
}
