// SPDX-License-Identifier: Apache-2.0

/// RFC 3339 text: `YYYY-MM-DDTHH:MM:SS[.fraction]` and `Z` or an offset, for the years 0001 to 9999.
extension Timestamp {
    /// Appends the text in UTC, with as many fraction digits (0 to 9) as needed.
    ///
    /// Returns false, and appends nothing, for instants outside the years 0001 to 9999.
    package func appendRFC3339(to text: inout [UInt8]) -> Bool {
        let before = text.count
        unsafe text.appendBytes(capacity: DateWriter.maximumByteCount) { unsafe DateWriter.write(self, to: $0) }
        return text.count > before
    }

    /// The text in UTC; nil for instants outside the years 0001 to 9999.
    package var rfc3339: String? {
        var text: [UInt8] = []
        return appendRFC3339(to: &text) ? String(decoding: text, as: UTF8.self) : nil
    }

    /// Reads a whole text. The offset (`Z`, `+HH:MM` or `-HH:MM`) is required; at most nine fraction digits are allowed.
    /// Leap seconds, days that do not exist and instants outside the years 0001 to 9999 give nil.
    package init?(rfc3339 text: ByteView) {
        var reader = RFC3339Reader(text: text)
        guard let (seconds, nanoseconds) = reader.read(), DateWriter.writableSeconds.contains(seconds) else { return nil }
        self.init(floor: seconds, nanoseconds: nanoseconds)
    }

    package init?(rfc3339 text: String) {
        let storage = ByteStorage(text)
        guard let date = withExtendedLifetime(storage, { Timestamp(rfc3339: storage.view) }) else { return nil }
        self = date
    }
}

private struct RFC3339Reader {
    let text: ByteView
    var position = 0

    mutating func read() -> (seconds: Int64, nanoseconds: Int64)? {
        guard let year = number(4), take("-"), let month = number(2), take("-"), let day = number(2), year >= 1,
            let date = CalendarDate(year: year, month: Int(month), day: Int(day)), take("T") || take("t"),
            let hour = number(2), take(":"), let minute = number(2), take(":"), let second = number(2),
            hour < 24, minute < 60, second < 60, let nanoseconds = fraction(), let offset = offset(), position == text.count
        else { return nil }
        let seconds = date.daysSinceEpoch * Timestamp.secondsPerDay + hour * 3600 + minute * 60 + second
        return (seconds - offset, nanoseconds)
    }

    /// Exactly `digitCount` digits.
    private mutating func number(_ digitCount: Int) -> Int64? {
        var number: Int64 = 0
        for _ in 0..<digitCount {
            guard let digit else { return nil }
            number = number * 10 + digit
            position += 1
        }
        return number
    }

    private var digit: Int64? {
        guard position < text.count else { return nil }
        let digit = text[position] &- UInt8(ascii: "0")
        return digit < 10 ? Int64(digit) : nil
    }

    private mutating func take(_ character: Unicode.Scalar) -> Bool {
        guard position < text.count, UInt32(text[position]) == character.value else { return false }
        position += 1
        return true
    }

    /// Nanoseconds of an optional fraction of one to nine digits.
    private mutating func fraction() -> Int64? {
        guard take(".") else { return 0 }
        var nanoseconds: Int64 = 0
        var digitCount = 0
        while let digit {
            nanoseconds = nanoseconds * 10 + digit
            digitCount += 1
            position += 1
            guard digitCount <= 9 else { return nil }
        }
        guard digitCount > 0 else { return nil }
        for _ in digitCount..<9 { nanoseconds *= 10 }
        return nanoseconds
    }

    /// Seconds east of UTC.
    private mutating func offset() -> Int64? {
        if take("Z") || take("z") { return 0 }
        let isEast = take("+")
        guard isEast || take("-"), let hours = number(2), take(":"), let minutes = number(2), hours < 24, minutes < 60 else {
            return nil
        }
        return (hours * 3600 + minutes * 60) * (isEast ? 1 : -1)
    }
}
