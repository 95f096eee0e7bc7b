// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform

/// The attribute bits of a column in the spec.
///
/// Nullability and the kind of collection are in the column key as well, and must agree with it.
/// Source: docs/format.md, "Spec".
package struct ColumnAttributes: OptionSet, Sendable, Hashable {
    /// The bits as the spec of a table stores them.
    package let rawValue: Int
    /// Makes attributes from their stored bits; bits without a meaning here are kept.
    package init(rawValue: Int) { self.rawValue = rawValue }

    /// The column has a search index.
    package static let indexed = ColumnAttributes(rawValue: 1)
    /// Values are unique, which some writers state of primary keys; nothing here depends on it.
    package static let unique = ColumnAttributes(rawValue: 2)
    /// Values, or elements of the collection, may be null.
    package static let nullable = ColumnAttributes(rawValue: 16)
    /// The column holds a list for each object.
    package static let list = ColumnAttributes(rawValue: 32)
    /// The column holds a dictionary for each object.
    package static let dictionary = ColumnAttributes(rawValue: 64)
    /// The column holds a set for each object.
    package static let set = ColumnAttributes(rawValue: 128)
    /// The column has a full-text index.
    package static let fullText = ColumnAttributes(rawValue: 256)
}
