// SPDX-License-Identifier: Apache-2.0

package import RealmPlatform
package import RealmStorage

/// Object keys as text, in the form that URLs, links and responses use.
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
    /// Returns the text for the primary key value of an object.
    ///
    /// - Parameters:
    ///   - value: The value of the primary key.
    ///   - objectKey: The key of the object, which is used for values whose type cannot be a primary key.
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

    /// Returns the text for an object of a class without a primary key: `@k` and the object key.
    package static func text(_ objectKey: ObjectKey) -> String { "@k\(objectKey.rawValue)" }

    /// Returns the text for a string key. Strings that are not UTF-8 are written in base64url.
    private static func text(_ bytes: ByteView) -> String {
        if bytes.isEmpty { return "@empty" }
        guard let text = bytes.validatedString else { return "@b64." + Base64.encode(bytes.array, .url) }
        return text.hasPrefix("@") ? "@" + text : text
    }

    /// Returns the key text of an object.
    ///
    /// - Parameters:
    ///   - table: The table that contains it.
    /// - Throws: `StorageError` when the primary key cannot be read from the file.
    package static func text(of row: Row, in table: Table) throws(StorageError) -> String {
        guard let primaryKey = table.primaryKey else { return text(row.key) }
        return text(try row.value(primaryKey), objectKey: row.key)
    }

    // MARK: - Reading

    /// The object that a key text refers to, by its internal key or by its primary key. Whether it exists is not checked.
    package enum Target: Sendable {
        /// The internal key of an object, as in the text `@k12`.
        case objectKey(ObjectKey)
        /// The value of the primary key that an object must have.
        case primaryKey(OwnedValue)
    }

    /// Parses a key text for a class.
    ///
    /// - Parameters:
    ///   - text: The text after percent-decoding.
    ///   - primaryKey: The column of the primary key; nil when the class has none.
    /// - Returns: The target; nil when the text cannot refer to an object of such a class.
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

    /// Returns the end of an error text about a key that no object has: what the keys of the class are, when the text cannot be one;
    /// otherwise nothing.
    ///
    /// - Parameters:
    ///   - text: The text after percent-decoding.
    ///   - primaryKey: The column of the primary key; nil when the class has none.
    package static func hint(for text: String, primaryKey: Column?, of className: String) -> String {
        guard parse(text, primaryKey: primaryKey) == nil else { return "" }
        let form: String
        switch primaryKey?.type {
        case .int?: form = "integers"
        case .objectID?: form = "ObjectIds of 24 hexadecimal digits"
        case .uuid?: form = "UUIDs such as 3b241101-e2bb-4255-8caf-4136c566a962"
        case .string?: form = "texts, where one that begins with '@' has it doubled"
        default: form = "of the form @k12, as the class has no primary key"
        }
        return "; the keys of \(className) are \(form)"
    }

    /// Returns the object key in a text such as `@k12`; nil for all other texts, and for numbers that are
    /// not in canonical form.
    package static func objectKey(_ text: String) -> ObjectKey? {
        guard text.hasPrefix("@k"), let key = Int64(text.dropFirst(2)), key >= 0, text == "@k\(key)" else { return nil }
        return ObjectKey(key)
    }

    /// Returns the bytes of the string key that a text represents; nil for an unknown prefix.
    package static func stringBytes(_ text: String) -> [UInt8]? {
        guard text.hasPrefix("@") else { return text.isEmpty ? nil : Array(text.utf8) }
        if text == "@empty" { return [] }
        if text.hasPrefix("@@") { return Array(text.utf8.dropFirst()) }
        if let code = text.dropping(prefix: "@b64.") { return Base64.decode(code, .url) }
        return nil
    }

    /// Returns the object that a key text refers to; nil when it does not exist or the text is no key.
    ///
    /// - Parameters:
    ///   - text: The text after percent-decoding.
    ///   - table: The table to search.
    /// - Throws: `StorageError` when the tree or the index cannot be read.
    package static func find(_ text: String, in table: Table) throws(StorageError) -> Row? {
        switch parse(text, primaryKey: table.primaryKey) {
        case nil: return nil
        case .objectKey(let key): return try table.find(key)
        case .primaryKey(let key): return try key.use { value throws(StorageError) in try table.findByPrimaryKey(value) }
        }
    }
}
