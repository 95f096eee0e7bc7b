// SPDX-License-Identifier: Apache-2.0

package import RealmStorage

/// Numbers that are given as texts: in wrappers, as plain values of properties and in cells of CSV.
package enum NumberText {
    /// A number that its type cannot hold.
    package struct OutOfRange: Error, Sendable {
        /// Why, in words for the client.
        package let detail: String
    }

    /// Digits, with a minus sign in front where there is one; nil for every other text.
    package static func integer(_ text: String) throws(OutOfRange) -> Int64? {
        let digits = text.utf8.first == UInt8(ascii: "-") ? text.utf8.dropFirst() : text.utf8[...]
        guard !digits.isEmpty, digits.allSatisfy(isDigit) else { return nil }
        guard let number = Int64(text) else { throw OutOfRange(detail: "the number is beyond 64 bits") }
        return number
    }

    /// `NaN`, `Infinity` or `-Infinity`; nil for every other text.
    package static func special(_ text: String) -> Double? {
        switch text {
        case "NaN": return .nan
        case "Infinity": return .infinity
        case "-Infinity": return -.infinity
        default: return nil
        }
    }

    /// A decimal that is written out, and not in one of the other spellings that the query language knows.
    package static func decimal(_ text: String) throws(OutOfRange) -> Decimal128? {
        guard special(text) != nil || isWrittenOut(text), let parsed = Decimal128.parse(text) else { return nil }
        guard parsed.isExact else {
            throw OutOfRange(detail: "a decimal has at most 34 digits and exponents from -6176 to 6111")
        }
        return parsed.value
    }

    /// Whether the text has digits, and nothing but a sign, a point and an exponent beside them.
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
