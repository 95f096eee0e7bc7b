import Foundation

/// A point in time with nanoseconds, as Realm stores it.
public struct Timestamp: Sendable, Hashable, Comparable, Codable {
    /// Seconds since 1970, rounded down.
    public let seconds: Int64
    /// 0 to 999,999,999, counted from the second.
    public let nanoseconds: Int32

    public init(seconds: Int64, nanoseconds: Int32 = 0) {
        precondition((0..<1_000_000_000).contains(nanoseconds), "nanoseconds count from the second")
        self.seconds = seconds
        self.nanoseconds = nanoseconds
    }

    /// The same moment, to the nanosecond nearest to what a `Date` can hold.
    public init(_ date: Date) {
        let since = date.timeIntervalSince1970
        let whole = since.rounded(.down)
        self.init(seconds: Int64(whole), nanoseconds: Int32(min(((since - whole) * 1e9).rounded(), 999_999_999)))
    }

    /// As `Date`, which is exact to about a tenth of a microsecond in our days.
    public var date: Date { Date(timeIntervalSince1970: Double(seconds) + Double(nanoseconds) / 1e9) }

    public static func < (left: Timestamp, right: Timestamp) -> Bool {
        (left.seconds, left.nanoseconds) < (right.seconds, right.nanoseconds)
    }

    public init(from decoder: any Decoder) throws {
        let json = try decoder.singleValueContainer().decode(JSON.self)
        guard let value = json.text.flatMap(Timestamp.init(rfc3339:)) ?? Mixed(json)?.timestamp else {
            throw ValueDecoder.mismatch(Timestamp.self, json, decoder.codingPath)
        }
        self = value
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(json)
    }

    var json: JSON {
        if let text = rfc3339 { return .object(["$date": .string(text)]) }
        // Before 1970 Realm counts both parts backwards.
        let isBefore = seconds < 0 && nanoseconds > 0
        let parts = isBefore ? (seconds + 1, nanoseconds - 1_000_000_000) : (seconds, nanoseconds)
        return .object(["$instant": .object(["seconds": .string(String(parts.0)), "nanoseconds": .number(String(parts.1))])])
    }
}

/// A decimal number of 34 digits, by its text: exponent and trailing zeros are kept.
public struct Decimal128: Sendable, Hashable, Codable, ExpressibleByStringLiteral, CustomStringConvertible {
    public let text: String

    public init(_ text: String) { self.text = text }
    public init(_ value: Decimal) { text = "\(value)" }
    public init(stringLiteral value: String) { text = value }

    /// As Foundation's decimal; nil for NaN and infinities, and rounded where it is too narrow.
    public var decimal: Decimal? { Decimal(string: text) }
    public var description: String { text }

    public init(from decoder: any Decoder) throws {
        let json = try decoder.singleValueContainer().decode(JSON.self)
        guard let text = json.text ?? json["$numberDecimal"]?.text else {
            throw ValueDecoder.mismatch(Decimal128.self, json, decoder.codingPath)
        }
        self.text = text
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(JSON.object(["$numberDecimal": .string(text)]))
    }
}

/// Twelve bytes, written as 24 hexadecimal digits.
public struct ObjectId: Sendable, Hashable, Comparable, Codable, CustomStringConvertible {
    public let hex: String

    /// Nil unless there are 24 hexadecimal digits.
    public init?(_ hex: String) {
        guard hex.utf8.count == 24, hex.allSatisfy({ $0.isASCII && $0.isHexDigit }) else { return nil }
        self.hex = hex.lowercased()
    }

    public var description: String { hex }
    public static func < (left: ObjectId, right: ObjectId) -> Bool { left.hex < right.hex }

    public init(from decoder: any Decoder) throws {
        let json = try decoder.singleValueContainer().decode(JSON.self)
        guard let value = (json.text ?? json["$oid"]?.text).flatMap(ObjectId.init) else {
            throw ValueDecoder.mismatch(ObjectId.self, json, decoder.codingPath)
        }
        self = value
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(JSON.object(["$oid": .string(hex)]))
    }
}

/// A link to an object: its class, and its key as the server writes it.
public struct Link: Sendable, Hashable, Codable {
    public let className: String
    public let key: String

    public init(className: String, key: String) {
        self.className = className
        self.key = key
    }

    public init(from decoder: any Decoder) throws {
        let json = try decoder.singleValueContainer().decode(JSON.self)
        let place = json["$link"] ?? json["$meta"]
        guard let className = place?["class"]?.text, let key = place?["key"]?.text else {
            throw ValueDecoder.mismatch(Link.self, json, decoder.codingPath)
        }
        self.init(className: className, key: key)
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(json)
    }

    var json: JSON { .object(["$link": .object(["class": .string(className), "key": .string(key)])]) }
}

/// An object that was read: its values as the given type, and its place. It does not change.
@dynamicMemberLookup
public struct Stored<Value: Decodable & Sendable>: Sendable, Decodable {
    public let className: String
    /// The key as the server writes it.
    public let key: String
    /// What `If-Match` takes: the state of the object.
    public let etag: String?
    public let value: Value
    /// The version of the commit, in the answer of a write.
    public internal(set) var version: String?

    public subscript<Member>(dynamicMember path: KeyPath<Value, Member>) -> Member { value[keyPath: path] }

    public var link: Link { Link(className: className, key: key) }

    init(className: String, key: String, etag: String?, value: Value) {
        self.className = className
        self.key = key
        self.etag = etag
        self.value = value
    }

    public init(from decoder: any Decoder) throws {
        try self.init(json: decoder.singleValueContainer().decode(JSON.self))
    }

    init(json: JSON) throws {
        let meta = json["$meta"]
        className = meta?["class"]?.text ?? ""
        key = meta?["key"]?.text ?? ""
        etag = meta?["etag"]?.text
        value = try ValueDecoder.decode(Value.self, from: json)
    }
}

extension Stored: Equatable where Value: Equatable {
    public static func == (left: Stored, right: Stored) -> Bool {
        left.className == right.className && left.key == right.key && left.value == right.value
    }
}

/// The text of a key in a path, by a primary key's value.
public protocol KeyConvertible: Sendable {
    var keyText: String { get }
}

extension String: KeyConvertible {
    /// Texts are taken as the server writes keys: `Stored.key` stays as it is. A primary key that begins with `@` is
    /// written with a second one.
    public var keyText: String { isEmpty ? "@empty" : self }
}
extension Int: KeyConvertible { public var keyText: String { String(self) } }
extension Int64: KeyConvertible { public var keyText: String { String(self) } }
extension UUID: KeyConvertible { public var keyText: String { uuidString.lowercased() } }
extension ObjectId: KeyConvertible { public var keyText: String { hex } }
