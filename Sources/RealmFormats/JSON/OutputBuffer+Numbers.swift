// SPDX-License-Identifier: Apache-2.0

package import RealmPlatform
package import RealmStorage

extension OutputBuffer {
    /// Appends the decimal digits of a number, after `-` when it is negative.
    @inline(__always) package func append(decimal number: Int64) {
        advance(DigitWriter.write(number, to: room(DigitWriter.maximumByteCount)))
    }

    /// Appends a number with a fixed number of digits. The sign is not written.
    ///
    /// - Parameters:
    ///   - width: The number of digits to write, from 1 to 19. Leading zeros fill up; digits beyond the width are cut off on the
    ///     left.
    package func append(padded number: Int, width: Int) {
        DigitWriter.write(UInt64(number.magnitude), digitCount: width, to: room(width))
        advance(width)
    }

    /// Appends the shortest text that reads back as the same double.
    ///
    /// - Returns: False when the number is NaN or infinite; nothing was written then.
    package func append(shortest number: Double) -> Bool {
        guard number.isFinite else { return false }
        advance(RealWriter.write(number, to: room(RealWriter.maximumByteCount)))
        return true
    }

    /// Appends the shortest text that reads back as the same 32-bit float.
    ///
    /// - Returns: False when the number is NaN or infinite; nothing was written then.
    package func append(shortest number: Float) -> Bool {
        guard number.isFinite else { return false }
        advance(RealWriter.write(number, to: room(RealWriter.maximumByteCount)))
        return true
    }

    /// Appends `"NaN"`, `"Infinity"` or `"-Infinity"` with the quotes, for a number that JSON has no token for.
    package func append(special number: Double) {
        append(number.isNaN ? "\"NaN\"" as StaticString : number < 0 ? "\"-Infinity\"" : "\"Infinity\"")
    }

    /// Appends lower-case hexadecimal digits, the most significant first.
    ///
    /// - Parameters:
    ///   - word: The bits to write.
    ///   - byteCount: The number of its low bytes to write, two digits for each.
    package func append(hex word: UInt64, byteCount: Int) {
        HexWriter.write(word, byteCount: byteCount, to: room(byteCount * 2))
        advance(byteCount * 2)
    }

    /// Appends the 24 hexadecimal digits of an object id, without quotes.
    package func append(_ id: ObjectID) {
        id.write(to: room(ObjectID.textByteCount))
        advance(ObjectID.textByteCount)
    }

    /// Appends a UUID in its canonical form of five groups, without quotes.
    package func append(_ uuid: UUIDValue) {
        uuid.write(to: room(UUIDValue.textByteCount))
        advance(UUIDValue.textByteCount)
    }
}

extension OutputBuffer {
    /// Appends a date as RFC 3339 in UTC, with as many digits of the fraction as it needs and without quotes.
    ///
    /// - Returns: False when the date is outside of the years 0001 to 9999; nothing was written
    ///   then.
    package func append(rfc3339 date: Timestamp) -> Bool {
        let byteCount = DateWriter.write(date, to: room(DateWriter.maximumByteCount))
        advance(byteCount)
        return byteCount > 0
    }

    /// Appends a time for the log: RFC 3339 in UTC with milliseconds.
    package func append(logTime time: WallClock) {
        let whole = time.nanoseconds / 1_000_000_000
        let milliseconds = Int(time.nanoseconds % 1_000_000_000) / 1_000_000
        _ = append(rfc3339: Timestamp(seconds: whole, nanoseconds: 0))
        truncate(to: count - 1)
        append(UInt8(ascii: "."))
        append(padded: milliseconds, width: 3)
        append(UInt8(ascii: "Z"))
    }
}
