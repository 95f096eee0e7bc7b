// SPDX-License-Identifier: Apache-2.0

internal import Glibc

/// JSON as test vectors need it: integers stay exact, numbers keep their text, objects keep their order.
package indirect enum JSONValue: Sendable, Equatable {
    case null
    case bool(Bool)
    case integer(Int64)
    /// A number with a fraction or an exponent, or one beyond 64 bits.
    case number(Double, text: String)
    case string(String)
    case array([JSONValue])
    case object([Member])

    package struct Member: Sendable, Equatable {
        package let name: String
        package let value: JSONValue

        package init(name: String, value: JSONValue) {
            self.name = name
            self.value = value
        }
    }

    package struct Malformed: Error { package let offset: Int }

    /// Parses a whole document.
    package init(parsing bytes: [UInt8]) throws {
        var reader = JSONReader(bytes: bytes)
        self = try reader.readDocument()
    }

    /// The member of an object, or nil.
    package subscript(_ name: String) -> JSONValue? { members?.first { $0.name == name }?.value }

    package var members: [Member]? {
        if case .object(let members) = self { return members }
        return nil
    }

    package var elements: [JSONValue]? {
        if case .array(let elements) = self { return elements }
        return nil
    }

    package var text: String? {
        if case .string(let text) = self { return text }
        return nil
    }

    package var integer: Int64? {
        if case .integer(let number) = self { return number }
        return nil
    }

    package var double: Double? {
        switch self {
        case .integer(let number): return Double(number)
        case .number(let number, _): return number
        default: return nil
        }
    }
}

private struct JSONReader {
    let bytes: [UInt8]
    var offset = 0

    init(bytes: [UInt8]) { self.bytes = bytes }

    mutating func readDocument() throws -> JSONValue {
        let value = try readValue()
        skipSpace()
        guard offset == bytes.count else { throw JSONValue.Malformed(offset: offset) }
        return value
    }

    private mutating func skipSpace() {
        while offset < bytes.count, [0x20, 0x09, 0x0a, 0x0d].contains(bytes[offset]) { offset += 1 }
    }

    private var current: UInt8 { offset < bytes.count ? bytes[offset] : 0 }

    private mutating func take(_ byte: UInt8) -> Bool {
        skipSpace()
        guard current == byte else { return false }
        offset += 1
        return true
    }

    private mutating func require(_ byte: UInt8) throws {
        guard take(byte) else { throw JSONValue.Malformed(offset: offset) }
    }

    private mutating func readValue() throws -> JSONValue {
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

    private mutating func readWord(_ word: String, _ value: JSONValue) throws -> JSONValue {
        guard bytes[offset...].starts(with: word.utf8) else { throw JSONValue.Malformed(offset: offset) }
        offset += word.utf8.count
        return value
    }

    private mutating func readNumber() throws -> JSONValue {
        let start = offset
        while offset < bytes.count, "+-.eE0123456789".utf8.contains(bytes[offset]) { offset += 1 }
        let text = String(decoding: bytes[start..<offset], as: UTF8.self)
        if let integer = Int64(text) { return .integer(integer) }
        guard let number = Double(text) else { throw JSONValue.Malformed(offset: start) }
        return .number(number, text: text)
    }

    private mutating func readArray() throws -> JSONValue {
        try require(UInt8(ascii: "["))
        var elements: [JSONValue] = []
        if take(UInt8(ascii: "]")) { return .array([]) }
        repeat { elements.append(try readValue()) } while take(UInt8(ascii: ","))
        try require(UInt8(ascii: "]"))
        return .array(elements)
    }

    private mutating func readObject() throws -> JSONValue {
        try require(UInt8(ascii: "{"))
        var members: [JSONValue.Member] = []
        if take(UInt8(ascii: "}")) { return .object([]) }
        repeat {
            skipSpace()
            let name = try readString()
            try require(UInt8(ascii: ":"))
            members.append(JSONValue.Member(name: name, value: try readValue()))
        } while take(UInt8(ascii: ","))
        try require(UInt8(ascii: "}"))
        return .object(members)
    }

    private mutating func readString() throws -> String {
        try require(UInt8(ascii: "\""))
        if let plain = readPlainString() { return plain }
        var text: [UInt16] = []
        var plain: [UInt8] = []
        func flush() {
            text.append(contentsOf: String(decoding: plain, as: UTF8.self).utf16)
            plain.removeAll()
        }
        while offset < bytes.count {
            let byte = bytes[offset]
            offset += 1
            if byte == UInt8(ascii: "\"") {
                flush()
                return String(decoding: text, as: UTF16.self)
            }
            guard byte == UInt8(ascii: "\\") else {
                plain.append(byte)
                continue
            }
            flush()
            text.append(try readEscape())
        }
        throw JSONValue.Malformed(offset: offset)
    }

    /// The rest of a string without escapes, at once: exports are long.
    private mutating func readPlainString() -> String? {
        let start = offset
        let length: Int? = unsafe bytes.withUnsafeBytes { all in
            guard let rest = unsafe all.baseAddress.map({ unsafe $0 + start }),
                let end = unsafe memchr(rest, 0x22, all.count - start)
            else {
                return nil
            }
            let length = unsafe rest.distance(to: UnsafeRawPointer(end))
            return unsafe memchr(rest, 0x5c, length) == nil ? length : nil
        }
        guard let length else { return nil }
        offset += length + 1
        return String(decoding: bytes[start..<start + length], as: UTF8.self)
    }

    private mutating func readEscape() throws -> UInt16 {
        let byte = current
        offset += 1
        switch byte {
        case UInt8(ascii: "n"): return 0x0a
        case UInt8(ascii: "t"): return 0x09
        case UInt8(ascii: "r"): return 0x0d
        case UInt8(ascii: "b"): return 0x08
        case UInt8(ascii: "f"): return 0x0c
        case UInt8(ascii: "u"):
            guard offset + 4 <= bytes.count,
                let unit = UInt16(String(decoding: bytes[offset..<offset + 4], as: UTF8.self), radix: 16)
            else { throw JSONValue.Malformed(offset: offset) }
            offset += 4
            return unit
        default: return UInt16(byte)
        }
    }
}
