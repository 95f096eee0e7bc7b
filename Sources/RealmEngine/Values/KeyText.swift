// SPDX-License-Identifier: Apache-2.0

package import RealmStorage

/// Object keys as text, as addresses, links and answers have them.
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
    /// The text of an object with such a primary key value; `objectKey` is used for values that are no primary keys.
    package static func text(_ value: Value, objectKey: ObjectKey) -> String {
        switch value {
        case .null: return "@null"
        case .int(let number): return String(number)
        case .string(let bytes): return text(bytes)
        case .objectID(let id): return id.description
        case .uuid(let id): return id.description
        default: return text(objectKey)
        }
    }

    /// The text of an object without primary key.
    package static func text(_ objectKey: ObjectKey) -> String { "@k\(objectKey.rawValue)" }

    /// The text of a string; not every string is UTF-8.
    private static func text(_ bytes: ByteView) -> String {
        if bytes.isEmpty { return "@empty" }
        guard let text = bytes.validatedString else { return "@b64." + Base64.encode(bytes.array, .url) }
        return text.hasPrefix("@") ? "@" + text : text
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
        case primaryKey(OwnedValue)
    }

    /// What `text` (after percent-decoding) names in a class with such a primary key; nil when it cannot name anything.
    package static func parse(_ text: String, primaryKey: Column?) -> Target? {
        if let key = objectKey(text) { return .objectKey(key) }
        guard let primaryKey else { return nil }
        if text == "@null" { return primaryKey.isNullable ? .primaryKey(OwnedValue(.null)) : nil }
        switch primaryKey.type {
        case .int:
            guard let number = Int64(text), text == String(number) else { return nil }
            return .primaryKey(OwnedValue(.int(number)))
        case .objectID: return ObjectID(text).map { .primaryKey(OwnedValue(.objectID($0))) }
        case .uuid: return UUIDValue(text).map { .primaryKey(OwnedValue(.uuid($0))) }
        case .string: return stringBytes(text).map { .primaryKey(.string($0)) }
        default: return nil
        }
    }

    /// The object key in `@k<number>`; nil for every other text.
    package static func objectKey(_ text: String) -> ObjectKey? {
        guard text.hasPrefix("@k"), let key = Int64(text.dropFirst(2)), key >= 0, text == "@k\(key)" else { return nil }
        return ObjectKey(key)
    }

    /// The bytes of the string that a text stands for; nil for a text with an unknown prefix.
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
        case .primaryKey(let key): return try key.use { value throws(StorageError) in try table.findByPrimaryKey(value) }
        }
    }
}
