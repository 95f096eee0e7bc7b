// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform
package import RealmStorage

/// Parses numbers that are given as texts: in typed wrappers, as plain values of properties, as arguments
/// of queries and in CSV cells.
package enum NumberText {
    /// The error for a number that is well-formed but outside the range of its type.
    package struct OutOfRange: Error, Sendable {
        /// The reason, as a text for the client.
        package let detail: String
    }

    /// Parses an integer: decimal digits, optionally after a minus sign; nil for every other text.
    ///
    /// - Throws: `OutOfRange` when 64 bits cannot hold the number.
    package static func integer(_ text: String) throws(OutOfRange) -> Int64? {
        let digits = text.utf8.first == UInt8(ascii: "-") ? text.utf8.dropFirst() : text.utf8[...]
        guard !digits.isEmpty, digits.allSatisfy(isDigit) else { return nil }
        guard let number = Int64(text) else { throw OutOfRange(detail: "the number is beyond 64 bits") }
        return number
    }

    /// Parses `NaN`, `Infinity` or `-Infinity`; nil for every other text.
    package static func special(_ text: String) -> Double? {
        switch text {
        case "NaN": return .nan
        case "Infinity": return .infinity
        case "-Infinity": return -.infinity
        default: return nil
        }
    }

    /// Parses a decimal number in the usual notation; nil for other spellings, even if the query language accepts them.
    ///
    /// - Throws: `OutOfRange` when 34 digits or the range of exponents cannot represent the number
    ///   exactly.
    package static func decimal(_ text: String) throws(OutOfRange) -> Decimal128? {
        guard special(text) != nil || isWrittenOut(text), let parsed = Decimal128.parse(text) else { return nil }
        guard parsed.isExact else {
            throw OutOfRange(detail: "a decimal has at most 34 digits and exponents from -6176 to 6111")
        }
        return parsed.value
    }

    /// Parses a number in the usual notation, or the name of a special one, as a double; nil for other
    /// texts, and for numbers beyond the range of a double.
    package static func double(_ text: String) -> Double? {
        if let special = special(text) { return special }
        guard isWrittenOut(text), let number = Double(text), number.isFinite else { return nil }
        return number
    }

    /// Returns whether the text contains digits, and besides them only signs, a point and an exponent.
    private static func isWrittenOut(_ text: String) -> Bool {
        let digits = text.utf8.first.map(isSign) == true ? text.utf8.dropFirst() : text.utf8[...]
        guard let first = digits.first, !isSign(first) else { return false }
        return digits.contains(where: isDigit) && digits.allSatisfy { isDigit($0) || ".eE+-".utf8.contains($0) }
    }

    /// Whether the byte is a plus or a minus.
    private static func isSign(_ byte: UInt8) -> Bool { byte == UInt8(ascii: "-") || byte == UInt8(ascii: "+") }
    /// Whether the byte is a decimal digit.
    private static func isDigit(_ byte: UInt8) -> Bool { byte &- UInt8(ascii: "0") < 10 }
}
