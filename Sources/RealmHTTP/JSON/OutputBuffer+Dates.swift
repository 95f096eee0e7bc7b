// SPDX-License-Identifier: Apache-2.0

package import RealmStorage

/// A day of the proleptic Gregorian calendar.
package struct CivilDay: Sendable, Equatable {
    package let year: Int
    package let month: Int
    package let day: Int

    package init(year: Int, month: Int, day: Int) {
        self.year = year
        self.month = month
        self.day = day
    }

    /// The day `days` after 1970-01-01. Counts in eras of 400 years that begin on a first of March, so that the leap
    /// day is the last of its year.
    package init(daysSince1970 days: Int) {
        let shifted = days + 719_468
        let era = (shifted >= 0 ? shifted : shifted - 146_096) / 146_097
        let dayOfEra = shifted - era * 146_097
        let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let shiftedMonth = (5 * dayOfYear + 2) / 153
        day = dayOfYear - (153 * shiftedMonth + 2) / 5 + 1
        month = shiftedMonth < 10 ? shiftedMonth + 3 : shiftedMonth - 9
        year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0)
    }

    package var daysSince1970: Int {
        let shiftedYear = month <= 2 ? year - 1 : year
        let era = (shiftedYear >= 0 ? shiftedYear : shiftedYear - 399) / 400
        let yearOfEra = shiftedYear - era * 400
        let dayOfYear = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1
        return era * 146_097 + yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear - 719_468
    }

    /// Whether there is such a day.
    package var exists: Bool {
        guard (1...12).contains(month), day >= 1 else { return false }
        let isLeap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
        let lengths = [31, isLeap ? 29 : 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]
        return day <= lengths[month - 1]
    }
}

extension OutputBuffer {
    /// Seconds of 0001-01-01T00:00:00Z and 9999-12-31T23:59:59Z: what RFC 3339 can say.
    fileprivate static let writableSeconds: ClosedRange<Int64> = -62_135_596_800...253_402_300_799

    /// RFC 3339 in UTC with as many fraction digits as needed, without quotes.
    ///
    /// False, and nothing written, when the date is outside the years 0001 to 9999.
    package func append(rfc3339 timestamp: Timestamp) -> Bool {
        var seconds = timestamp.seconds
        var nanoseconds = Int(timestamp.nanoseconds)
        if nanoseconds < 0 {
            let (previous, overflow) = seconds.subtractingReportingOverflow(1)
            guard !overflow else { return false }
            seconds = previous
            nanoseconds += 1_000_000_000
        }
        guard OutputBuffer.writableSeconds.contains(seconds) else { return false }
        let days = Int((seconds >= 0 ? seconds : seconds - 86_399) / 86_400)
        let secondOfDay = Int(seconds) - days * 86_400
        append(CivilDay(daysSince1970: days))
        append(UInt8(ascii: "T"))
        append(padded: secondOfDay / 3600, width: 2)
        append(UInt8(ascii: ":"))
        append(padded: secondOfDay / 60 % 60, width: 2)
        append(UInt8(ascii: ":"))
        append(padded: secondOfDay % 60, width: 2)
        append(fraction: nanoseconds)
        append(UInt8(ascii: "Z"))
        return true
    }

    private func append(_ day: CivilDay) {
        append(padded: day.year, width: 4)
        append(UInt8(ascii: "-"))
        append(padded: day.month, width: 2)
        append(UInt8(ascii: "-"))
        append(padded: day.day, width: 2)
    }

    private func append(fraction nanoseconds: Int) {
        guard nanoseconds > 0 else { return }
        append(UInt8(ascii: "."))
        append(padded: nanoseconds, width: 9)
        while lastByte == UInt8(ascii: "0") { truncate(to: count - 1) }
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

extension OutputBuffer {
    /// Whether RFC 3339 can say a date: the years 0001 to 9999.
    package static func canWrite(_ date: Timestamp) -> Bool {
        let isBeforeSecond = date.nanoseconds < 0
        return writableSeconds.contains(date.seconds) && !(isBeforeSecond && date.seconds == writableSeconds.lowerBound)
    }
}
