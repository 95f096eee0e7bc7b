// SPDX-License-Identifier: Apache-2.0

/// A day of the proleptic Gregorian calendar in UTC.
///
/// The arithmetic counts eras of 400 years (146097 days) that begin on a first of March, so that the leap day, where
/// there is one, is the last day of its year.
package struct CalendarDate: Hashable, Sendable {
    /// The year; 0 and below are years before the year 1.
    package let year: Int64
    /// The month, 1...12.
    package let month: Int
    /// The day of the month, 1...31.
    package let day: Int

    /// The number of days in 400 years, of which 97 are leap years.
    private static let daysPerEra: Int64 = 146_097
    /// The number of days from 0000-03-01 to 1970-01-01.
    private static let epochOffset: Int64 = 719_468

    /// Makes a day from its parts; nil for days that do not exist, such as the 30th of February.
    package init?(year: Int64, month: Int, day: Int) {
        guard (1...12).contains(month), day >= 1, day <= CalendarDate.dayCount(year: year, month: month) else { return nil }
        self.year = year
        self.month = month
        self.day = day
    }

    /// Makes the day that is `days` after 1970-01-01; negative numbers are days before.
    ///
    /// The result is exact for every day that a timestamp can lie in; see the comment of the type for the arithmetic.
    package init(daysSinceEpoch days: Int64) {
        let shifted = days + CalendarDate.epochOffset
        let era = CalendarDate.floorDivide(shifted, CalendarDate.daysPerEra)
        let dayOfEra = shifted - era * CalendarDate.daysPerEra
        // Subtracts the leap days so far, so that every year has 365 days.
        let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        // From March on, the lengths of months repeat as 31, 30, 31, 30, 31 days: 153 days in five months.
        let monthFromMarch = (5 * dayOfYear + 2) / 153
        day = Int(dayOfYear - (153 * monthFromMarch + 2) / 5) + 1
        month = Int(monthFromMarch < 10 ? monthFromMarch + 3 : monthFromMarch - 9)
        year = era * 400 + yearOfEra + (month <= 2 ? 1 : 0)
    }

    /// The number of days after 1970-01-01; negative before. It does not overflow for years within ±10^15.
    package var daysSinceEpoch: Int64 {
        let yearFromMarch = month <= 2 ? year - 1 : year
        let era = CalendarDate.floorDivide(yearFromMarch, 400)
        let yearOfEra = yearFromMarch - era * 400
        let monthFromMarch = Int64(month > 2 ? month - 3 : month + 9)
        let dayOfYear = (153 * monthFromMarch + 2) / 5 + Int64(day) - 1
        return era * CalendarDate.daysPerEra + yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear
            - CalendarDate.epochOffset
    }

    /// Returns how many days a month has, 28 to 31.
    private static func dayCount(year: Int64, month: Int) -> Int {
        switch month {
        case 2: return year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) ? 29 : 28
        case 4, 6, 9, 11: return 30
        default: return 31
        }
    }

    /// Returns the quotient rounded down; `divisor` must be above 0.
    static func floorDivide(_ number: Int64, _ divisor: Int64) -> Int64 {
        let quotient = number / divisor
        return number % divisor < 0 ? quotient - 1 : quotient
    }
}

/// Dates as days of the calendar, and as seconds with non-negative nanoseconds after them.
extension Timestamp {
    /// The number of seconds in a day; the format does not count leap seconds.
    static let secondsPerDay: Int64 = 86_400

    /// The second that this instant lies in, rounded down, and the nanoseconds after it, 0 ..< 10^9.
    ///
    /// The smallest second saturates, because there is none before it.
    var floor: (seconds: Int64, nanoseconds: Int64) {
        guard nanoseconds < 0 else { return (seconds, Int64(nanoseconds)) }
        let (previous, overflow) = seconds.subtractingReportingOverflow(1)
        return overflow ? (seconds, 0) : (previous, Int64(nanoseconds) + 1_000_000_000)
    }

    /// Makes the instant that is `nanoseconds` (0 ..< 10^9) after a second; its stored parts have
    /// the same sign, as the format demands.
    init(floor seconds: Int64, nanoseconds: Int64) {
        let isBelow = seconds < 0 && nanoseconds > 0
        self.init(
            seconds: isBelow ? seconds + 1 : seconds,
            nanoseconds: Int32(truncatingIfNeeded: isBelow ? nanoseconds - 1_000_000_000 : nanoseconds))
    }

    /// The day in UTC that this instant lies in.
    package var calendarDate: CalendarDate {
        CalendarDate(daysSinceEpoch: CalendarDate.floorDivide(floor.seconds, Timestamp.secondsPerDay))
    }
}
