// SPDX-License-Identifier: Apache-2.0

import RealmPlatform
internal import RealmStorage

internal import Glibc

extension ParsedJSON {
    /// Bytes that are not one JSON value, and where they go wrong.
    package struct Malformed: Error, Equatable { package let offset: Int }

    /// Reads a whole document by the letter of RFC 8259.
    package init(parsing bytes: [UInt8]) throws {
        var reader = JSONReader(bytes: bytes)
        self = try reader.readDocument()
    }

    package init(parsing text: String) throws { try self.init(parsing: Array(text.utf8)) }
}

private struct JSONReader {
    let bytes: [UInt8]
    var offset = 0
    /// Whether the document has any control character. Nearly all have none, and then no text has to be searched for them.
    private let hasControls: Bool

    init(bytes: [UInt8]) {
        self.bytes = bytes
        hasControls = unsafe bytes.withUnsafeBytes { all in
            guard let start = all.baseAddress else { return false }
            return (0..<0x20).contains { unsafe memchr(start, $0, bytes.count) != nil }
        }
    }

    mutating func readDocument() throws -> ParsedJSON {
        let value = try readValue()
        skipSpace()
        guard offset == bytes.count else { throw malformed }
        return value
    }

    private var malformed: ParsedJSON.Malformed { ParsedJSON.Malformed(offset: offset) }

    private var current: UInt8 { offset < bytes.count ? bytes[offset] : 0 }

    private mutating func skipSpace() {
        while offset < bytes.count {
            switch bytes[offset] {
            case 0x20, 0x09, 0x0a, 0x0d: offset += 1
            default: return
            }
        }
    }

    private mutating func take(_ byte: UInt8) -> Bool {
        skipSpace()
        guard current == byte else { return false }
        offset += 1
        return true
    }

    private mutating func require(_ byte: UInt8) throws {
        guard take(byte) else { throw malformed }
    }

    private mutating func readValue() throws -> ParsedJSON {
        skipSpace()
        switch current {
        case UInt8(ascii: "{"): return try readObject()
        case UInt8(ascii: "["): return try readArray()
        case UInt8(ascii: "\""): return .string(try readString())
        case UInt8(ascii: "t"): return try readWord("true", .bool(true))
        case UInt8(ascii: "f"): return try readWord("false", .bool(false))
        case UInt8(ascii: "n"): return try readWord("null", .null)
        default: return try readNumber()
        }
    }

    private mutating func readWord(_ word: String, _ value: ParsedJSON) throws -> ParsedJSON {
        guard bytes[offset...].starts(with: word.utf8) else { throw malformed }
        offset += word.utf8.count
        return value
    }

    private mutating func readArray() throws -> ParsedJSON {
        try require(UInt8(ascii: "["))
        var elements: [ParsedJSON] = []
        if take(UInt8(ascii: "]")) { return .array([]) }
        repeat { elements.append(try readValue()) } while take(UInt8(ascii: ","))
        try require(UInt8(ascii: "]"))
        return .array(elements)
    }

    private mutating func readObject() throws -> ParsedJSON {
        try require(UInt8(ascii: "{"))
        var members: [ParsedJSON.Member] = []
        if take(UInt8(ascii: "}")) { return .object([ParsedJSON.Member]()) }
        repeat {
            skipSpace()
            let name = try readString()
            try require(UInt8(ascii: ":"))
            members.append(ParsedJSON.Member(name: name, value: try readValue()))
        } while take(UInt8(ascii: ","))
        try require(UInt8(ascii: "}"))
        return .object(members)
    }

    // MARK: - Numbers

    private mutating func readNumber() throws -> ParsedJSON {
        let start = offset
        if current == UInt8(ascii: "-") { offset += 1 }
        if current == UInt8(ascii: "0") { offset += 1 } else { try readDigits() }
        if current == UInt8(ascii: ".") {
            offset += 1
            try readDigits()
        }
        if current == UInt8(ascii: "e") || current == UInt8(ascii: "E") {
            offset += 1
            if current == UInt8(ascii: "+") || current == UInt8(ascii: "-") { offset += 1 }
            try readDigits()
        }
        let text = String(decoding: bytes[start..<offset], as: UTF8.self)
        if let integer = Int64(text), text != "-0" { return .integer(integer) }
        return .number(text)
    }

    private mutating func readDigits() throws {
        let start = offset
        while UInt8(ascii: "0")...UInt8(ascii: "9") ~= current { offset += 1 }
        guard offset > start else { throw malformed }
    }

    // MARK: - Texts

    private mutating func readString() throws -> String {
        try require(UInt8(ascii: "\""))
        var text = ""
        while true {
            text += try readPlainText()
            offset += 1
            if bytes[offset - 1] == UInt8(ascii: "\"") { return text }
            text.unicodeScalars.append(try readEscape())
        }
    }

    /// What stands before the next quotation mark or backslash, at once: exports are long.
    private mutating func readPlainText() throws -> String {
        let start = offset
        let length: Int? = unsafe bytes.withUnsafeBytes { all in
            guard let base = all.baseAddress else { return nil }
            // A part at a time, as the quotation mark may be far behind many backslashes.
            var (next, part) = (start, 64)
            while next < all.count {
                let count = min(part, all.count - next)
                let rest = unsafe base + next
                let end = unsafe memchr(rest, 0x22, count).map { unsafe rest.distance(to: UnsafeRawPointer($0)) }
                if let escape = unsafe memchr(rest, 0x5c, end ?? count) {
                    return unsafe next - start + rest.distance(to: UnsafeRawPointer(escape))
                }
                if let end { return next - start + end }
                (next, part) = (next + count, min(part * 8, 1 << 20))
            }
            return nil
        }
        guard let length else { throw malformed }
        let plain = bytes[start..<start + length]
        guard let text = String(validating: plain, as: UTF8.self),
            !hasControls || !text.utf8.contains(where: { $0 < 0x20 })
        else {
            throw malformed
        }
        offset += length
        return text
    }

    private mutating func readEscape() throws -> Unicode.Scalar {
        let byte = current
        offset += 1
        switch byte {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): return Unicode.Scalar(byte)
        case UInt8(ascii: "n"): return "\n"
        case UInt8(ascii: "t"): return "\t"
        case UInt8(ascii: "r"): return "\r"
        case UInt8(ascii: "b"): return "\u{8}"
        case UInt8(ascii: "f"): return "\u{c}"
        case UInt8(ascii: "u"): return try readCodeUnits()
        default: throw malformed
        }
    }

    /// The digits behind `\u`, and those of the other half where two belong together.
    private mutating func readCodeUnits() throws -> Unicode.Scalar {
        let first = try readCodeUnit()
        if let scalar = Unicode.Scalar(first) { return scalar }
        guard bytes[offset...].starts(with: "\\u".utf8) else { throw malformed }
        offset += 2
        let second = try readCodeUnit()
        guard (0xd800..<0xdc00).contains(first), (0xdc00..<0xe000).contains(second),
            let scalar = Unicode.Scalar(0x10000 + (UInt32(first) - 0xd800) << 10 + UInt32(second) - 0xdc00)
        else { throw malformed }
        return scalar
    }

    private mutating func readCodeUnit() throws -> UInt16 {
        let digits = bytes[offset...].prefix(4)
        // A sign would be taken for a part of the number.
        guard digits.count == 4, digits.allSatisfy({ Character(Unicode.Scalar($0)).isHexDigit }),
            let unit = UInt16(String(decoding: digits, as: UTF8.self), radix: 16)
        else { throw malformed }
        offset += 4
        return unit
    }
}
