// SPDX-License-Identifier: Apache-2.0

/// Decodes the base64 text of string and binary literals, `B64"…"` and `bin(B64"…")`.
enum Base64Literal {
    /// Returns whether a byte may occur between the quotes of a base64 literal: a letter, a digit,
    /// `+`, `/` or `=`.
    static func isCharacter(_ byte: UInt8) -> Bool { sextet(byte) != nil || byte == UInt8(ascii: "=") }

    /// Decodes base64 text with the standard alphabet.
    ///
    /// - Parameter text: The characters between the quotes. The final padding may be left out, but
    ///   must be right if it is there.
    /// - Returns: The decoded bytes, or nil when the text is not well formed.
    static func decode(_ text: ArraySlice<UInt8>) -> [UInt8]? {
        let padding = text.reversed().prefix { $0 == UInt8(ascii: "=") }.count
        let body = text.dropLast(padding)
        let remainder = body.count % 4
        guard remainder != 1, padding == 0 || padding + remainder == 4 else { return nil }
        var decoded: [UInt8] = []
        decoded.reserveCapacity(body.count * 3 / 4)
        var buffer: UInt32 = 0
        var bitCount = 0
        for byte in body {
            guard let value = sextet(byte) else { return nil }
            buffer = buffer << 6 | UInt32(value)
            bitCount += 6
            guard bitCount >= 8 else { continue }
            bitCount -= 8
            decoded.append(UInt8(truncatingIfNeeded: buffer >> UInt32(bitCount)))
        }
        return decoded
    }

    /// The six bits that a character of the base64 alphabet encodes; nil for every other
    /// character.
    private static func sextet(_ byte: UInt8) -> UInt8? {
        switch byte {
        case UInt8(ascii: "A")...UInt8(ascii: "Z"): return byte - UInt8(ascii: "A")
        case UInt8(ascii: "a")...UInt8(ascii: "z"): return byte - UInt8(ascii: "a") + 26
        case UInt8(ascii: "0")...UInt8(ascii: "9"): return byte - UInt8(ascii: "0") + 52
        case UInt8(ascii: "+"): return 62
        case UInt8(ascii: "/"): return 63
        default: return nil
        }
    }
}
