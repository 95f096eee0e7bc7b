// SPDX-License-Identifier: Apache-2.0

internal import RealmEngine

/// Durations as JSON documents write them: a whole number of seconds (`60s`), minutes
/// (`2m`), hours (`1h`) or days (`7d`).
enum DurationText {
    /// Returns the duration that a text states; nil for a text of another form, or with more
    /// than nine digits.
    static func duration(_ text: String) -> Duration? {
        guard let seconds = text.last.flatMap({ units[$0] }) else { return nil }
        let digits = text.utf8.dropLast()
        guard (1...9).contains(digits.count), digits.allSatisfy({ $0 >= UInt8(ascii: "0") && $0 <= UInt8(ascii: "9") }),
            let number = Int64(String(digits) ?? "")
        else { return nil }
        return .seconds(number * seconds)
    }

    /// The numbers of seconds in the units, by their letters.
    private static let units: [Character: Int64] = ["s": 1, "m": 60, "h": 3600, "d": 86_400]

    /// Returns a duration as text, in seconds rounded up to a whole number. A negative one is `0s`.
    static func text(_ duration: Duration) -> String { "\(Int(min(max(duration.inSeconds, 0), 1e9).rounded(.up)))s" }
}
