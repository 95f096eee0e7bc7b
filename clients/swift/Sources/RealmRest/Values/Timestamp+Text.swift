/// RFC 3339 with nanoseconds, without the formatters of Foundation, which round to milliseconds.
extension Timestamp {
    /// Nil unless this is a date with a zone and at most nine digits of a second.
    public init?(rfc3339 text: String) {
        let bytes = Array(text.utf8)
        guard bytes.count >= 20,
            let year = Self.digits(bytes[0..<4]), let month = Self.digits(bytes[5..<7]), let day = Self.digits(bytes[8..<10]),
            let hour = Self.digits(bytes[11..<13]), let minute = Self.digits(bytes[14..<16]),
            let second = Self.digits(bytes[17..<19])
        else { return nil }
        var rest = bytes[19...]
        var nanoseconds: Int64 = 0
        if rest.first == UInt8(ascii: ".") {
            let fraction = rest.dropFirst().prefix { (0x30...0x39).contains($0) }
            guard (1...9).contains(fraction.count), let value = Self.digits(fraction) else { return nil }
            nanoseconds = (fraction.count..<9).reduce(value) { total, _ in total * 10 }
            rest = rest.dropFirst(1 + fraction.count)
        }
        guard let offset = Self.offset(Array(rest)) else { return nil }
        let seconds = Self.days(year: year, month: month, day: day) * 86_400 + hour * 3600 + minute * 60 + second - offset
        self.init(seconds: seconds, nanoseconds: Int32(nanoseconds))
    }

    /// In UTC, with as many digits as needed; nil outside of the years 1 to 9999.
    public var rfc3339: String? {
        guard (-62_135_596_800..<253_402_300_800).contains(seconds) else { return nil }
        let (day, time) = seconds.flooredDivision(by: 86_400)
        let (year, month, date) = Self.date(days: day)
        var text = "\(Self.padded(year, 4))-\(Self.padded(month, 2))-\(Self.padded(date, 2))T"
        text += "\(Self.padded(time / 3600, 2)):\(Self.padded(time / 60 % 60, 2)):\(Self.padded(time % 60, 2))"
        if nanoseconds != 0 {
            var fraction = Self.padded(Int64(nanoseconds), 9)
            while fraction.hasSuffix("0") { fraction.removeLast() }
            text += "." + fraction
        }
        return text + "Z"
    }

    private static func digits(_ bytes: ArraySlice<UInt8>) -> Int64? {
        bytes.allSatisfy { (0x30...0x39).contains($0) } ? Int64(String(decoding: bytes, as: UTF8.self)) : nil
    }

    private static func offset(_ zone: [UInt8]) -> Int64? {
        if zone == [UInt8(ascii: "Z")] || zone == [UInt8(ascii: "z")] { return 0 }
        guard zone.count == 6, let hours = digits(zone[1..<3]), let minutes = digits(zone[4..<6]) else { return nil }
        return (zone[0] == UInt8(ascii: "-") ? -1 : 1) * (hours * 3600 + minutes * 60)
    }

    private static func padded(_ number: Int64, _ width: Int) -> String {
        let text = String(number)
        return String(repeating: "0", count: max(0, width - text.count)) + text
    }

    // Years are counted from March, so that the leap day is the last of its year, in eras of 400 years.

    private static func days(year: Int64, month: Int64, day: Int64) -> Int64 {
        let shifted = month <= 2 ? year - 1 : year
        let (era, inEra) = shifted.flooredDivision(by: 400)
        let dayOfYear = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1
        return era * 146_097 + inEra * 365 + inEra / 4 - inEra / 100 + dayOfYear - 719_468
    }

    private static func date(days: Int64) -> (year: Int64, month: Int64, day: Int64) {
        let (era, inEra) = (days + 719_468).flooredDivision(by: 146_097)
        let year = (inEra - inEra / 1460 + inEra / 36_524 - inEra / 146_096) / 365
        let dayOfYear = inEra - (365 * year + year / 4 - year / 100)
        let shifted = (5 * dayOfYear + 2) / 153
        let month = shifted < 10 ? shifted + 3 : shifted - 9
        return (year + era * 400 + (month <= 2 ? 1 : 0), month, dayOfYear - (153 * shifted + 2) / 5 + 1)
    }
}
