// SPDX-License-Identifier: Apache-2.0

internal import RealmStorage

/// A value that is to be stored, before it is known which property it is for.
///
/// Texts and number tokens mean different things for different types: `"2026-01-01T00:00:00Z"` is a date in a date
/// property and a text elsewhere. So they stay as they were given until they meet a property (`ValueReader`). Values
/// whose type was said are `typed`.
package enum InputValue: Sendable {
    /// Nothing; what that means depends on the property.
    case null
    /// True or false.
    case bool(Bool)
    /// A whole number without fraction or exponent.
    case integer(Int64)
    /// A whole number that no int can hold.
    case wideInteger(String)
    /// A number with fraction or exponent.
    case real(Double)
    /// A number with fraction or exponent that no double can hold.
    case wideReal(String)
    /// A text, which may stand for a value of another type.
    case text(String)
    /// A value whose type was said.
    case typed(TypedInput)
    // A key is an input again. Nothing else needs a box, of which an object would have as many as members.
    indirect case link(LinkInput)
    /// The elements of a list or set.
    case list([InputValue])
    /// An object, a dictionary, or the entries of one.
    case object(InputObject)
    /// Computed from the object that is changed; in migrations only.
    case expression(String)

    /// What to call it in messages.
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
        case .expression: return "an expression"
        }
    }
}
