// SPDX-License-Identifier: Apache-2.0

internal import RealmEngine

/// Durations as JSON documents write them: a whole number of milliseconds (`500ms`), seconds (`60s`),
/// minutes (`2m`), hours (`1h`) or days (`7d`).
enum DurationText {
    /// Returns the duration that a text states; nil for a text of another form, or with more
    /// than nine digits.
    static func duration(_ text: String) -> Duration? {
        guard let unit = units.first(where: { text.hasSuffix($0.name) }) else { return nil }
        let digits = text.utf8.dropLast(unit.name.utf8.count)
        guard (1...9).contains(digits.count), digits.allSatisfy({ $0 >= UInt8(ascii: "0") && $0 <= UInt8(ascii: "9") }),
            let number = Int64(String(digits) ?? "")
        else { return nil }
        return .milliseconds(number * unit.milliseconds)
    }

    /// The units with their milliseconds; `ms` comes before the `s` that it ends with.
    private static let units: [(name: String, milliseconds: Int64)] = [
        ("ms", 1), ("s", 1000), ("m", 60_000), ("h", 3_600_000), ("d", 86_400_000),
    ]

    /// Returns a duration as text that `duration` reads: in seconds, or in milliseconds where it has a part of one.
    static func exactText(_ duration: Duration) -> String {
        let (seconds, attoseconds) = duration.components
        let milliseconds = attoseconds / 1_000_000_000_000_000
        return milliseconds == 0 ? "\(seconds)s" : "\(seconds * 1000 + milliseconds)ms"
    }

    /// Returns a duration as text, in seconds rounded up to a whole number. A negative one is `0s`.
    static func text(_ duration: Duration) -> String { "\(Int(min(max(duration.inSeconds, 0), 1e9).rounded(.up)))s" }
}
