import Foundation

/// Reads values by their Swift types: the declared type says what the JSON means, as in the server's interface.
struct ValueDecoder: Decoder {
    let json: JSON
    let codingPath: [any CodingKey]
    var userInfo: [CodingUserInfoKey: Any] { [:] }

    static func decode<Value: Decodable>(_ type: Value.Type, from json: JSON, at path: [any CodingKey] = []) throws -> Value {
        if let special = try special(type, json, path) { return special }
        return try Value(from: ValueDecoder(json: json, codingPath: path))
    }

    /// Types whose own way of decoding does not fit.
    private static func special<Value>(_ type: Value.Type, _ json: JSON, _ path: [any CodingKey]) throws -> Value? {
        switch type {
        case is JSON.Type: return json as? Value
        case is Data.Type:
            guard let data = Mixed(json)?.data ?? json.text.flatMap({ Data(base64Encoded: $0) }) else {
                throw mismatch(type, json, path)
            }
            return data as? Value
        case is Date.Type:
            return try decode(Timestamp.self, from: json, at: path).date as? Value
        case is Decimal.Type:
            let text = try decode(Decimal128.self, from: json, at: path).text
            guard let decimal = Decimal(string: text) else { throw mismatch(type, json, path) }
            return decimal as? Value
        case is UUID.Type:
            guard let value = json.text.flatMap(UUID.init(uuidString:)) ?? Mixed(json)?.uuid else {
                throw mismatch(type, json, path)
            }
            return value as? Value
        default: return nil
        }
    }

    static func mismatch(_ type: Any.Type, _ json: JSON, _ path: [any CodingKey]) -> DecodingError {
        .typeMismatch(type, .init(codingPath: path, debugDescription: "not a value of type \(type)"))
    }

    func container<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
        guard case .object(let members) = json else { throw Self.mismatch([String: JSON].self, json, codingPath) }
        return KeyedDecodingContainer(Members(members: members, codingPath: codingPath))
    }

    func unkeyedContainer() throws -> any UnkeyedDecodingContainer {
        guard case .array(let elements) = json else { throw Self.mismatch([JSON].self, json, codingPath) }
        return Elements(elements: elements, codingPath: codingPath)
    }

    func singleValueContainer() throws -> any SingleValueDecodingContainer { Single(json: json, codingPath: codingPath) }
}

private struct Single: SingleValueDecodingContainer {
    let json: JSON
    let codingPath: [any CodingKey]

    func decodeNil() -> Bool { json.isNull }

    func decode(_ type: Bool.Type) throws -> Bool {
        guard case .bool(let value) = json else { throw ValueDecoder.mismatch(type, json, codingPath) }
        return value
    }

    func decode(_ type: String.Type) throws -> String {
        guard case .string(let value) = json else { throw ValueDecoder.mismatch(type, json, codingPath) }
        return value
    }

    func decode(_ type: Double.Type) throws -> Double { try floating(type) }
    func decode(_ type: Float.Type) throws -> Float { try floating(type) }
    func decode(_ type: Int.Type) throws -> Int { try integer(type) }
    func decode(_ type: Int8.Type) throws -> Int8 { try integer(type) }
    func decode(_ type: Int16.Type) throws -> Int16 { try integer(type) }
    func decode(_ type: Int32.Type) throws -> Int32 { try integer(type) }
    func decode(_ type: Int64.Type) throws -> Int64 { try integer(type) }
    func decode(_ type: UInt.Type) throws -> UInt { try integer(type) }
    func decode(_ type: UInt8.Type) throws -> UInt8 { try integer(type) }
    func decode(_ type: UInt16.Type) throws -> UInt16 { try integer(type) }
    func decode(_ type: UInt32.Type) throws -> UInt32 { try integer(type) }
    func decode(_ type: UInt64.Type) throws -> UInt64 { try integer(type) }

    func decode<Value: Decodable>(_ type: Value.Type) throws -> Value {
        try ValueDecoder.decode(type, from: json, at: codingPath)
    }

    private func integer<Value: FixedWidthInteger>(_ type: Value.Type) throws -> Value {
        if case .number(let text) = json, let value = Value(text) { return value }
        // Wrapped, or as text where all integers were asked for as texts.
        if let text = json.text ?? json["$numberLong"]?.text, let value = Value(text) { return value }
        throw ValueDecoder.mismatch(type, json, codingPath)
    }

    private func floating<Value: BinaryFloatingPoint & LosslessStringConvertible>(_ type: Value.Type) throws -> Value {
        switch json["$numberDouble"] ?? json["$numberFloat"] ?? json {
        case .number(let text): if let value = Value(text) { return value }
        case .string("NaN"): return .nan
        case .string("Infinity"): return .infinity
        case .string("-Infinity"): return -.infinity
        case .string(let text) where json.text == nil: if let value = Value(text) { return value }
        default: break
        }
        throw ValueDecoder.mismatch(type, json, codingPath)
    }
}

