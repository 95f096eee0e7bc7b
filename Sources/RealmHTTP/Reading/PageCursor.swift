// SPDX-License-Identifier: Apache-2.0

package import RealmStorage

/// Where a page ended: the sort values and the object key of its last row.
///
/// It pins nothing and survives commits: the next page begins with the first row that sorts after it. The text carries
/// the identity of the query it belongs to and a checksum, so that one from elsewhere is refused.
package struct PageCursor: Sendable {
    package let values: [StoredValue]
    package let key: ObjectKey

    package init(values: [StoredValue], key: ObjectKey) {
        self.values = values
        self.key = key
    }

    private static let formatVersion: UInt8 = 1

    /// The opaque text for a query whose identity is `identity`.
    package func text(identity: UInt64) -> String {
        var bytes: [UInt8] = [PageCursor.formatVersion]
        bytes.append(word: UInt64(bitPattern: key.rawValue))
        bytes.append(UInt8(clamping: values.count))
        for value in values { value.append(to: &bytes) }
        bytes.append(word: PageCursor.checksum(bytes, identity))
        return "b64." + Base64.encodeURL(bytes)
    }

    /// Reads a text; `cursor_invalid` when it is damaged or belongs to another query.
    package init(_ text: String, identity: UInt64) throws(Problem) {
        guard text.hasPrefix("b64."), let bytes = Base64.decodeURL(text.dropFirst(4)), bytes.count >= 18,
            bytes[0] == PageCursor.formatVersion
        else { throw PageCursor.invalid }
        let body = bytes.dropLast(8)
        var tail = ByteReader(bytes.suffix(8))
        guard tail.word() == PageCursor.checksum(Array(body), identity) else { throw PageCursor.invalid }
        var reader = ByteReader(body.dropFirst())
        guard let key = reader.word(), let count = reader.byte() else { throw PageCursor.invalid }
        var values: [StoredValue] = []
        for _ in 0..<count {
            guard let value = StoredValue(&reader) else { throw PageCursor.invalid }
            values.append(value)
        }
        guard reader.isAtEnd else { throw PageCursor.invalid }
        self.init(values: values, key: ObjectKey(Int64(bitPattern: key)))
    }

    private static func checksum(_ bytes: [UInt8], _ identity: UInt64) -> UInt64 {
        var hash = StableHash(seed: identity)
        hash.add(bytes)
        return hash.value
    }

    private static let invalid = Problem(
        .cursorInvalid, "the cursor is damaged, or belongs to another query or sort").with("parameter", "after")
}

/// A single value that owns its bytes.
package enum StoredValue: Sendable, Equatable {
    case null
    case int(Int64)
    case bool(Bool)
    case float(UInt32)
    case double(UInt64)
    case string([UInt8])
    case binary([UInt8])
    case timestamp(Timestamp)
    case decimal(Decimal128)
    case objectID(ObjectID)
    case uuid(UUIDValue)
    case link(TableKey, ObjectKey)

    /// A copy of `value`; collections cannot be sorted by and become null.
    package init(_ value: Value) {
        switch value {
        case .null, .list, .dictionary: self = .null
        case .int(let number): self = .int(number)
        case .bool(let flag): self = .bool(flag)
        case .float(let number): self = .float(number.bitPattern)
        case .double(let number): self = .double(number.bitPattern)
        case .string(let view): self = .string(view.array)
        case .binary(let view): self = .binary(view.array)
        case .timestamp(let date): self = .timestamp(date)
        case .decimal(let number): self = .decimal(number)
        case .objectID(let id): self = .objectID(id)
        case .uuid(let id): self = .uuid(id)
        case .link(let table, let key): self = .link(table, key)
        }
    }

    /// The value; strings and binaries borrow from storage that is added to `owners`.
    package func value(_ owners: inout [ByteStorage]) -> Value {
        switch self {
        case .null: return .null
        case .int(let number): return .int(number)
        case .bool(let flag): return .bool(flag)
        case .float(let bits): return .float(Float(bitPattern: bits))
        case .double(let bits): return .double(Double(bitPattern: bits))
        case .string(let bytes): return .string(StoredValue.keep(bytes, &owners))
        case .binary(let bytes): return .binary(StoredValue.keep(bytes, &owners))
        case .timestamp(let date): return .timestamp(date)
        case .decimal(let number): return .decimal(number)
        case .objectID(let id): return .objectID(id)
        case .uuid(let id): return .uuid(id)
        case .link(let table, let key): return .link(table, key)
        }
    }

    private static func keep(_ bytes: [UInt8], _ owners: inout [ByteStorage]) -> ByteView {
        let storage = ByteStorage(bytes)
        owners.append(storage)
        return storage.view
    }
}

