// SPDX-License-Identifier: Apache-2.0

internal import RealmEngine

/// Durations as JSON documents write them: a whole number of seconds (`60s`) or minutes (`2m`).
enum DurationText {
    /// Returns the duration that a text states; nil for a text of another form, or with more
    /// than nine digits.
    static func duration(_ text: String) -> Duration? {
        guard let unit = text.utf8.last, unit == UInt8(ascii: "s") || unit == UInt8(ascii: "m") else { return nil }
        let digits = text.utf8.dropLast()
        guard (1...9).contains(digits.count), digits.allSatisfy({ $0 >= UInt8(ascii: "0") && $0 <= UInt8(ascii: "9") }),
            let number = Int64(String(digits) ?? "")
        else { return nil }
        return .seconds(unit == UInt8(ascii: "m") ? number * 60 : number)
    }

    /// Returns a duration as text, in seconds rounded up to a whole number. A negative one is `0s`.
    static func text(_ duration: Duration) -> String { "\(Int(min(max(duration.inSeconds, 0), 1e9).rounded(.up)))s" }
}
