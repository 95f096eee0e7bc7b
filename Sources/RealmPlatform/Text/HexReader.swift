// SPDX-License-Identifier: Apache-2.0

/// Reads hex digits from a text, from left to right.
///
/// It is used for ids in texts, for digests and for encryption keys. After the first character that is not a digit the reader
/// must not be used any more.
package struct HexReader {
    /// The characters that were not read yet.
    private var rest: Substring.UTF8View

    /// Makes a reader at the start of `text`.
    package init(_ text: String) { rest = text[...].utf8 }

    /// Reads exactly `digitCount` digits, at most 16, and returns their value; nil when there is
    /// another character or the end among them.
    package mutating func number(_ digitCount: Int) -> UInt64? {
        var number: UInt64 = 0
        for _ in 0..<digitCount {
            guard let byte = rest.popFirst(), let digit = HexReader.digit(byte) else { return nil }
            number = number << 4 | digit
        }
        return number
    }

    /// Skips the next character and returns whether it was a hyphen.
    package mutating func takeHyphen() -> Bool { rest.popFirst() == UInt8(ascii: "-") }

    /// Returns the value of a hex digit in either case; nil for another character.
    private static func digit(_ byte: UInt8) -> UInt64? {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): return UInt64(byte - UInt8(ascii: "0"))
        case UInt8(ascii: "a")...UInt8(ascii: "f"): return UInt64(byte - UInt8(ascii: "a") + 10)
        case UInt8(ascii: "A")...UInt8(ascii: "F"): return UInt64(byte - UInt8(ascii: "A") + 10)
        default: return nil
        }
    }

    /// Returns the bytes that a text of two digits each states; nil for another length or another character.
    package static func bytes(of text: String, byteCount: Int) -> [UInt8]? {
        guard text.utf8.count == 2 * byteCount else { return nil }
        var reader = HexReader(text)
        var bytes: [UInt8] = []
        for _ in 0..<byteCount {
            guard let byte = reader.number(2) else { return nil }
            bytes.append(UInt8(byte))
        }
        return bytes
    }

    /// Returns the `byteCount` low bytes of `word`, most significant first.
    package static func bytes(_ word: UInt64, _ byteCount: Int) -> [UInt8] {
        (0..<byteCount).map { UInt8(truncatingIfNeeded: word >> UInt64((byteCount - 1 - $0) * 8)) }
    }
}