// MARK: - Bytes

extension StoredValue {
    fileprivate func append(to bytes: inout [UInt8]) {
        switch self {
        case .null: bytes.append(0)
        case .int(let number): bytes.append(tag: 1, UInt64(bitPattern: number))
        case .bool(let flag): bytes.append(flag ? 3 : 2)
        case .float(let bits): bytes.append(tag: 4, UInt64(bits))
        case .double(let bits): bytes.append(tag: 5, bits)
        case .string(let text): bytes.append(tag: 6, text)
        case .binary(let data): bytes.append(tag: 7, data)
        case .timestamp(let date):
            bytes.append(tag: 8, UInt64(bitPattern: date.seconds))
            bytes.append(word: UInt64(bitPattern: Int64(date.nanoseconds)))
        case .decimal(let number):
            bytes.append(tag: 9, number.low)
            bytes.append(word: number.high)
        case .objectID(let id):
            bytes.append(tag: 10, id.first)
            bytes.append(word: UInt64(id.last))
        case .uuid(let id):
            bytes.append(tag: 11, id.first)
            bytes.append(word: id.last)
        case .link(let table, let key):
            bytes.append(tag: 12, UInt64(table.rawValue))
            bytes.append(word: UInt64(bitPattern: key.rawValue))
        }
    }

    fileprivate init?(_ reader: inout ByteReader) {
        guard let tag = reader.byte() else { return nil }
        switch tag {
        case 0: self = .null
        case 2, 3: self = .bool(tag == 3)
        case 6, 7:
            guard let bytes = reader.bytes() else { return nil }
            self = tag == 6 ? .string(bytes) : .binary(bytes)
        case 1, 4, 5:
            guard let word = reader.word() else { return nil }
            self = tag == 1 ? .int(Int64(bitPattern: word)) : tag == 5 ? .double(word) : .float(UInt32(truncatingIfNeeded: word))
        case 8...12:
            guard let first = reader.word(), let second = reader.word() else { return nil }
            self = StoredValue(pair: tag, first, second)
        default: return nil
        }
    }

    private init(pair tag: UInt8, _ first: UInt64, _ second: UInt64) {
        switch tag {
        case 8:
            self = .timestamp(
                Timestamp(seconds: Int64(bitPattern: first), nanoseconds: Int32(truncatingIfNeeded: Int64(bitPattern: second))))
        case 9: self = .decimal(Decimal128(low: first, high: second))
        case 10: self = .objectID(ObjectID(first: first, last: UInt32(truncatingIfNeeded: second)))
        case 11: self = .uuid(UUIDValue(first: first, last: second))
        default: self = .link(TableKey(UInt32(truncatingIfNeeded: first)), ObjectKey(Int64(bitPattern: second)))
        }
    }
}

extension [UInt8] {
    fileprivate mutating func append(word: UInt64) {
        for step in 0..<8 { append(UInt8(truncatingIfNeeded: word >> UInt64(step * 8))) }
    }

    fileprivate mutating func append(tag: UInt8, _ word: UInt64) {
        append(tag)
        append(word: word)
    }

    fileprivate mutating func append(tag: UInt8, _ bytes: [UInt8]) {
        append(tag)
        append(word: UInt64(bytes.count))
        append(contentsOf: bytes)
    }
}

/// Takes fixed parts off the front of some bytes.
private struct ByteReader {
    private var rest: ArraySlice<UInt8>

    init(_ bytes: ArraySlice<UInt8>) { rest = bytes }

    var isAtEnd: Bool { rest.isEmpty }

    mutating func byte() -> UInt8? { rest.popFirst() }

    mutating func word() -> UInt64? {
        guard rest.count >= 8 else { return nil }
        defer { rest = rest.dropFirst(8) }
        return rest.prefix(8).reversed().reduce(0) { $0 << 8 | UInt64($1) }
    }

    mutating func bytes() -> [UInt8]? {
        guard let count = word(), count <= UInt64(rest.count) else { return nil }
        defer { rest = rest.dropFirst(Int(count)) }
        return Array(rest.prefix(Int(count)))
    }
}
