// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform
internal import RealmStorage

/// A table of a relational database that an export fills: the objects of a class, the embedded
/// objects of a class, or the elements of a collection.
struct RelationalTable: Sendable {
    /// The kind of values of a column. Each kind of database has its own name for it.
    enum Kind: Sendable {
        /// Whole numbers of 64 bits.
        case int
        /// Truth values.
        case bool
        /// Floating-point numbers of 32 and of 64 bits.
        case float, double
        case text
        case bytes
        /// Points in time with nanoseconds.
        case date
        /// Decimal numbers of 34 digits.
        case decimal
        /// Identifiers of 12 bytes, and those of 16.
        case objectID, uuid
        /// The JSON of a value of Mixed.
        case json
    }

    struct Column: Sendable {
        /// The name, which no other column of the table has, ignoring case.
        let name: String
        let kind: Kind
        /// The meaning of the values.
        let role: NameMap.Role
        /// The property that has the values; nil for keys that are no property.
        var property: String?
        /// Whether it may be null.
        var isNullable = true
        /// Whether no two rows have the same value.
        var isUnique = false
        /// Whether an index makes it quick to find rows by their values.
        var isIndexed = false
        /// The table whose key the values reference; nil for plain values.
        var target: Int?
    }

    /// The name, which no other table has, ignoring case.
    let name: String
    /// The class whose objects the rows are, or belong to.
    let className: String
    /// The columns in their order.
    var columns: [Column]
    /// The positions of the columns that make the key.
    var key: [Int]
}
