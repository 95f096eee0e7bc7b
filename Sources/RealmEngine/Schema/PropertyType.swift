// SPDX-License-Identifier: Apache-2.0

package import RealmStorage

/// Property types by the names that the interface uses.
package enum PropertyType: String, Sendable, CaseIterable {
    /// The names are part of the interface.
    case int, bool, string, data, date, float, double, decimal128, objectId, uuid, mixed, object

    /// The type that a column of `type` is shown as.
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
    /// The name that the interface uses.
    package var name: String {
        switch self {
        case .list: return "list"
        case .set: return "set"
        case .dictionary: return "dictionary"
        }
    }
}
