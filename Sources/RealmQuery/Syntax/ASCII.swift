// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform

/// Names for the ASCII characters that several rules of the lexer and the parser compare bytes with.
enum ASCII {
    static let quote = UInt8(ascii: "\"")
    static let apostrophe = UInt8(ascii: "'")
    /// The character that starts an escape sequence in a string or in an identifier.
    static let backslash = UInt8(ascii: "\\")
    static let plus = UInt8(ascii: "+")
    static let minus = UInt8(ascii: "-")
    static let dot = UInt8(ascii: ".")
    /// The character that starts an operator such as `@count`, or separates a date from a time.
    static let at = UInt8(ascii: "@")
    /// The character between the parts of a timestamp or of a typed link.
    static let colon = UInt8(ascii: ":")
    /// The character that starts an argument or the variable of a subquery.
    static let dollar = UInt8(ascii: "$")
}
