/// A JSON document. Numbers keep their digits, so that no integer and no decimal loses any.
public enum JSON: Sendable, Hashable {
    case null
    case bool(Bool)
    case number(String)
    case string(String)
    case array([JSON])
    case object([String: JSON])

    /// The member of an object; nil if there is none, or this is no object.
    public subscript(name: String) -> JSON? {
        if case .object(let members) = self { members[name] } else { nil }
    }

    /// The elements of an array; empty for anything else.
    public var elements: [JSON] {
        if case .array(let elements) = self { elements } else { [] }
    }

    public var text: String? {
        if case .string(let text) = self { text } else { nil }
    }

    public var integer: Int? {
        if case .number(let text) = self { Int(text) } else { nil }
    }

    public var isTrue: Bool { self == .bool(true) }

    public var isNull: Bool { self == .null }
}

extension JSON: ExpressibleByStringLiteral, ExpressibleByBooleanLiteral, ExpressibleByIntegerLiteral,
    ExpressibleByArrayLiteral, ExpressibleByDictionaryLiteral, ExpressibleByNilLiteral
{
    public init(stringLiteral value: String) { self = .string(value) }
    public init(booleanLiteral value: Bool) { self = .bool(value) }
    public init(integerLiteral value: Int64) { self = .number(String(value)) }
    public init(arrayLiteral elements: JSON...) { self = .array(elements) }
    public init(nilLiteral: ()) { self = .null }
    public init(dictionaryLiteral elements: (String, JSON)...) {
        self = .object(Dictionary(elements) { _, last in last })
    }
}

// MARK: - Writing

extension JSON {
    /// The document as UTF-8, members in alphabetical order, so that equal documents have equal texts.
    public var bytes: [UInt8] {
        var output: [UInt8] = []
        write(to: &output)
        return output
    }

    private func write(to output: inout [UInt8]) {
        switch self {
        case .null: output += "null".utf8
        case .bool(let value): output += (value ? "true" : "false").utf8
        case .number(let text): output += text.utf8
        case .string(let text): Self.write(text, to: &output)
        case .array(let elements):
            output.append(UInt8(ascii: "["))
            for (index, element) in elements.enumerated() {
                if index > 0 { output.append(UInt8(ascii: ",")) }
                element.write(to: &output)
            }
            output.append(UInt8(ascii: "]"))
        case .object(let members):
            output.append(UInt8(ascii: "{"))
            for (index, name) in members.keys.sorted().enumerated() {
                if index > 0 { output.append(UInt8(ascii: ",")) }
                Self.write(name, to: &output)
                output.append(UInt8(ascii: ":"))
                members[name]?.write(to: &output)
            }
            output.append(UInt8(ascii: "}"))
        }
    }

    private static func write(_ text: String, to output: inout [UInt8]) {
        let digits = Array("0123456789abcdef".utf8)
        output.append(UInt8(ascii: "\""))
        for byte in text.utf8 {
            switch byte {
            case UInt8(ascii: "\""), UInt8(ascii: "\\"): output += [UInt8(ascii: "\\"), byte]
            case 0..<0x20: output += Array("\\u00".utf8) + [digits[Int(byte >> 4)], digits[Int(byte & 15)]]
            default: output.append(byte)
            }
        }
        output.append(UInt8(ascii: "\""))
    }
}

// MARK: - Reading

/// A text that is no JSON document.
public struct JSONSyntaxError: Error, Sendable {
    /// Where reading ended, in bytes.
    public let offset: Int
}

extension JSON {
    /// Reads one document of UTF-8.
    public init(parsing bytes: some Sequence<UInt8>) throws(JSONSyntaxError) {
        var reader = JSONReader(bytes: Array(bytes))
        self = try reader.document()
    }
}

private struct JSONReader {
    let bytes: [UInt8]
    var offset = 0

    init(bytes: [UInt8]) { self.bytes = bytes }

    mutating func document() throws(JSONSyntaxError) -> JSON {
        let value = try value(depth: 0)
        skipSpace()
        guard offset == bytes.count else { throw failure }
        return value
    }

    private var failure: JSONSyntaxError { JSONSyntaxError(offset: offset) }

    private var next: UInt8? { offset < bytes.count ? bytes[offset] : nil }

    private mutating func skipSpace() {
        while let byte = next, byte == 0x20 || byte == 0x0A || byte == 0x0D || byte == 0x09 { offset += 1 }
    }

