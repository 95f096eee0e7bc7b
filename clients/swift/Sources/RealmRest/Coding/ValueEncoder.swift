import Foundation

/// Writes values in the forms that every place of the server's interface accepts.
enum ValueEncoder {
    static func encode(_ value: some Encodable) throws -> JSON {
        switch value {
        case let value as JSON: return value
        case let value as Data:
            return .object(["$binary": .object(["base64": .string(value.base64EncodedString()), "subType": "00"])])
        case let value as UUID: return .object(["$uuid": .string(value.uuidString.lowercased())])
        case let value as Date: return Timestamp(value).json
        case let value as Decimal: return .object(["$numberDecimal": .string("\(value)")])
        default:
            let target = Target()
            try value.encode(to: ValueWriter(target: target, codingPath: []))
            return target.json
        }
    }

    static func number(_ value: some BinaryFloatingPoint & LosslessStringConvertible) -> JSON {
        if value.isFinite { return .number(String(value)) }
        return .object(["$numberDouble": .string(value.isNaN ? "NaN" : value > 0 ? "Infinity" : "-Infinity")])
    }
}

/// What a container writes into; containers outlive the calls that make them.
private final class Target {
    private var whole: JSON = .null
    private var members: [String: Target]?
    private var elements: [Target]?

    var json: JSON {
        if let members { return .object(members.mapValues(\.json)) }
        if let elements { return .array(elements.map(\.json)) }
        return whole
    }

    var count: Int { elements?.count ?? 0 }

    func set(_ json: JSON) { whole = json }
    func beginObject() { members = members ?? [:] }
    func beginArray() { elements = elements ?? [] }

    func member(_ name: String) -> Target {
        let target = Target()
        members?[name] = target
        return target
    }

    func element() -> Target {
        let target = Target()
        elements?.append(target)
        return target
    }
}

private struct ValueWriter: Encoder {
    let target: Target
    let codingPath: [any CodingKey]
    var userInfo: [CodingUserInfoKey: Any] { [:] }

    func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
        target.beginObject()
        return KeyedEncodingContainer(MemberWriter(target: target, codingPath: codingPath))
    }

    func unkeyedContainer() -> any UnkeyedEncodingContainer {
        target.beginArray()
        return ElementWriter(target: target, codingPath: codingPath)
    }

    func singleValueContainer() -> any SingleValueEncodingContainer { SingleWriter(target: target, codingPath: codingPath) }
}

private struct SingleWriter: SingleValueEncodingContainer {
    let target: Target
    let codingPath: [any CodingKey]

    func encodeNil() { target.set(.null) }
    func encode(_ value: Bool) { target.set(.bool(value)) }
    func encode(_ value: String) { target.set(.string(value)) }
    func encode(_ value: Double) { target.set(ValueEncoder.number(value)) }
    func encode(_ value: Float) { target.set(ValueEncoder.number(value)) }
    func encode(_ value: Int) { target.set(.number(String(value))) }
    func encode(_ value: Int8) { target.set(.number(String(value))) }
    func encode(_ value: Int16) { target.set(.number(String(value))) }
    func encode(_ value: Int32) { target.set(.number(String(value))) }
    func encode(_ value: Int64) { target.set(.number(String(value))) }
    func encode(_ value: UInt) { target.set(.number(String(value))) }
    func encode(_ value: UInt8) { target.set(.number(String(value))) }
    func encode(_ value: UInt16) { target.set(.number(String(value))) }
    func encode(_ value: UInt32) { target.set(.number(String(value))) }
    func encode(_ value: UInt64) { target.set(.number(String(value))) }
    func encode(_ value: some Encodable) throws { target.set(try ValueEncoder.encode(value)) }
}

private struct MemberWriter<Key: CodingKey>: KeyedEncodingContainerProtocol {
    let target: Target
    let codingPath: [any CodingKey]

    func encodeNil(forKey key: Key) { target.member(key.stringValue).set(.null) }

    func encode(_ value: some Encodable, forKey key: Key) throws {
        target.member(key.stringValue).set(try ValueEncoder.encode(value))
    }

    // Null is a value of a realm, and leaving a member out is not the same in every request. Each type has a requirement
    // of its own, whose default leaves the member out.
    func encodeIfPresent(_ value: (some Encodable)?, forKey key: Key) throws { try optional(value, key) }
    func encodeIfPresent(_ value: Bool?, forKey key: Key) throws { try optional(value, key) }
    func encodeIfPresent(_ value: String?, forKey key: Key) throws { try optional(value, key) }
    func encodeIfPresent(_ value: Double?, forKey key: Key) throws { try optional(value, key) }
    func encodeIfPresent(_ value: Float?, forKey key: Key) throws { try optional(value, key) }
    func encodeIfPresent(_ value: Int?, forKey key: Key) throws { try optional(value, key) }
    func encodeIfPresent(_ value: Int8?, forKey key: Key) throws { try optional(value, key) }
    func encodeIfPresent(_ value: Int16?, forKey key: Key) throws { try optional(value, key) }
    func encodeIfPresent(_ value: Int32?, forKey key: Key) throws { try optional(value, key) }
    func encodeIfPresent(_ value: Int64?, forKey key: Key) throws { try optional(value, key) }
    func encodeIfPresent(_ value: UInt?, forKey key: Key) throws { try optional(value, key) }
    func encodeIfPresent(_ value: UInt8?, forKey key: Key) throws { try optional(value, key) }
    func encodeIfPresent(_ value: UInt16?, forKey key: Key) throws { try optional(value, key) }
    func encodeIfPresent(_ value: UInt32?, forKey key: Key) throws { try optional(value, key) }
    func encodeIfPresent(_ value: UInt64?, forKey key: Key) throws { try optional(value, key) }

    private func optional(_ value: (some Encodable)?, _ key: Key) throws {
        if let value { try encode(value, forKey: key) } else { encodeNil(forKey: key) }
    }

    func nestedContainer<Nested: CodingKey>(keyedBy type: Nested.Type, forKey key: Key) -> KeyedEncodingContainer<Nested> {
        writer(key).container(keyedBy: type)
    }

    func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedEncodingContainer { writer(key).unkeyedContainer() }
    func superEncoder() -> any Encoder { ValueWriter(target: target, codingPath: codingPath) }
    func superEncoder(forKey key: Key) -> any Encoder { writer(key) }

    private func writer(_ key: Key) -> ValueWriter {
        ValueWriter(target: target.member(key.stringValue), codingPath: codingPath + [key])
    }
}

private struct ElementWriter: UnkeyedEncodingContainer {
    let target: Target
    let codingPath: [any CodingKey]

    var count: Int { target.count }
    func encodeNil() { target.element().set(.null) }
    func encode(_ value: some Encodable) throws { target.element().set(try ValueEncoder.encode(value)) }

    func nestedContainer<Nested: CodingKey>(keyedBy type: Nested.Type) -> KeyedEncodingContainer<Nested> {
        ValueWriter(target: target.element(), codingPath: codingPath).container(keyedBy: type)
    }

    func nestedUnkeyedContainer() -> any UnkeyedEncodingContainer {
        ValueWriter(target: target.element(), codingPath: codingPath).unkeyedContainer()
    }

    func superEncoder() -> any Encoder { ValueWriter(target: target.element(), codingPath: codingPath) }
}