private struct Members<Key: CodingKey>: KeyedDecodingContainerProtocol {
    let members: [String: JSON]
    let codingPath: [any CodingKey]

    var allKeys: [Key] { members.keys.compactMap(Key.init(stringValue:)) }

    func contains(_ key: Key) -> Bool { members[key.stringValue] != nil }

    private func single(_ key: Key) throws -> Single { Single(json: try member(key), codingPath: codingPath + [key]) }

    private func member(_ key: any CodingKey) throws -> JSON {
        guard let member = members[key.stringValue] else {
            throw DecodingError.keyNotFound(
                key, .init(codingPath: codingPath, debugDescription: "there is no member '\(key.stringValue)'"))
        }
        return member
    }

    func decodeNil(forKey key: Key) throws -> Bool { try member(key).isNull }
    func decode(_ type: Bool.Type, forKey key: Key) throws -> Bool { try single(key).decode(type) }
    func decode(_ type: String.Type, forKey key: Key) throws -> String { try single(key).decode(type) }
    func decode(_ type: Double.Type, forKey key: Key) throws -> Double { try single(key).decode(type) }
    func decode(_ type: Float.Type, forKey key: Key) throws -> Float { try single(key).decode(type) }
    func decode(_ type: Int.Type, forKey key: Key) throws -> Int { try single(key).decode(type) }
    func decode(_ type: Int8.Type, forKey key: Key) throws -> Int8 { try single(key).decode(type) }
    func decode(_ type: Int16.Type, forKey key: Key) throws -> Int16 { try single(key).decode(type) }
    func decode(_ type: Int32.Type, forKey key: Key) throws -> Int32 { try single(key).decode(type) }
    func decode(_ type: Int64.Type, forKey key: Key) throws -> Int64 { try single(key).decode(type) }
    func decode(_ type: UInt.Type, forKey key: Key) throws -> UInt { try single(key).decode(type) }
    func decode(_ type: UInt8.Type, forKey key: Key) throws -> UInt8 { try single(key).decode(type) }
    func decode(_ type: UInt16.Type, forKey key: Key) throws -> UInt16 { try single(key).decode(type) }
    func decode(_ type: UInt32.Type, forKey key: Key) throws -> UInt32 { try single(key).decode(type) }
    func decode(_ type: UInt64.Type, forKey key: Key) throws -> UInt64 { try single(key).decode(type) }

    func decode<Value: Decodable>(_ type: Value.Type, forKey key: Key) throws -> Value {
        try ValueDecoder.decode(type, from: member(key), at: codingPath + [key])
    }

    func nestedContainer<Nested: CodingKey>(keyedBy type: Nested.Type, forKey key: Key) throws -> KeyedDecodingContainer<Nested> {
        try decoder(key).container(keyedBy: type)
    }

    func nestedUnkeyedContainer(forKey key: Key) throws -> any UnkeyedDecodingContainer { try decoder(key).unkeyedContainer() }

    func superDecoder() throws -> any Decoder { ValueDecoder(json: .object(members), codingPath: codingPath) }
    func superDecoder(forKey key: Key) throws -> any Decoder { try decoder(key) }

    private func decoder(_ key: Key) throws -> ValueDecoder {
        ValueDecoder(json: try member(key), codingPath: codingPath + [key])
    }
}

private struct Elements: UnkeyedDecodingContainer {
    let elements: [JSON]
    let codingPath: [any CodingKey]
    var currentIndex = 0

    init(elements: [JSON], codingPath: [any CodingKey]) {
        self.elements = elements
        self.codingPath = codingPath
    }

    var count: Int? { elements.count }
    var isAtEnd: Bool { currentIndex >= elements.count }

    private mutating func next() throws -> JSON {
        guard !isAtEnd else {
            throw DecodingError.valueNotFound(JSON.self, .init(codingPath: codingPath, debugDescription: "no more elements"))
        }
        defer { currentIndex += 1 }
        return elements[currentIndex]
    }

    mutating func decodeNil() throws -> Bool {
        guard !isAtEnd, elements[currentIndex].isNull else { return false }
        currentIndex += 1
        return true
    }

    mutating func decode<Value: Decodable>(_ type: Value.Type) throws -> Value {
        try ValueDecoder.decode(type, from: next(), at: codingPath)
    }

    mutating func nestedContainer<Nested: CodingKey>(keyedBy type: Nested.Type) throws -> KeyedDecodingContainer<Nested> {
        try ValueDecoder(json: next(), codingPath: codingPath).container(keyedBy: type)
    }

    mutating func nestedUnkeyedContainer() throws -> any UnkeyedDecodingContainer {
        try ValueDecoder(json: next(), codingPath: codingPath).unkeyedContainer()
    }

    mutating func superDecoder() throws -> any Decoder { ValueDecoder(json: try next(), codingPath: codingPath) }
}
