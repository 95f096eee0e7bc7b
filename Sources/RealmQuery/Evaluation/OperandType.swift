// SPDX-License-Identifier: Apache-2.0

internal import RealmStorage

/// The type of an operand as far as it is known before evaluation.
enum OperandType: String, Sendable, Hashable {
    /// A null constant, which has no type of its own.
    case null
    case int, bool, string, binary, mixed
    case timestamp = "date"
    case float, double, decimal, link
    case objectID = "objectId"
    case uuid
    /// A link with its class: a constant, never a property.
    case typedLink = "link to an object"
    /// What `@type` yields.
    case typeOfValue = "@type"

    /// May values be texts or data of any length?
    var mayBeLong: Bool { self == .string || self == .binary || self == .mixed }

    /// The type of a property or of the elements of a collection; nil for backlink columns.
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

    /// The type of a constant. A link without a table is an object key.
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

    /// Can arithmetic be done with it, as far as is known?
    var isNumeric: Bool {
        switch self {
        case .int, .float, .double, .decimal, .mixed: return true
        default: return false
        }
    }

    /// May values of the two types be equal?
    func isComparable(with other: OperandType) -> Bool {
        self == other || (isNumeric && other.isNumeric) || self == .mixed || other == .mixed
    }
}
