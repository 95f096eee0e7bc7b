// SPDX-License-Identifier: Apache-2.0

internal import RealmStorage

/// A stored value with the bytes that it borrows.
struct HeldValue {
    let value: Value
    private let storage: ByteStorage?

    init(_ value: Value) {
        self.value = value
        storage = nil
    }

    private init(_ storage: ByteStorage, _ make: (ByteView) -> Value) {
        self.storage = storage
        value = make(storage.view)
    }

    static func string(_ text: String) -> HeldValue { HeldValue(ByteStorage(text)) { .string($0) } }
    static func string(_ bytes: [UInt8]) -> HeldValue { HeldValue(ByteStorage(bytes)) { .string($0) } }
    static func binary(_ bytes: [UInt8]) -> HeldValue { HeldValue(ByteStorage(bytes)) { .binary($0) } }

    /// A copy with bytes of its own.
    init(copying value: Value) {
        switch value {
        case .string(let bytes): self = .string(bytes.array)
        case .binary(let bytes): self = .binary(bytes.array)
        default: self.init(value)
        }
    }

    /// Whether `value` is good only as long as this is there.
    var borrows: Bool { storage != nil }
    /// The bytes of a string or of data; 0 for everything else.
    var byteCount: Int { storage?.view.count ?? 0 }

    /// Runs `body` with the value while its bytes are kept.
    @inline(__always)
    func use<Result, Failure: Error>(_ body: (Value) throws(Failure) -> Result) throws(Failure) -> Result {
        defer { withExtendedLifetime(storage) {} }
        return try body(value)
    }
}

/// Reads inputs as values of a type: plain forms and those whose type was said.
enum ValueReader {
    /// The value that `input` is in a property, or an element, of `type`. Links and collections are not read here.
    static func read(_ input: InputValue, as type: ColumnType, isNullable: Bool) throws(WriteError) -> HeldValue {
        if case .null = input {
            guard isNullable else { throw WriteError(.nullNotAllowed, "null is not allowed here") }
            return HeldValue(.null)
        }
        guard let value = try value(input, type) else { throw mismatch(input, type) }
        return value
    }

    static func mismatch(_ input: InputValue, _ type: ColumnType) -> WriteError {
        WriteError(.typeMismatch, "\(input.kind) is no value of type \(PropertyType(type).rawValue)")
    }

    /// Nil when the input is of another type, or a text that cannot be read as this one.
    private static func value(_ input: InputValue, _ type: ColumnType) throws(WriteError) -> HeldValue? {
        switch type {
        case .int: return try integer(input).map { HeldValue(.int($0)) }
        case .bool:
            guard case .bool(let flag) = input else { return nil }
            return HeldValue(.bool(flag))
        case .string: return string(input)
        case .binary: return binary(input)
        case .timestamp: return timestamp(input).map { HeldValue(.timestamp($0)) }
        case .float: return try float(input).map { HeldValue(.float($0)) }
        case .double: return try double(input).map { HeldValue(.double($0)) }
        case .decimal: return try decimal(input).map { HeldValue(.decimal($0)) }
        case .objectID: return objectID(input).map { HeldValue(.objectID($0)) }
        case .uuid: return uuid(input).map { HeldValue(.uuid($0)) }
        case .mixed: return try mixed(input)
        case .link, .backlink: return nil
        }
    }

    // MARK: - Numbers

    static func integer(_ input: InputValue) throws(WriteError) -> Int64? {
        switch input {
        case .integer(let number), .typed(.int(let number)): return number
        case .wideInteger: throw outOfRange("the number is beyond 64 bits")
        case .text(let text):
            guard let first = text.utf8.first, first == UInt8(ascii: "-") || isDigit(first),
                text.utf8.dropFirst().allSatisfy(isDigit), text != "-"
            else { return nil }
            guard let number = Int64(text) else { throw outOfRange("the number is beyond 64 bits") }
            return number
        default: return nil
        }
    }

    private static func isDigit(_ byte: UInt8) -> Bool { byte &- UInt8(ascii: "0") < 10 }

    private static func double(_ input: InputValue) throws(WriteError) -> Double? {
        switch input {
        case .integer(let number): return Double(number)
        case .real(let number), .typed(.double(let number)): return number
        case .typed(.float(let number)): return Double(number)
        case .wideInteger(let text):
            guard let number = Double(text), number.isFinite else { throw outOfRange("no double is that large") }
            return number
        case .wideReal: throw outOfRange("no double is that large")
        case .text(let text): return special(text)
        default: return nil
        }
    }

