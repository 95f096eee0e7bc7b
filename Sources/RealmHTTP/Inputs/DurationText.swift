// SPDX-License-Identifier: Apache-2.0

internal import RealmEngine

/// Durations in documents: `<n>s` or `<n>m`.
enum DurationText {
    /// The duration that a text says; nil for a text of another form.
    static func duration(_ text: String) -> Duration? {
        guard let unit = text.utf8.last, unit == UInt8(ascii: "s") || unit == UInt8(ascii: "m") else { return nil }
        let digits = text.utf8.dropLast()
        guard (1...9).contains(digits.count), digits.allSatisfy({ $0 >= UInt8(ascii: "0") && $0 <= UInt8(ascii: "9") }),
            let number = Int64(String(digits) ?? "")
        else { return nil }
        return .seconds(unit == UInt8(ascii: "m") ? number * 60 : number)
    }

    /// The text of a duration, rounded up to whole seconds.
    static func text(_ duration: Duration) -> String { "\(Int(min(max(duration.inSeconds, 0), 1e9).rounded(.up)))s" }
}
