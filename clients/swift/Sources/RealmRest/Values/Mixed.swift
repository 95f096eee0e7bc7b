import Foundation

/// A value of a Mixed property: its type is part of it.
public enum Mixed: Sendable, Hashable {
    case null
    case bool(Bool)
    case int(Int64)
    case float(Float)
    case double(Double)
    case decimal(Decimal128)
    case string(String)
    case data(Data)
    case timestamp(Timestamp)
    case objectId(ObjectId)
    case uuid(UUID)
    case link(Link)
    case list([Mixed])
    case dictionary([String: Mixed])

    public var data: Data? { if case .data(let value) = self { value } else { nil } }
    public var uuid: UUID? { if case .uuid(let value) = self { value } else { nil } }
    public var timestamp: Timestamp? { if case .timestamp(let value) = self { value } else { nil } }
}

extension Mixed: Codable {
    public init(from decoder: any Decoder) throws {
        let json = try decoder.singleValueContainer().decode(JSON.self)
        guard let value = Mixed(json) else { throw ValueDecoder.mismatch(Mixed.self, json, decoder.codingPath) }
        self = value
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(json)
    }

    /// The value that JSON describes; nil if a wrapper is malformed.
    init?(_ json: JSON) {
        switch json {
        case .null: self = .null
        case .bool(let value): self = .bool(value)
        case .string(let value): self = .string(value)
        case .number(let text):
            if let value = Int64(text), !text.hasPrefix("-0") {
                self = .int(value)
            } else if let value = Double(text) {
                self = .double(value)
            } else {
                return nil
            }
        case .array(let elements):
            let values = elements.compactMap(Mixed.init)
            guard values.count == elements.count else { return nil }
            self = .list(values)
        case .object(let members):
            guard members.count == 1, let (name, body) = members.first, name.hasPrefix("$") else {
                let values = members.compactMapValues(Mixed.init)
                guard values.count == members.count else { return nil }
                self = .dictionary(values)
                return
            }
            guard let value = Self.unwrapped(name, body) else { return nil }
            self = value
        }
    }

    private static func unwrapped(_ name: String, _ body: JSON) -> Mixed? {
        switch name {
        case "$numberLong", "$numberInt": body.text.flatMap { Int64($0) }.map(Mixed.int)
        case "$numberDouble": body.text.flatMap(floating(Double.self)).map(Mixed.double)
        case "$numberFloat": body.text.flatMap(floating(Float.self)).map(Mixed.float)
        case "$numberDecimal": body.text.map { .decimal(Decimal128($0)) }
        case "$oid": body.text.flatMap(ObjectId.init).map(Mixed.objectId)
        case "$uuid": body.text.flatMap(UUID.init(uuidString:)).map(Mixed.uuid)
        case "$date": date(body).map(Mixed.timestamp)
        case "$instant": instant(body).map(Mixed.timestamp)
        case "$binary": binary(body)
        case "$link":
            if let className = body["class"]?.text, let key = body["key"]?.text {
                .link(Link(className: className, key: key))
            } else {
                nil
            }
        default: nil
        }
    }

    private static func floating<Value: BinaryFloatingPoint & LosslessStringConvertible>(
        _ type: Value.Type
    ) -> (String) -> Value? {
        { text in
            switch text {
            case "NaN": .nan
            case "Infinity": .infinity
            case "-Infinity": -.infinity
            default: Value(text)
            }
        }
    }

    private static func date(_ body: JSON) -> Timestamp? {
        if let text = body.text { return Timestamp(rfc3339: text) }
        guard let milliseconds = body["$numberLong"]?.text.flatMap({ Int64($0) }) else { return nil }
        let (seconds, rest) = milliseconds.flooredDivision(by: 1000)
        return Timestamp(seconds: seconds, nanoseconds: Int32(rest) * 1_000_000)
    }

    private static func instant(_ body: JSON) -> Timestamp? {
        guard let seconds = body["seconds"]?.text.flatMap({ Int64($0) }), let nanoseconds = body["nanoseconds"]?.integer else {
            return nil
        }
        // Before 1970 Realm counts both parts backwards.
        return nanoseconds < 0
            ? Timestamp(seconds: seconds - 1, nanoseconds: Int32(nanoseconds + 1_000_000_000))
            : Timestamp(seconds: seconds, nanoseconds: Int32(nanoseconds))
    }

    private static func binary(_ body: JSON) -> Mixed? {
        guard let data = body["base64"]?.text.flatMap({ Data(base64Encoded: $0) }) else { return nil }
        guard body["subType"]?.text == "04" else { return .data(data) }
        guard data.count == 16 else { return nil }
        let hex = data.map { String(format: "%02x", $0) }.joined()
        let parts = [0..<8, 8..<12, 12..<16, 16..<20, 20..<32].map { range in
            String(hex.dropFirst(range.lowerBound).prefix(range.count))
        }
        return UUID(uuidString: parts.joined(separator: "-")).map(Mixed.uuid)
    }

    var json: JSON {
        switch self {
        case .null: .null
        case .bool(let value): .bool(value)
        case .int(let value): .number(String(value))
        case .float(let value): .object(["$numberFloat": .string(Self.text(value))])
        case .double(let value): .object(["$numberDouble": .string(Self.text(value))])
        case .decimal(let value): .object(["$numberDecimal": .string(value.text)])
        case .string(let value): .string(value)
        case .data(let value): .object(["$binary": .object(["base64": .string(value.base64EncodedString()), "subType": "00"])])
        case .timestamp(let value): value.json
        case .objectId(let value): .object(["$oid": .string(value.hex)])
        case .uuid(let value): .object(["$uuid": .string(value.uuidString.lowercased())])
        case .link(let value): value.json
        case .list(let values): .array(values.map(\.json))
        case .dictionary(let values): .object(values.mapValues(\.json))
        }
    }

    private static func text(_ value: some BinaryFloatingPoint & LosslessStringConvertible) -> String {
        value.isNaN ? "NaN" : value.isInfinite ? (value > 0 ? "Infinity" : "-Infinity") : String(value)
    }
}

extension Int64 {
    /// Quotient and remainder, the remainder never negative.
    func flooredDivision(by divisor: Int64) -> (Int64, Int64) {
        let (quotient, rest) = quotientAndRemainder(dividingBy: divisor)
        return rest < 0 ? (quotient - 1, rest + divisor) : (quotient, rest)
    }
}
