// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform
package import RealmStorage

/// A value to be stored, before it is known which property it is for.
///
/// Texts and number tokens mean different things for different types: `"2026-01-01T00:00:00Z"` is a date in a date property and
/// a string elsewhere. They are therefore kept as given until they meet a property in `ValueReader`. Values that were given
/// with their type are `typed`. The HTTP layer makes inputs from JSON and CSV.
package enum InputValue: Sendable {
    /// Null; its meaning depends on the property.
    case null
    /// A boolean, true or false.
    case bool(Bool)
    /// An integer without fraction and exponent that 64 bits can hold.
    case integer(Int64)
    /// The digits of an integer that 64 bits cannot hold.
    case wideInteger(String)
    /// A number with a fraction or exponent.
    case real(Double)
    /// The text of a number with a fraction or exponent that is outside the range of a double.
    case wideReal(String)
    /// A text, which may represent a value of another type.
    case text(String)
    case typed(TypedInput)
    /// A link to an object.
    ///
    /// This case alone is indirect, because a link contains a key, which is an input again. A box for all
    /// cases would cost one allocation for each member of an object.
    indirect case link(LinkInput)
    /// The elements of a list or set.
    case list([InputValue])
    /// An object, or the entries of a dictionary.
    case object(InputObject)
    /// The text of an expression over the object that is changed; accepted in migrations only.
    case expression(String)
    /// A value for each element of a collection; accepted in migrations only.
    indirect case each(EachInput)

    /// The name of this kind of input in error messages, with its article.
    var kind: String {
        switch self {
        case .null: return "null"
        case .bool: return "a boolean"
        case .integer, .wideInteger, .real, .wideReal: return "a number"
        case .text: return "a text"
        case .typed(let value): return "a value of type \(value.typeName)"
        case .link: return "a link"
        case .list: return "an array"
        case .object: return "an object"
        case .expression, .each: return "an expression"
        }
    }
}

/// The object that a link in an input refers to.
package enum LinkInput: Sendable {
    /// An object of a class, which is named without the prefix of its table.
    case stub(className: String, key: ObjectName)
    /// The object that was created under this name earlier in the same session.
    case reference(String)
}

/// Identifies one object of a class in a request.
package enum ObjectName: Sendable {
    /// A key text as in URLs and link stubs; its meaning depends on the primary key of the class. See `KeyText`.
    case text(String)
    /// The internal key that the file stores for the object.
    case objectKey(ObjectKey)
    case primaryKey(InputValue)
    /// The name under which the object was created earlier in the same session.
    case reference(String)
}
