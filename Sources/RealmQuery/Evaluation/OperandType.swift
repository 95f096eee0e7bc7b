// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform
internal import RealmStorage

/// The type of an operand as far as it is known before evaluation.
///
/// The raw values name the types in error messages.
enum OperandType: String, Sendable, Hashable {
    /// The type of a null constant, which has no type of its own.
    case null
    /// The type of a value; `mixed` for operands whose type differs from object to object.
    case int, bool, string, binary, mixed
    /// A timestamp in UTC, which messages call a date.
    case timestamp = "date"
    /// A number, or a link to an object of a class that the operand determines.
    case float, double, decimal, link
    /// An object id: an identifier of 12 bytes.
    case objectID = "objectId"
    /// A UUID: an identifier of 16 bytes.
    case uuid
    /// A link together with its class. It is always a constant, never a property.
    case typedLink = "link to an object"
    /// The result of `@type`: a set of types, which compares with names of types only.
    case typeOfValue = "@type"

    /// Whether values may be texts or binary data of any length, so that comparing them may take long.
    var mayBeLong: Bool { self == .string || self == .binary || self == .mixed }

    /// The type of a property, or of the elements of a collection. A backlink column counts as a link.
    init(_ type: ColumnType) {
        switch type {
        case .int: self = .int
        case .bool: self = .bool
        case .string: self = .string
        case .binary: self = .binary
        case .mixed: self = .mixed
        case .timestamp: self = .timestamp
        case .float: self = .float
        case .double: self = .double
        case .decimal: self = .decimal
        case .link, .backlink: self = .link
        case .objectID: self = .objectID
        case .uuid: self = .uuid
        }
    }

    /// The type of a constant. A link without a table is an object key, whose class depends on the other side.
    init(of value: Value) {
        switch value {
        case .null: self = .null
        case .int: self = .int
        case .bool: self = .bool
        case .float: self = .float
        case .double: self = .double
        case .string: self = .string
        case .binary: self = .binary
        case .timestamp: self = .timestamp
        case .decimal: self = .decimal
        case .objectID: self = .objectID
        case .uuid: self = .uuid
        case .link(let table, _): self = table == .null ? .link : .typedLink
        case .list, .dictionary: self = .mixed
        }
    }

    /// Whether arithmetic with the operand may be possible. For mixed values it turns out during evaluation.
    var isNumeric: Bool {
        switch self {
        case .int, .float, .double, .decimal, .mixed: return true
        default: return false
        }
    }

    /// Returns whether values of the two types may be equal: the same type, two numeric types, or one of them mixed.
    func isComparable(with other: OperandType) -> Bool {
        self == other || (isNumeric && other.isNumeric) || self == .mixed || other == .mixed
    }
}
