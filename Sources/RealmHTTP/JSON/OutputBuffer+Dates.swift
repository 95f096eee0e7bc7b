// SPDX-License-Identifier: Apache-2.0

package import RealmStorage

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
        append(CalendarDate(daysSinceEpoch: Int64(days)))
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

    private func append(_ day: CalendarDate) {
        append(padded: Int(day.year), width: 4)
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
