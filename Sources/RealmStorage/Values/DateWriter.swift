// SPDX-License-Identifier: Apache-2.0

/// Writes dates as RFC 3339 text in UTC: `YYYY-MM-DDTHH:MM:SS[.fraction]Z`, with as many fraction
/// digits as needed.
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

    /// Writes a date and returns its length in bytes; 0, and nothing is written, outside the years
    /// 0001 to 9999.
    ///
    /// - Parameters:
    ///   - date: The date.
    ///   - target: Room for `maximumByteCount` bytes.
    package static func write(_ date: Timestamp, to target: ByteRoom) -> Int {
        guard canWrite(date) else { return 0 }
        target.require(maximumByteCount)
        let (seconds, nanoseconds) = date.floor
        let days = CalendarDate.floorDivide(seconds, Timestamp.secondsPerDay)
        let day = CalendarDate(daysSinceEpoch: days)
        let second = UInt64(truncatingIfNeeded: seconds - days * Timestamp.secondsPerDay)
        DigitWriter.write(UInt64(truncatingIfNeeded: day.year), digitCount: 4, to: target)
        put(UInt64(truncatingIfNeeded: day.month), "-", target.suffix(from: 4))
        put(UInt64(truncatingIfNeeded: day.day), "-", target.suffix(from: 7))
        put(second / 3600, "T", target.suffix(from: 10))
        put(second / 60 % 60, ":", target.suffix(from: 13))
        put(second % 60, ":", target.suffix(from: 16))
        var count = 19
        if nanoseconds != 0 {
            target[count] = UInt8(ascii: ".")
            DigitWriter.write(UInt64(truncatingIfNeeded: nanoseconds), digitCount: 9, to: target.suffix(from: count + 1))
            count += 10
            while target[count - 1] == UInt8(ascii: "0") { count -= 1 }
        }
        target[count] = UInt8(ascii: "Z")
        return count + 1
    }

    /// Writes a separator with two digits after it.
    @inline(__always)
    private static func put(_ number: UInt64, _ separator: Unicode.Scalar, _ target: ByteRoom) {
        target[0] = UInt8(truncatingIfNeeded: separator.value)
        DigitWriter.write(number, digitCount: 2, to: target.suffix(from: 1))
    }
}
