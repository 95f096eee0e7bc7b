// SPDX-License-Identifier: Apache-2.0

internal import RealmStorage

/// Reads the keys by which requests name objects.
///
/// A text is `@k` and an object key, or a primary key value: digits, an id, or the string itself; `@null`, `@empty`,
/// `@@` for a leading `@`, `@b64.` and base64url for any string.
enum KeyReader {
    enum Target {
        case object(ObjectKey)
        case primaryKey(HeldValue)
    }

    /// What `text` names in a class with such a primary key; nil when it cannot name anything.
    static func target(_ text: String, primaryKey: Column?) -> Target? {
        if text.hasPrefix("@k"), let key = Int64(text.dropFirst(2)), key >= 0, text == "@k\(key)" {
            return .object(ObjectKey(key))
        }
        guard let primaryKey else { return nil }
        if text == "@null" { return primaryKey.isNullable ? .primaryKey(HeldValue(.null)) : nil }
        switch primaryKey.type {
        case .int:
            guard let number = Int64(text), text == String(number) else { return nil }
            return .primaryKey(HeldValue(.int(number)))
        case .objectID: return ObjectID(text).map { .primaryKey(HeldValue(.objectID($0))) }
        case .uuid: return UUIDValue(text).map { .primaryKey(HeldValue(.uuid($0))) }
        case .string: return stringBytes(text).map { .primaryKey(.string($0)) }
        default: return nil
        }
    }

    private static func stringBytes(_ text: String) -> [UInt8]? {
        guard text.hasPrefix("@") else { return text.isEmpty ? nil : Array(text.utf8) }
        if text == "@empty" { return [] }
        if text.hasPrefix("@@") { return Array(text.utf8.dropFirst()) }
        guard text.hasPrefix("@b64.") else { return nil }
        return urlBytes(text.utf8.dropFirst(5))
    }

    /// Base64 with `-` and `_` and without padding.
    private static func urlBytes(_ digits: Substring.UTF8View) -> [UInt8]? {
        var standard = digits.map { byte -> UInt8 in
            switch byte {
            case UInt8(ascii: "-"): return UInt8(ascii: "+")
            case UInt8(ascii: "_"): return UInt8(ascii: "/")
            case UInt8(ascii: "+"), UInt8(ascii: "/"), UInt8(ascii: "="): return 0
            default: return byte
            }
        }
        while standard.count % 4 != 0 { standard.append(UInt8(ascii: "=")) }
        let storage = ByteStorage(standard)
        return withExtendedLifetime(storage) { Base64.decode(storage.view) }
    }
}
