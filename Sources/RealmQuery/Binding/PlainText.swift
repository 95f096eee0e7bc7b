// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform
internal import RealmStorage

/// Reads a text that was passed for `$n` by the type of what it is compared with.
///
/// The forms are those in which bodies and answers have such values, so that a client can send back
/// what it was shown; they are read by the same functions.
enum PlainText {
    /// Returns the value of a string; nil when it is not written like a value of the type.
    ///
    /// - Parameters:
    ///   - text: The text. For strings and mixed values it is the value itself.
    ///   - type: The type of the other side.
    ///   - pool: Receives the bytes of strings and binary data.
    static func value(_ text: String, as type: OperandType, in pool: ConstantPool) -> Value? {
        switch type {
        case .string, .mixed: return .string(pool.keep(text.utf8))
        case .binary: return Base64.decode(text).map { .binary(pool.keep($0)) }
        case .timestamp: return Timestamp(rfc3339: text).map(Value.timestamp)
        case .objectID: return ObjectID(text).map(Value.objectID)
        case .uuid: return UUIDValue(text).map(Value.uuid)
        case .int: return (try? NumberText.integer(text)).map(Value.int)
        case .decimal: return (try? NumberText.decimal(text)).map(Value.decimal)
        case .double: return NumberText.double(text).map(Value.double)
        case .float: return NumberText.double(text).map { .float(Float($0)) }
        case .null, .bool, .link, .typedLink, .typeOfValue: return nil
        }
    }

    /// The form of arguments of a type, as error messages name it, without the wrappers that state a type themselves.
    static func form(of type: OperandType) -> String {
        switch type {
        case .string: return "a text"
        case .binary: return #"base64 such as "AAEC""#
        case .timestamp: return #"a date such as "2024-05-17T09:30:00Z", or "2024-05-17" for midnight UTC"#
        case .objectID: return "24 hexadecimal digits"
        case .uuid: return #"a UUID such as "3b241101-e2bb-4255-8caf-4136c566a962""#
        case .int: return "a whole number of 64 bits, as a number or a text"
        case .decimal: return #"a number, or a text such as "12.50" with up to 34 digits"#
        case .float, .double: return #"a number, or a text such as "12.5", "Infinity" or "NaN""#
        case .bool: return "true or false"
        case .link, .typedLink: return #"a link such as {"$link":{"class":"Person","key":"7"}}"#
        case .typeOfValue: return "the name of a type"
        case .mixed, .null: return "a value"
        }
    }
}
