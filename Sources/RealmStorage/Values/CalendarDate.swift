// SPDX-License-Identifier: Apache-2.0

/// A day of the proleptic Gregorian calendar in UTC.
///
/// The arithmetic counts eras of 400 years (146097 days) that begin on a first of March, so that the leap day, where
/// there is one, is the last day of its year.
package struct CalendarDate: Hashable, Sendable {
    /// The year; 0 and below are years before the year 1.
    package let year: Int64
    /// 1...12
    package let month: Int
    /// 1...31
    package let day: Int

    /// 400 years have 97 leap days.
    private static let daysPerEra: Int64 = 146_097
    /// From 0000-03-01 to 1970-01-01.
    private static let epochOffset: Int64 = 719_468

    /// A day that exists; nil for the 30th of February and the like.
    package init?(year: Int64, month: Int, day: Int) {
        guard (1...12).contains(month), day >= 1, day <= CalendarDate.dayCount(year: year, month: month) else { return nil }
        self.year = year
        self.month = month
        self.day = day
    }

    /// The day `days` after 1970-01-01; any day that a timestamp can lie in.
    ///
    /// Exact for every number of seconds that a timestamp can hold; see the comment of the type for the arithmetic.
    package init(daysSinceEpoch days: Int64) {
        let shifted = days + CalendarDate.epochOffset
        let era = CalendarDate.floorDivide(shifted, CalendarDate.daysPerEra)
        let dayOfEra = shifted - era * CalendarDate.daysPerEra
        // Takes the leap days passed so far out, so that every year has 365 days.
        let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        // Months from March have 31, 30, 31, 30, 31 days over and over: 153 days in five months.
        let monthFromMarch = (5 * dayOfYear + 2) / 153
        day = Int(dayOfYear - (153 * monthFromMarch + 2) / 5) + 1
        month = Int(monthFromMarch < 10 ? monthFromMarch + 3 : monthFromMarch - 9)
        year = era * 400 + yearOfEra + (month <= 2 ? 1 : 0)
    }

    /// Days after 1970-01-01. Years within ±10^15 do not overflow.
    package var daysSinceEpoch: Int64 {
        let yearFromMarch = month <= 2 ? year - 1 : year
        let era = CalendarDate.floorDivide(yearFromMarch, 400)
        let yearOfEra = yearFromMarch - era * 400
        let monthFromMarch = Int64(month > 2 ? month - 3 : month + 9)
        let dayOfYear = (153 * monthFromMarch + 2) / 5 + Int64(day) - 1
        return era * CalendarDate.daysPerEra + yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear
            - CalendarDate.epochOffset
    }

    /// How many days a month has.
    private static func dayCount(year: Int64, month: Int) -> Int {
        switch month {
        case 2: return year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) ? 29 : 28
        case 4, 6, 9, 11: return 30
        default: return 31
        }
    }

    /// The quotient rounded down; `divisor` is above 0.
    static func floorDivide(_ number: Int64, _ divisor: Int64) -> Int64 {
        let quotient = number / divisor
        return number % divisor < 0 ? quotient - 1 : quotient
    }
}

/// Dates as days of the calendar, and as seconds with nanoseconds after them.
extension Timestamp {
    /// Seconds of a day without leap seconds, as the format counts them.
    static let secondsPerDay: Int64 = 86_400

    /// The second this instant lies in, rounded down, and the nanoseconds after it, 0 ..< 10^9.
    ///
    /// The smallest second saturates: there is none before it.
    var floor: (seconds: Int64, nanoseconds: Int64) {
        guard nanoseconds < 0 else { return (seconds, Int64(nanoseconds)) }
        let (previous, overflow) = seconds.subtractingReportingOverflow(1)
        return overflow ? (seconds, 0) : (previous, Int64(nanoseconds) + 1_000_000_000)
    }

    /// The instant `nanoseconds` (0 ..< 10^9) after a second, with both parts of the same sign as the format wants.
    init(floor seconds: Int64, nanoseconds: Int64) {
        let isBelow = seconds < 0 && nanoseconds > 0
        self.init(
            seconds: isBelow ? seconds + 1 : seconds,
            nanoseconds: Int32(truncatingIfNeeded: isBelow ? nanoseconds - 1_000_000_000 : nanoseconds))
    }

    /// Year, month and day in UTC.
    package var calendarDate: CalendarDate {
        CalendarDate(daysSinceEpoch: CalendarDate.floorDivide(floor.seconds, Timestamp.secondsPerDay))
    }
}
