// SPDX-License-Identifier: Apache-2.0

/// Base64 of RFC 4648, strictly: padding where it belongs, no foreign characters, no stray bits.
package enum Base64 {
    static let alphabet: StaticString = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
    static let urlAlphabet: StaticString = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"

    /// The bytes of padded base64 text; nil when it is not that.
    package static func decode(_ text: some StringProtocol) -> [UInt8]? {
        let digits = Array(text.utf8)
        guard digits.count % 4 == 0 else { return nil }
        let padding = digits.suffix(2).reversed().prefix { $0 == UInt8(ascii: "=") }.count
        return decode(digits.dropLast(padding), plus: UInt8(ascii: "+"), slash: UInt8(ascii: "/"))
    }

    /// The bytes of base64url text without padding; nil when it is not that.
    package static func decodeURL(_ text: some StringProtocol) -> [UInt8]? {
        decode(Array(text.utf8)[...], plus: UInt8(ascii: "-"), slash: UInt8(ascii: "_"))
    }

    package static func encodeURL(_ bytes: [UInt8]) -> String {
        let buffer = OutputBuffer()
        buffer.append(base64URL: bytes)
        return buffer.text
    }

    private static func decode(_ digits: ArraySlice<UInt8>, plus: UInt8, slash: UInt8) -> [UInt8]? {
        guard digits.count % 4 != 1 else { return nil }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(digits.count * 3 / 4)
        var bits: UInt32 = 0
        var bitCount: UInt32 = 0
        for digit in digits {
            guard let value = value(of: digit, plus, slash) else { return nil }
            bits = bits << 6 | value
            bitCount += 6
            if bitCount >= 8 {
                bitCount -= 8
                bytes.append(UInt8(truncatingIfNeeded: bits >> bitCount))
                bits &= (1 << bitCount) - 1
            }
        }
        return bits == 0 ? bytes : nil
    }

    private static func value(of digit: UInt8, _ plus: UInt8, _ slash: UInt8) -> UInt32? {
        switch digit {
        case UInt8(ascii: "A")...UInt8(ascii: "Z"): return UInt32(digit - UInt8(ascii: "A"))
        case UInt8(ascii: "a")...UInt8(ascii: "z"): return UInt32(digit - UInt8(ascii: "a")) + 26
        case UInt8(ascii: "0")...UInt8(ascii: "9"): return UInt32(digit - UInt8(ascii: "0")) + 52
        case plus: return 62
        case slash: return 63
        default: return nil
        }
    }
}