    private mutating func take(_ byte: UInt8) -> Bool {
        guard next == byte else { return false }
        offset += 1
        return true
    }

    private mutating func value(depth: Int) throws(JSONSyntaxError) -> JSON {
        // Deeper than the server writes; a limit keeps the stack safe.
        guard depth < 256 else { throw failure }
        skipSpace()
        switch next {
        case UInt8(ascii: "{"): return try object(depth: depth)
        case UInt8(ascii: "["): return try array(depth: depth)
        case UInt8(ascii: "\""): return .string(try string())
        case UInt8(ascii: "t"): return try word("true", .bool(true))
        case UInt8(ascii: "f"): return try word("false", .bool(false))
        case UInt8(ascii: "n"): return try word("null", .null)
        default: return try number()
        }
    }

    private mutating func word(_ text: StaticString, _ value: JSON) throws(JSONSyntaxError) -> JSON {
        for byte in "\(text)".utf8 { guard take(byte) else { throw failure } }
        return value
    }

    private mutating func number() throws(JSONSyntaxError) -> JSON {
        let start = offset
        while let byte = next,
            (0x30...0x39).contains(byte) || byte == UInt8(ascii: "-") || byte == UInt8(ascii: "+") || byte == UInt8(ascii: ".")
                || byte == UInt8(ascii: "e") || byte == UInt8(ascii: "E")
        { offset += 1 }
        let text = String(decoding: bytes[start..<offset], as: UTF8.self)
        guard Double(text) != nil else { throw failure }
        return .number(text)
    }

    private mutating func array(depth: Int) throws(JSONSyntaxError) -> JSON {
        offset += 1
        var elements: [JSON] = []
        skipSpace()
        if take(UInt8(ascii: "]")) { return .array(elements) }
        while true {
            elements.append(try value(depth: depth + 1))
            skipSpace()
            if take(UInt8(ascii: "]")) { return .array(elements) }
            guard take(UInt8(ascii: ",")) else { throw failure }
        }
    }

    private mutating func object(depth: Int) throws(JSONSyntaxError) -> JSON {
        offset += 1
        var members: [String: JSON] = [:]
        skipSpace()
        if take(UInt8(ascii: "}")) { return .object(members) }
        while true {
            skipSpace()
            guard next == UInt8(ascii: "\"") else { throw failure }
            let name = try string()
            skipSpace()
            guard take(UInt8(ascii: ":")) else { throw failure }
            members[name] = try value(depth: depth + 1)
            skipSpace()
            if take(UInt8(ascii: "}")) { return .object(members) }
            guard take(UInt8(ascii: ",")) else { throw failure }
        }
    }

    private mutating func string() throws(JSONSyntaxError) -> String {
        offset += 1
        var text: [UInt8] = []
        while let byte = next {
            offset += 1
            switch byte {
            case UInt8(ascii: "\""):
                return String(decoding: text, as: UTF8.self)
            case UInt8(ascii: "\\"):
                text += try escape()
            default:
                text.append(byte)
            }
        }
        throw failure
    }

    private mutating func escape() throws(JSONSyntaxError) -> [UInt8] {
        guard let byte = next else { throw failure }
        offset += 1
        switch byte {
        case UInt8(ascii: "n"): return [0x0A]
        case UInt8(ascii: "r"): return [0x0D]
        case UInt8(ascii: "t"): return [0x09]
        case UInt8(ascii: "b"): return [0x08]
        case UInt8(ascii: "f"): return [0x0C]
        case UInt8(ascii: "u"): return Array(String(Character(try scalar())).utf8)
        default: return [byte]
        }
    }

    private mutating func scalar() throws(JSONSyntaxError) -> Unicode.Scalar {
        var code = try unit()
        if (0xD800..<0xDC00).contains(code) {
            guard take(UInt8(ascii: "\\")), take(UInt8(ascii: "u")) else { throw failure }
            code = 0x10000 + (code - 0xD800) << 10 + (try unit() &- 0xDC00)
        }
        guard let scalar = Unicode.Scalar(code) else { throw failure }
        return scalar
    }

    private mutating func unit() throws(JSONSyntaxError) -> UInt32 {
        guard offset + 4 <= bytes.count,
            let code = UInt32(String(decoding: bytes[offset..<offset + 4], as: UTF8.self), radix: 16)
        else { throw failure }
        offset += 4
        return code
    }
}
