// SPDX-License-Identifier: Apache-2.0

internal import RealmEngine
internal import RealmPlatform
internal import RealmStorage

/// Durations as JSON documents write them: a whole number of milliseconds (`500ms`), seconds (`60s`),
/// minutes (`2m`), hours (`1h`) or days (`7d`).
package enum DurationText {
    /// Returns the duration that a text states; nil for a text of another form, or with more than nine digits.
    package static func duration(_ text: String) -> Duration? {
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

    /// Returns a duration as text: in whole seconds, or in milliseconds, rounded up, when it has a part of a second. A
    /// negative one is `0s`.
    package static func text(_ duration: Duration) -> String {
        let (seconds, attoseconds) = min(max(duration, .zero), .seconds(1_000_000_000)).components
        let milliseconds = seconds * 1000 + (attoseconds + 999_999_999_999_999) / 1_000_000_000_000_000
        return milliseconds % 1000 == 0 ? "\(milliseconds / 1000)s" : "\(milliseconds)ms"
    }
}