    private static func special(_ text: String) -> Double? {
        switch text {
        case "NaN": return .nan
        case "Infinity": return .infinity
        case "-Infinity": return -.infinity
        default: return nil
        }
    }

    private static func float(_ input: InputValue) throws(WriteError) -> Float? {
        if case .typed(.float(let number)) = input { return number }
        guard let number = try double(input) else { return nil }
        let narrow = Float(number)
        guard narrow.isFinite || !number.isFinite else { throw outOfRange("no float is that large") }
        return narrow
    }

    private static func decimal(_ input: InputValue) throws(WriteError) -> Decimal128? {
        switch input {
        case .typed(.decimal(let number)): return number
        case .integer(let number): return Decimal128(number)
        case .wideInteger(let text), .text(let text):
            guard isDecimalText(text), let parsed = Decimal128.parse(text) else { return nil }
            guard parsed.isExact else { throw outOfRange("a decimal has at most 34 digits and exponents from -6176 to 6111") }
            return parsed.value
        case .real, .wideReal:
            throw WriteError(.decimalNeedsString, "a decimal with fraction or exponent is given as a text")
        default: return nil
        }
    }

    /// Only what is written out is read, not every spelling that the query language knows.
    private static func isDecimalText(_ text: String) -> Bool {
        guard let first = text.utf8.first else { return false }
        if ["NaN", "Infinity", "-Infinity"].contains(text) { return true }
        let digits = first == UInt8(ascii: "-") || first == UInt8(ascii: "+") ? text.utf8.dropFirst() : text.utf8[...]
        return digits.contains(where: isDigit) && digits.allSatisfy { byte in
            isDigit(byte) || [UInt8(ascii: "."), UInt8(ascii: "e"), UInt8(ascii: "E"), UInt8(ascii: "+"), UInt8(ascii: "-")]
                .contains(byte)
        }
    }

    private static func outOfRange(_ detail: String) -> WriteError { WriteError(.outOfRange, detail) }

    // MARK: - Texts

    private static func string(_ input: InputValue) -> HeldValue? {
        switch input {
        case .text(let text): return .string(text)
        case .typed(.stringBytes(let bytes)): return .string(bytes)
        default: return nil
        }
    }

    private static func binary(_ input: InputValue) -> HeldValue? {
        switch input {
        case .typed(.binary(let bytes)): return .binary(bytes)
        case .text(let text):
            let storage = ByteStorage(text)
            return withExtendedLifetime(storage) { Base64.decode(storage.view).map { .binary($0) } }
        default: return nil
        }
    }

    private static func timestamp(_ input: InputValue) -> Timestamp? {
        switch input {
        case .typed(.timestamp(let date)): return date
        case .text(let text): return Timestamp(rfc3339: text)
        default: return nil
        }
    }

    private static func objectID(_ input: InputValue) -> ObjectID? {
        switch input {
        case .typed(.objectID(let id)): return id
        case .text(let text): return ObjectID(text)
        default: return nil
        }
    }

    private static func uuid(_ input: InputValue) -> UUIDValue? {
        switch input {
        case .typed(.uuid(let id)): return id
        case .text(let text): return UUIDValue(text)
        default: return nil
        }
    }

    // MARK: - Mixed

    private static func mixed(_ input: InputValue) throws(WriteError) -> HeldValue? {
        switch input {
        case .bool(let flag): return HeldValue(.bool(flag))
        case .integer(let number): return HeldValue(.int(number))
        case .real(let number): return HeldValue(.double(number))
        case .text(let text): return .string(text)
        case .typed(let typed): return held(typed)
        case .wideInteger: throw outOfRange("the number is beyond 64 bits; say its type, for example decimal128")
        case .wideReal: throw outOfRange("no double is that large")
        case .null, .link, .list, .object, .expression: return nil
        }
    }

    private static func held(_ typed: TypedInput) -> HeldValue {
        switch typed {
        case .int(let number): return HeldValue(.int(number))
        case .float(let number): return HeldValue(.float(number))
        case .double(let number): return HeldValue(.double(number))
        case .decimal(let number): return HeldValue(.decimal(number))
        case .timestamp(let date): return HeldValue(.timestamp(date))
        case .objectID(let id): return HeldValue(.objectID(id))
        case .uuid(let id): return HeldValue(.uuid(id))
        case .binary(let bytes): return .binary(bytes)
        case .stringBytes(let bytes): return .string(bytes)
        }
    }
}
