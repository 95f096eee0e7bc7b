// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform
internal import RealmStorage

/// Reads numbers out of strings that are compared with numeric properties.
///
/// It follows a C++ input stream in the classic locale: leading white space is skipped, and what follows the number is ignored.
enum NumericText {
    /// Returns the decimal integer at the beginning of a text; nil when there is none or it does not fit into 64 bits.
    static func leadingInteger(_ text: ByteView) -> Int64? {
        let bytes = text.array.drop(while: isSpace)
        let sign = bytes.first == ASCII.minus || bytes.first == ASCII.plus ? 1 : 0
        let digits = bytes.dropFirst(sign).prefix(while: Lexer.isDigit)
        guard !digits.isEmpty else { return nil }
        return Int64(String(decoding: bytes.prefix(sign + digits.count), as: UTF8.self))
    }

    /// Returns the double at the beginning of a text; nil when there is none or it is malformed.
    /// Infinity and NaN must be the whole text.
    static func leadingDouble(_ text: ByteView) -> Double? { leadingNumber(text, Double.init) }

    /// Returns the float at the beginning of a text, by the same rules as `leadingDouble`.
    static func leadingFloat(_ text: ByteView) -> Float? { leadingNumber(text, Float.init) }

    /// Returns the decimal that a whole text is, apart from leading spaces and tabs; nil for other texts and for NaN.
    static func wholeDecimal(_ text: ByteView) -> Decimal128? {
        let bytes = text.array.drop { $0 == 0x20 || $0 == 0x09 }
        guard let number = decimal(String(decoding: bytes, as: UTF8.self)), !number.isNaN else { return nil }
        return number
    }

    /// Returns the decimal that the text of a literal represents; nil when the text is not a decimal.
    static func decimal(_ text: String) -> Decimal128? { Decimal128(text) }

    /// Returns the number at the beginning of a text, after white space.
    ///
    /// - Parameters:
    ///   - parse: Converts the characters of the number.
    /// - Returns: Nil when there is no number, or when it exceeds the range of its type.
    private static func leadingNumber<Number: BinaryFloatingPoint>(
        _ text: ByteView, _ parse: (String) -> Number?
    ) -> Number? {
        if let special: Number = special(text) { return special }
        let bytes = text.array.drop(while: isSpace)
        guard let length = floatLength(bytes) else { return nil }
        guard let number = parse(String(decoding: bytes.prefix(length), as: UTF8.self)), number.isFinite else { return nil }
        return number
    }

    /// The number of bytes that a stream would take as a number; nil when that is malformed, as in `1e`.
    private static func floatLength(_ bytes: ArraySlice<UInt8>) -> Int? {
        func byte(_ offset: Int) -> UInt8 { offset < bytes.count ? bytes[bytes.startIndex + offset] : 0 }
        var length = byte(0) == ASCII.minus || byte(0) == ASCII.plus ? 1 : 0
        var digits = 0
        while Lexer.isDigit(byte(length)) { (length, digits) = (length + 1, digits + 1) }
        if byte(length) == ASCII.dot {
            length += 1
            while Lexer.isDigit(byte(length)) { (length, digits) = (length + 1, digits + 1) }
        }
        guard digits > 0 else { return nil }
        guard byte(length) | 0x20 == UInt8(ascii: "e") else { return length }
        length += 1
        if byte(length) == ASCII.minus || byte(length) == ASCII.plus { length += 1 }
        guard Lexer.isDigit(byte(length)) else { return nil }
        while Lexer.isDigit(byte(length)) { length += 1 }
        return length
    }

    /// Returns the infinity or NaN that a whole text is, in any letter case; nil for every other text.
    private static func special<Number: BinaryFloatingPoint>(_ text: ByteView) -> Number? {
        guard text.count <= 9 else { return nil }
        switch String(decoding: text.array.map { $0 >= 0x41 && $0 <= 0x5a ? $0 | 0x20 : $0 }, as: UTF8.self) {
        case "nan", "+nan", "-nan": return .nan
        case "inf", "+inf", "infinity", "+infinity": return .infinity
        case "-inf", "-infinity": return -.infinity
        default: return nil
        }
    }

    /// Whether the byte is white space in the sense of C: space, tab, line feed, vertical tab, form feed or carriage return.
    private static func isSpace(_ byte: UInt8) -> Bool { byte == 0x20 || (byte >= 0x09 && byte <= 0x0d) }
}
