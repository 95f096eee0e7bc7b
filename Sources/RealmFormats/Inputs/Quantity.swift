// SPDX-License-Identifier: Apache-2.0

internal import RealmEngine
internal import RealmPlatform
internal import RealmStorage

/// Reads sizes and times as people write them, such as `64MiB` and `5m`, wherever options are
/// stated: on the command line, in the configuration file, and in requests about realms.
package enum Quantity {
    /// The numbers of bytes in the units of sizes.
    private static let sizes: [(unit: String, bytes: Int)] = [
        ("KiB", 1 << 10), ("MiB", 1 << 20), ("GiB", 1 << 30), ("TiB", 1 << 40),
    ]

    /// Returns the number of bytes of a text such as `65536`, `64KiB` or `1 GiB`; nil for another
    /// form, and for more bytes than 64 bits can count.
    package static func bytes(_ text: String) -> Int? {
        let size = sizes.first { text.hasSuffix($0.unit) }
        var digits = text.dropLast(size?.unit.count ?? 0)
        if size != nil, digits.hasSuffix(" ") { digits = digits.dropLast() }
        guard let number = number(digits) else { return nil }
        let (bytes, isTooLarge) = number.multipliedReportingOverflow(by: size?.bytes ?? 1)
        return isTooLarge ? nil : bytes
    }

    /// Returns the number of bytes of a JSON number, or of a string with a unit; nil for another value.
    package static func bytes(_ json: JSONValue) -> Int? { whole(json) ?? json.string.flatMap { bytes($0) } }

    /// Returns the number of seconds of a text such as `300`, `300s`, `5m`, `1h` or `7d`; nil for
    /// another form, and for a part of a second.
    package static func seconds(_ text: String) -> Int? {
        number(text[...])
            ?? DurationText.duration(text).flatMap { $0.components.attoseconds == 0 ? Int($0.components.seconds) : nil }
    }

    /// Returns the time that a JSON number of seconds, or a string with a unit such as `500ms` or `5m`,
    /// states; nil for another value.
    package static func duration(_ json: JSONValue) -> Duration? {
        if let seconds = whole(json), seconds < 1 << 40 { return .seconds(seconds) }
        return json.string.flatMap { DurationText.duration($0) }
    }

    /// Returns the number that a text of decimal digits states; nil for another form.
    package static func number(_ text: Substring) -> Int? {
        let digits = UInt8(ascii: "0")...UInt8(ascii: "9")
        guard !text.isEmpty, text.utf8.allSatisfy({ digits.contains($0) }) else { return nil }
        return Int(text)
    }

    /// The whole number of a JSON value, from 0; nil for another value.
    package static func whole(_ json: JSONValue) -> Int? {
        guard case .integer(let number) = json, number >= 0 else { return nil }
        return Int(number)
    }
}
