// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform

/// Reads the parts of an RFC 3339 date from text.
///
/// Positions are bytes, as all characters of a date are ASCII. The caller checks the range of
/// years, because an offset can move a date out of it.
struct RFC3339Reader {
    /// The text from which the date is read.
    let text: ByteView
    /// The index of the next byte to be read.
    var position = 0

    /// Reads the whole text. A date alone is midnight UTC.
    ///
    /// - Returns: The seconds since 1970 in UTC and the nanoseconds after them; nil when the text
    ///   is not a date.
    mutating func read() -> (seconds: Int64, nanoseconds: Int64)? {
        guard let year = number(4), take("-"), let month = number(2), take("-"), let day = number(2), year >= 1,
            let date = CalendarDate(year: year, month: Int(month), day: Int(day))
        else { return nil }
        let midnight = date.daysSinceEpoch * Timestamp.secondsPerDay
        if position == text.count { return (midnight, 0) }
        guard take("T") || take("t"), let hour = number(2), take(":"), let minute = number(2), take(":"), let second = number(2),
            hour < 24, minute < 60, second < 60, let nanoseconds = fraction(), let offset = offset(), position == text.count
        else { return nil }
        return (midnight + hour * 3600 + minute * 60 + second - offset, nanoseconds)
    }

    /// Reads exactly `digitCount` digits; nil when there are fewer.
    private mutating func number(_ digitCount: Int) -> Int64? {
        var number: Int64 = 0
        for _ in 0..<digitCount {
            guard let digit else { return nil }
            number = number * 10 + digit
            position += 1
        }
        return number
    }

    /// The value of the next byte if it is a digit; nil otherwise.
    private var digit: Int64? {
        guard position < text.count else { return nil }
        let digit = text[position] &- UInt8(ascii: "0")
        return digit < 10 ? Int64(digit) : nil
    }

    /// Skips a character and returns true if it comes next.
    private mutating func take(_ character: Unicode.Scalar) -> Bool {
        guard position < text.count, UInt32(text[position]) == character.value else { return false }
        position += 1
        return true
    }

    /// Reads an optional fraction of one to nine digits and returns it in nanoseconds; nil for a wrong one.
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

    /// Reads an offset and returns the seconds east of UTC; nil when there is none.
    private mutating func offset() -> Int64? {
        if take("Z") || take("z") { return 0 }
        let isEast = take("+")
        guard isEast || take("-"), let hours = number(2), take(":"), let minutes = number(2), hours < 24, minutes < 60 else {
            return nil
        }
        return (hours * 3600 + minutes * 60) * (isEast ? 1 : -1)
    }
}
