// SPDX-License-Identifier: Apache-2.0

package import RealmStorage

/// Object keys as text: what stands in URLs (there percent-encoded), in `$meta` and in link stubs.
///
/// | key | text |
/// |---|---|
/// | int | decimal digits |
/// | string | itself; one that starts with `@` has it doubled, the empty one is `@empty` |
/// | objectId, uuid | lower-case hex, canonical |
/// | null | `@null` |
/// | no primary key | `@k` and the object key; also accepted for any class |
///
/// `@b64.` and base64url of the bytes is accepted for every string, and written for those that are not UTF-8.
package enum KeyText {
    /// Appends the text of a primary key value, without quotes; for strings in JSON use `write(_:_:to:)`.
    static func text(_ value: Value, objectKey: ObjectKey) -> String {
        switch value {
        case .null: return "@null"
        case .int(let number): return String(number)
        case .string(let bytes): return text(bytes)
        case .objectID(let id): return id.description
        case .uuid(let id): return id.description
        default: return text(objectKey)
        }
    }

    static func text(_ objectKey: ObjectKey) -> String { "@k\(objectKey.rawValue)" }

    private static func text(_ bytes: ByteView) -> String {
        if bytes.isEmpty { return "@empty" }
        guard let text = bytes.validatedString else { return "@b64." + Base64.encode(bytes.array, .url) }
        return text.hasPrefix("@") ? "@" + text : text
    }

    /// Writes the key of an object as a JSON string.
    static func write(_ value: Value?, _ objectKey: ObjectKey, to writer: inout JSONWriter) {
        switch value {
        case .int(let number):
            writer.value { buffer in
                buffer.append(UInt8(ascii: "\""))
                buffer.append(decimal: number)
                buffer.append(UInt8(ascii: "\""))
            }
        case .string(let bytes) where !bytes.isEmpty && bytes[0] != UInt8(ascii: "@"):
            if !writer.string(bytes) { writer.string(text(bytes)) }
        case .objectID(let id):
            writer.value { buffer in
                buffer.append(UInt8(ascii: "\""))
                buffer.append(id)
                buffer.append(UInt8(ascii: "\""))
            }
        case .some(let value): writer.string(text(value, objectKey: objectKey))
        case nil: writer.string(text(objectKey))
        }
    }

    /// The key of an object of `table`.
    package static func text(of row: Row, in table: Table) throws(StorageError) -> String {
        guard let primaryKey = table.primaryKey else { return text(row.key) }
        return text(try row.value(primaryKey), objectKey: row.key)
    }

    // MARK: - Reading

    /// What a key text names.
    package enum Target: Sendable {
        case objectKey(ObjectKey)
        /// The value borrows from `storage` where it is a string.
        case primaryKey(Value, storage: ByteStorage?)
    }

    /// What `text` (after percent-decoding) names in a class with such a primary key; nil when it cannot name anything.
    package static func parse(_ text: String, primaryKey: Column?) -> Target? {
        if text.hasPrefix("@k"), let key = Int64(text.dropFirst(2)), key >= 0, text == "@k\(key)" {
            return .objectKey(ObjectKey(key))
        }
        guard let primaryKey else { return nil }
        if text == "@null" { return primaryKey.isNullable ? .primaryKey(.null, storage: nil) : nil }
        switch primaryKey.type {
        case .int:
            guard let number = Int64(text), text == String(number) else { return nil }
            return .primaryKey(.int(number), storage: nil)
        case .objectID: return ObjectID(text).map { .primaryKey(.objectID($0), storage: nil) }
        case .uuid: return UUIDValue(text).map { .primaryKey(.uuid($0), storage: nil) }
        case .string:
            guard let bytes = stringBytes(text) else { return nil }
            let storage = ByteStorage(bytes)
            return .primaryKey(.string(storage.view), storage: storage)
        default: return nil
        }
    }

    private static func stringBytes(_ text: String) -> [UInt8]? {
        guard text.hasPrefix("@") else { return text.isEmpty ? nil : Array(text.utf8) }
        if text == "@empty" { return [] }
        if text.hasPrefix("@@") { return Array(text.utf8.dropFirst()) }
        if text.hasPrefix("@b64.") { return Base64.decode(text.dropFirst(5), .url) }
        return nil
    }

    /// The object that `text` names, or nil.
    package static func find(_ text: String, in table: Table) throws(StorageError) -> Row? {
        switch parse(text, primaryKey: table.primaryKey) {
        case nil: return nil
        case .objectKey(let key): return try table.find(key)
        case .primaryKey(let value, let storage):
            defer { withExtendedLifetime(storage) {} }
            return try table.findByPrimaryKey(value)
        }
    }
}
