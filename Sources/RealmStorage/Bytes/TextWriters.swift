// SPDX-License-Identifier: Apache-2.0

/// Hex digits, written straight into memory.
package enum HexWriter {
    /// Writes the lower-case digits of the `byteCount` low bytes of `word`, most significant first.
    package static func write(_ word: UInt64, byteCount: Int, to target: UnsafeMutablePointer<UInt8>) {
        var target = unsafe target
        var left = byteCount
        while left >= 4 {
            left &-= 4
            unsafe UnsafeMutableRawPointer(target).storeBytes(
                of: digits(UInt32(truncatingIfNeeded: word >> UInt64(left &* 8))), as: UInt64.self)
            unsafe target += 8
        }
        guard left > 0 else { return }
        unsafe withUnsafeBytes(of: digits(UInt32(truncatingIfNeeded: word) << UInt32((4 &- left) &* 8))) { bytes in
            unsafe UnsafeMutableRawPointer(target).copyMemory(from: bytes.baseAddress.unsafelyUnwrapped, byteCount: left &* 2)
        }
    }

    /// The eight digits of a word in the order of memory: each of its bytes is spread over two, and all are made letters at once.
    @inline(__always) private static func digits(_ word: UInt32) -> UInt64 {
        var spread = UInt64(word.byteSwapped)
        spread = (spread | spread << 16) & 0x0000_ffff_0000_ffff
        spread = (spread | spread << 8) & 0x00ff_00ff_00ff_00ff
        spread = spread >> 4 & 0x000f_000f_000f_000f | (spread & 0x000f_000f_000f_000f) << 8
        // One in each byte that is 10 or more.
        let isLetter = (spread &+ 0x0606_0606_0606_0606) >> 4 & 0x0101_0101_0101_0101
        return (spread &+ 0x3030_3030_3030_3030 &+ isLetter &* 39).littleEndian
    }
}

extension ObjectID {
    /// The length of the text.
    package static let textByteCount = 24

    /// Writes 24 lower-case hex digits.
    package func write(to target: UnsafeMutablePointer<UInt8>) {
        unsafe HexWriter.write(first, byteCount: 8, to: target)
        unsafe HexWriter.write(UInt64(last), byteCount: 4, to: target + 16)
    }
}

extension UUIDValue {
    /// The length of the text.
    package static let textByteCount = 36

    /// Writes the canonical lower-case form in five groups.
    package func write(to target: UnsafeMutablePointer<UInt8>) {
        unsafe HexWriter.write(first >> 32, byteCount: 4, to: target)
        unsafe HexWriter.write(first >> 16, byteCount: 2, to: target + 9)
        unsafe HexWriter.write(first, byteCount: 2, to: target + 14)
        unsafe HexWriter.write(last >> 48, byteCount: 2, to: target + 19)
        unsafe HexWriter.write(last, byteCount: 6, to: target + 24)
        unsafe target[8] = UInt8(ascii: "-")
        unsafe target[13] = UInt8(ascii: "-")
        unsafe target[18] = UInt8(ascii: "-")
        unsafe target[23] = UInt8(ascii: "-")
    }
}

/// RFC 3339 in UTC: `YYYY-MM-DDTHH:MM:SS[.fraction]Z`, with as many fraction digits as needed.
package enum DateWriter {
    /// Seconds of 0001-01-01T00:00:00Z and 9999-12-31T23:59:59Z.
    package static let writableSeconds: ClosedRange<Int64> = -62_135_596_800...253_402_300_799

    /// The most bytes that a date takes.
    package static let maximumByteCount = 30

    /// Whether a date lies in the years 0001 to 9999.
    package static func canWrite(_ date: Timestamp) -> Bool { writableSeconds.contains(date.floor.seconds) }

    /// Writes a date and returns its length in bytes; 0, and nothing is written, outside the years 0001 to 9999.
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

    /// A separator with two digits behind it.
    @inline(__always)
    private static func put(_ number: UInt64, _ separator: Unicode.Scalar, _ target: UnsafeMutablePointer<UInt8>) {
        unsafe target[0] = UInt8(truncatingIfNeeded: separator.value)
        unsafe DigitWriter.write(number, digitCount: 2, to: target + 1)
    }
}
