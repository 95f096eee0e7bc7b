// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform

/// The type of a column or of the elements of its collections. Raw values are the numbers on disk.
///
/// Source: docs/format.md, "Type numbers".
package enum ColumnType: Int, Sendable, Hashable, CaseIterable {
    /// Signed integers of 64 bits.
    case int = 0
    /// Booleans, which are true or false.
    case bool = 1
    /// Strings of UTF-8 text.
    case string = 2
    /// Binaries: bytes without a meaning to the engine.
    case binary = 4
    /// Values of any type, including nested lists and dictionaries.
    case mixed = 6
    /// Timestamps: points in time with nanoseconds.
    case timestamp = 8
    /// Floating-point numbers of 32 bits.
    case float = 9
    /// Floating-point numbers of 64 bits.
    case double = 10
    /// Decimal numbers of 34 digits (IEEE 754-2008 decimal128).
    case decimal = 11
    /// Links to objects of one table.
    case link = 12
    /// Hidden columns that hold, for each object, the objects that link to it.
    case backlink = 14
    /// ObjectIds of 12 bytes.
    case objectID = 15
    /// UUIDs of 16 bytes.
    case uuid = 17

    /// The number that formats below 24 may use for lists of links.
    static let historicLinkList = 13
}

/// Names of types for people, in dumps and messages.
extension ColumnType {
    /// The name of the type in dumps and messages.
    package var name: String {
        switch self {
        case .decimal: return "decimal128"
        case .objectID: return "objectId"
        default: return String(describing: self)
        }
    }
}

/// The kinds of collection that a property can hold instead of a single value.
///
/// The kind is an attribute of the column, not a part of its type: a list of integers is a column of type `int` with the
/// attribute `list`. Collections nested in Mixed have kinds of their own, which their values state.
package enum CollectionKind: Sendable, Hashable { case list, set, dictionary }

/// The kinds of index that a user can declare for a property.
///
/// A general index finds equal values and speeds primary keys up; a full-text index finds the
/// objects whose text has a word. A column has one of them at most.
package enum IndexKind: Sendable, Hashable { case general, fullText }
