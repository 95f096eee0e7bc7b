// SPDX-License-Identifier: Apache-2.0

/// Names for the bytes that several rules of the lexer look at.
enum ASCII {
    static let quote = UInt8(ascii: "\"")
    static let apostrophe = UInt8(ascii: "'")
    static let backslash = UInt8(ascii: "\\")
    static let plus = UInt8(ascii: "+")
    static let minus = UInt8(ascii: "-")
    static let dot = UInt8(ascii: ".")
    static let at = UInt8(ascii: "@")
    static let colon = UInt8(ascii: ":")
    static let dollar = UInt8(ascii: "$")
}
