// SPDX-License-Identifier: Apache-2.0

/// Escaping and checking of text for JSON, eight bytes at a time where it is plain.
enum JSONText {
    /// Appends valid UTF-8 with quotes, backslashes and control characters escaped.
    static func appendEscaped(_ text: UnsafeBufferPointer<UInt8>, to bytes: inout [UInt8]) {
        var start = 0
        var index = 0
        while index < text.count {
            if index + 8 <= text.count, isPlain(word(text, index), allowsHighBit: true) {
                index += 8
                continue
            }
            if needsEscape(text[index]) {
                bytes.append(contentsOf: text[start..<index])
                appendEscape(of: text[index], to: &bytes)
                start = index + 1
            }
            index += 1
        }
        bytes.append(contentsOf: text[start...])
    }

    /// The same for bytes of any kind; false at the first that is not valid UTF-8, and then part of them is written.
    static func appendValidated(_ text: UnsafeBufferPointer<UInt8>, to bytes: inout [UInt8]) -> Bool {
        var start = 0
        var index = 0
        while index < text.count {
            if index + 8 <= text.count, isPlain(word(text, index), allowsHighBit: false) {
                index += 8
                continue
            }
            let byte = text[index]
            if byte >= 0x80 {
                let byteCount = sequenceLength(text, index)
                guard byteCount > 0 else { return false }
                index += byteCount
                continue
            }
            if needsEscape(byte) {
                bytes.append(contentsOf: text[start..<index])
                appendEscape(of: byte, to: &bytes)
                start = index + 1
            }
            index += 1
        }
        bytes.append(contentsOf: text[start...])
        return true
    }

    /// In bounds: the caller has checked that eight bytes follow `index`.
    @inline(__always) private static func word(_ text: UnsafeBufferPointer<UInt8>, _ index: Int) -> UInt64 {
        UnsafeRawBufferPointer(text).loadUnaligned(fromByteOffset: index, as: UInt64.self)
    }

    /// No quote, backslash or control character among eight bytes, and nothing outside ASCII unless allowed.
    @inline(__always) private static func isPlain(_ word: UInt64, allowsHighBit: Bool) -> Bool {
        let high: UInt64 = 0x8080_8080_8080_8080
        let low: UInt64 = 0x0101_0101_0101_0101
        let quote = word ^ (low &* 0x22)
        let backslash = word ^ (low &* 0x5c)
        // Each term sets the high bit of bytes that match; bytes above 0x7f may match by mistake, which only costs time.
        let control = (word &- low &* 0x20) & ~word
        let special = control | ((quote &- low) & ~quote) | ((backslash &- low) & ~backslash)
        return (allowsHighBit ? special : special | word) & high == 0
    }

    @inline(__always) private static func needsEscape(_ byte: UInt8) -> Bool { byte < 0x20 || byte == 0x22 || byte == 0x5c }

    private static func appendEscape(of byte: UInt8, to bytes: inout [UInt8]) {
        bytes.append(0x5c)
        switch byte {
        case 0x22, 0x5c: bytes.append(byte)
        case 0x08: bytes.append(0x62)
        case 0x0c: bytes.append(0x66)
        case 0x0a: bytes.append(0x6e)
        case 0x0d: bytes.append(0x72)
        case 0x09: bytes.append(0x74)
        default:
            bytes.append(contentsOf: [0x75, 0x30, 0x30, hex(byte >> 4), hex(byte & 15)] as [UInt8])
        }
    }

    static func hex(_ digit: UInt8) -> UInt8 { digit < 10 ? 0x30 + digit : 0x57 + digit }

    /// The length of the well-formed sequence at `index`, or 0: no overlong forms, surrogates or values past U+10FFFF.
    private static func sequenceLength(_ text: UnsafeBufferPointer<UInt8>, _ index: Int) -> Int {
        func continuation(_ offset: Int, _ range: ClosedRange<UInt8> = 0x80...0xbf) -> Bool {
            index + offset < text.count && range.contains(text[index + offset])
        }
        switch text[index] {
        case 0xc2...0xdf: return continuation(1) ? 2 : 0
        case 0xe0: return continuation(1, 0xa0...0xbf) && continuation(2) ? 3 : 0
        case 0xed: return continuation(1, 0x80...0x9f) && continuation(2) ? 3 : 0
        case 0xe1...0xef: return continuation(1) && continuation(2) ? 3 : 0
        case 0xf0: return continuation(1, 0x90...0xbf) && continuation(2) && continuation(3) ? 4 : 0
        case 0xf1...0xf3: return continuation(1) && continuation(2) && continuation(3) ? 4 : 0
        case 0xf4: return continuation(1, 0x80...0x8f) && continuation(2) && continuation(3) ? 4 : 0
        default: return 0
        }
    }
}

/// Decimal text of numbers, appended to a buffer.
package enum NumberText {
    package static func append<Number: FixedWidthInteger>(_ value: Number, to bytes: inout [UInt8]) {
        if value < 0 { bytes.append(0x2d) }
        var rest = UInt64(truncatingIfNeeded: value.magnitude)
        if rest < 10 {
            bytes.append(0x30 + UInt8(truncatingIfNeeded: rest))
            return
        }
        let start = bytes.count
        while rest > 0 {
            let (quotient, digit) = rest.quotientAndRemainder(dividingBy: 10)
            bytes.append(0x30 + UInt8(truncatingIfNeeded: digit))
            rest = quotient
        }
        bytes[start...].reverse()
    }

    package static func append(_ value: Double, to bytes: inout [UInt8]) {
        guard value.isFinite else { return append(special: value.isNaN, value < 0, to: &bytes) }
        // Swift's description is the shortest that reads back, and always has "." or "e".
        bytes.append(contentsOf: value.description.utf8)
    }

    package static func append(_ value: Float, to bytes: inout [UInt8]) {
        guard value.isFinite else { return append(special: value.isNaN, value < 0, to: &bytes) }
        bytes.append(contentsOf: value.description.utf8)
    }

    private static func append(special isNaN: Bool, _ isNegative: Bool, to bytes: inout [UInt8]) {
        bytes.append(contentsOf: (isNaN ? "\"NaN\"" : isNegative ? "\"-Infinity\"" : "\"Infinity\"").utf8)
    }
}
