// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform
package import RealmStorage

/// The types of properties, under the names that the interface uses.
package enum PropertyType: String, Sendable, CaseIterable {
    /// The raw values are part of the HTTP interface and of exported schemas.
    case int, bool, string, data, date, float, double, decimal128, objectId, uuid, mixed, object

    /// Makes the property type for a type of column. Links and backlinks are both objects.
    package init(_ type: ColumnType) {
        switch type {
        case .int: self = .int
        case .bool: self = .bool
        case .string: self = .string
        case .binary: self = .data
        case .timestamp: self = .date
        case .float: self = .float
        case .double: self = .double
        case .decimal: self = .decimal128
        case .objectID: self = .objectId
        case .uuid: self = .uuid
        case .mixed: self = .mixed
        case .link, .backlink: self = .object
        }
    }
}

extension CollectionKind {
    /// The name of the kind of collection, as the HTTP interface and schemas spell it.
    package var name: String {
        switch self {
        case .list: return "list"
        case .set: return "set"
        case .dictionary: return "dictionary"
        }
    }
}
