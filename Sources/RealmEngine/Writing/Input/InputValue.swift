// SPDX-License-Identifier: Apache-2.0

package import RealmStorage

/// A value somebody wants to store, before it is known which property it is for.
///
/// Texts and number tokens mean different things for different types: `"2026-01-01T00:00:00Z"` is a date in a date
/// property and a text elsewhere. So they stay as they were given until they meet a property (`ValueReader`). Values
/// whose type was said are `typed`.
package enum InputValue: Sendable {
    case null
    case bool(Bool)
    /// A whole number without fraction or exponent.
    case integer(Int64)
    /// A whole number that no int can hold.
    case wideInteger(String)
    /// A number with fraction or exponent.
    case real(Double)
    /// A number with fraction or exponent that no double can hold.
    case wideReal(String)
    case text(String)
    case typed(TypedInput)
    // A key is an input again. Nothing else needs a box, of which an object would have as many as members.
    indirect case link(LinkInput)
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

/// A value whose type was said with it.
package enum TypedInput: Sendable {
    case int(Int64)
    case float(Float)
    case double(Double)
    case decimal(Decimal128)
    case timestamp(Timestamp)
    case objectID(ObjectID)
    case uuid(UUIDValue)
    case binary([UInt8])
    /// Text that need not be UTF-8.
    case stringBytes([UInt8])

    var typeName: String {
        switch self {
        case .int: return "int"
        case .float: return "float"
        case .double: return "double"
        case .decimal: return "decimal128"
        case .timestamp: return "date"
        case .objectID: return "objectId"
        case .uuid: return "uuid"
        case .binary: return "data"
        case .stringBytes: return "string"
        }
    }
}

/// What a link leads to.
package enum LinkInput: Sendable {
    /// An object of a class, named without prefix.
    case stub(className: String, key: ObjectName)
    /// An object made under this name earlier in the same session.
    case reference(String)
}

/// Which object of a class is meant.
package enum ObjectName: Sendable {
    /// A key as it stands in addresses and stubs; what it means depends on the primary key.
    case text(String)
    case objectKey(ObjectKey)
    /// A primary key value.
    case primaryKey(InputValue)
    /// An object made under this name earlier in the same session.
    case reference(String)
}

/// Members in the order given, without duplicates.
///
/// Names are as written: `$$x` stands for the property `$x`, `$meta` is ignored, any other `$` is a mistake.
package struct InputObject: Sendable, ExpressibleByDictionaryLiteral {
    package let members: [(name: String, value: InputValue)]

    package init(_ members: [(name: String, value: InputValue)]) { self.members = members }

    package init(dictionaryLiteral elements: (String, InputValue)...) {
        members = elements.map { (name: $0.0, value: $0.1) }
    }

    package subscript(name: String) -> InputValue? { members.first { $0.name == name }?.value }
}
