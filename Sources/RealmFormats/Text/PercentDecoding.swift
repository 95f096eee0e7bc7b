// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform
internal import RealmStorage

/// Strict percent-decoding, and the encoding that belongs to it: each `%` begins an escape of two
/// hexadecimal digits, and the decoded bytes are valid UTF-8.
package enum PercentDecoding {
    /// Decodes a part of a request target.
    ///
    /// - Parameters:
    ///   - bytes: The part as it was sent.
    ///   - plusIsSpace: Whether `+` represents a space, as HTML forms and most clients write
    ///     queries; in paths it does not.
    /// - Returns: The text; nil when an escape is malformed or the result is not UTF-8.
    package static func decode(_ bytes: ArraySlice<UInt8>, plusIsSpace: Bool = false) -> String? {
        guard bytes.contains(where: { $0 == percent || $0 >= 0x80 || plusIsSpace && $0 == plus }) else {
            return String(decoding: bytes, as: UTF8.self)
        }
        var decoded: [UInt8] = []
        decoded.reserveCapacity(bytes.count)
        var index = bytes.startIndex
        while index < bytes.endIndex {
            let byte = bytes[index]
            index += 1
            if byte == percent {
                guard index + 1 < bytes.endIndex, let high = hexValue(bytes[index]), let low = hexValue(bytes[index + 1])
                else { return nil }
                decoded.append(high << 4 | low)
                index += 2
            } else {
                decoded.append(plusIsSpace && byte == plus ? 0x20 : byte)
            }
        }
        return String(validating: decoded, as: UTF8.self)
    }

    /// Encodes everything but unreserved characters (RFC 3986, section 2.3), so that the result fits into any part of a URL.
    ///
    /// - Parameters:
    ///   - kept: A reserved character that is kept as well; nil for none.
    /// - Returns: ASCII text with upper-case escapes.
    package static func encode(_ text: String, keeping kept: UInt8? = nil) -> String {
        var encoded: [UInt8] = []
        for byte in text.utf8 {
            switch byte {
            case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"),
                UInt8(ascii: "~"):
                encoded.append(byte)
            case _ where byte == kept: encoded.append(byte)
            default:
                encoded += [percent, upperHexDigit(byte >> 4), upperHexDigit(byte & 15)]
            }
        }
        return String(decoding: encoded, as: UTF8.self)
    }

    private static let percent = UInt8(ascii: "%")
    private static let plus = UInt8(ascii: "+")

    /// Returns the upper-case hexadecimal digit of a number from 0 to 15.
    private static func upperHexDigit(_ nibble: UInt8) -> UInt8 {
        nibble < 10 ? UInt8(ascii: "0") + nibble : UInt8(ascii: "A") + nibble - 10
    }

    /// Returns the value of a hexadecimal digit in either case; nil for every other byte.
    static func hexValue(_ byte: UInt8) -> UInt8? {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): return byte - UInt8(ascii: "0")
        case UInt8(ascii: "a")...UInt8(ascii: "f"): return byte - UInt8(ascii: "a") + 10
        case UInt8(ascii: "A")...UInt8(ascii: "F"): return byte - UInt8(ascii: "A") + 10
        default: return nil
        }
    }
}
