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
    package static func write(_ date: Timestamp, to target: UnsafeMutablePointer<UInt8>) -> Int {
        guard canWrite(date) else { return 0 }
        let (seconds, nanoseconds) = date.floor
        let days = CalendarDate.floorDivide(seconds, Timestamp.secondsPerDay)
        let day = CalendarDate(daysSinceEpoch: days)
        let second = UInt64(truncatingIfNeeded: seconds - days * Timestamp.secondsPerDay)
        unsafe DigitWriter.write(UInt64(truncatingIfNeeded: day.year), digitCount: 4, to: target)
        unsafe put(UInt64(truncatingIfNeeded: day.month), "-", target + 4)
        unsafe put(UInt64(truncatingIfNeeded: day.day), "-", target + 7)
        unsafe put(second / 3600, "T", target + 10)
        unsafe put(second / 60 % 60, ":", target + 13)
        unsafe put(second % 60, ":", target + 16)
        var count = 19
        if nanoseconds != 0 {
            unsafe target[count] = UInt8(ascii: ".")
            unsafe DigitWriter.write(UInt64(truncatingIfNeeded: nanoseconds), digitCount: 9, to: target + count + 1)
            count += 10
            while unsafe target[count - 1] == UInt8(ascii: "0") { count -= 1 }
        }
        unsafe target[count] = UInt8(ascii: "Z")
        return count + 1
    }

    /// Writes a separator with two digits after it.
    @inline(__always)
    private static func put(_ number: UInt64, _ separator: Unicode.Scalar, _ target: UnsafeMutablePointer<UInt8>) {
        unsafe target[0] = UInt8(truncatingIfNeeded: separator.value)
        unsafe DigitWriter.write(number, digitCount: 2, to: target + 1)
    }
}
