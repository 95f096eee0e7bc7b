// SPDX-License-Identifier: Apache-2.0

package import RealmStorage

extension OutputBuffer {
    /// Decimal digits of `number`, with `-` where it is negative.
    @inline(__always) package func append(decimal number: Int64) {
        unsafe advance(DigitWriter.write(number, to: reserve(DigitWriter.maximumByteCount)))
    }

    /// `number` in exactly `width` digits (1 to 19), with leading zeros; higher digits are cut.
    package func append(padded number: Int, width: Int) {
        unsafe DigitWriter.write(UInt64(number.magnitude), digitCount: width, to: reserve(width))
        advance(width)
    }

    /// The shortest text that reads back as `number`; false, and nothing written, when it is not finite.
    package func append(shortest number: Double) -> Bool {
        guard number.isFinite else { return false }
        unsafe advance(RealWriter.write(number, to: reserve(RealWriter.maximumByteCount)))
        return true
    }

    /// The shortest text that reads back as the same 32-bit `number`; false when it is not finite.
    package func append(shortest number: Float) -> Bool {
        guard number.isFinite else { return false }
        unsafe advance(RealWriter.write(number, to: reserve(RealWriter.maximumByteCount)))
        return true
    }

    /// `"NaN"`, `"Infinity"` or `"-Infinity"` with quotes.
    package func append(special number: Double) {
        append(number.isNaN ? "\"NaN\"" as StaticString : number < 0 ? "\"-Infinity\"" : "\"Infinity\"")
    }

    /// Lower-case hex digits of the `byteCount` low bytes of `word`, most significant first.
    package func append(hex word: UInt64, byteCount: Int) {
        unsafe HexWriter.write(word, byteCount: byteCount, to: reserve(byteCount * 2))
        advance(byteCount * 2)
    }

    /// Appends the 24 hexadecimal digits of an object id.
    package func append(_ id: ObjectID) {
        unsafe id.write(to: reserve(ObjectID.textByteCount))
        advance(ObjectID.textByteCount)
    }

    /// The canonical form in five groups.
    package func append(_ uuid: UUIDValue) {
        unsafe uuid.write(to: reserve(UUIDValue.textByteCount))
        advance(UUIDValue.textByteCount)
    }
}

extension OutputBuffer {
    /// RFC 3339 in UTC with as many fraction digits as needed, without quotes.
    ///
    /// False, and nothing written, when the date is outside the years 0001 to 9999.
    package func append(rfc3339 date: Timestamp) -> Bool {
        let byteCount = unsafe DateWriter.write(date, to: reserve(DateWriter.maximumByteCount))
        advance(byteCount)
        return byteCount > 0
    }

    /// A time of day for logs: RFC 3339 with milliseconds.
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
