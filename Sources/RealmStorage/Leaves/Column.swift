// SPDX-License-Identifier: Apache-2.0

package import RealmPlatform

/// One column of a table as its spec and the table's per-column arrays describe it.
///
/// Made by the table reader when a version is opened, immutable, and shared by all who use that version. It is a class, because
/// plans and loops over rows pass columns around, and a struct of this size would be copied each time.
package final class Column: Sendable {
    /// The name of the property; empty for backlink columns, which have none.
    package let name: String
    /// The key by which other tables refer to the column; unique within its table.
    package let key: ColumnKey
    /// The type of the value, or of the elements of the collection.
    package let type: ColumnType
    /// The attribute bits of the spec: whether values may be null, are collections, or are indexed.
    package let attributes: ColumnAttributes
    /// The kind of collection per object; nil for a single value.
    package let collection: CollectionKind?
    /// The type of a dictionary's keys: string, or int in files no SDK writes.
    package let dictionaryKeyType: ColumnType
    /// Links: the target table. Backlinks: the origin table.
    package let targetTable: TableKey?
    /// Links: the backlink column in the target. Backlinks: the origin column.
    package let oppositeColumn: ColumnKey?
    /// The root of the search index, or `Ref.none` where the column has none.
    package let searchIndex: Ref
    /// The distinct strings of an enumerated string column; nil for all other columns.
    package let enumeration: StringEnumeration?

    /// Makes a column from what the spec and the per-column arrays of its table state about it.
    ///
    /// - Parameters:
    ///   - name: The name of the property; empty for a backlink column.
    ///   - key: The column's key, unique within its table.
    ///   - type: The type of the value, or of the elements of the collection.
    ///   - attributes: The attribute bits of the spec.
    ///   - collection: The kind of collection; nil for a single value.
    ///   - dictionaryKeyType: The type of the keys where the column holds dictionaries; otherwise
    ///     not used.
    ///   - targetTable: The table on the other side of a link or backlink column.
    ///   - oppositeColumn: The column on the other side of a link or backlink column.
    ///   - searchIndex: The root of the search index, or `Ref.none`.
    ///   - enumeration: The distinct strings of an enumerated column.
    init(
        name: String, key: ColumnKey, type: ColumnType, attributes: ColumnAttributes, collection: CollectionKind?,
        dictionaryKeyType: ColumnType, targetTable: TableKey?, oppositeColumn: ColumnKey?, searchIndex: Ref,
        enumeration: StringEnumeration?
    ) {
        self.name = name
        self.key = key
        self.type = type
        self.attributes = attributes
        self.collection = collection
        self.dictionaryKeyType = dictionaryKeyType
        self.targetTable = targetTable
        self.oppositeColumn = oppositeColumn
        self.searchIndex = searchIndex
        self.enumeration = enumeration
    }

    /// Returns a copy of the column with another root of its search index, for a version in which only the index has changed.
    func with(searchIndex: Ref) -> Column {
        Column(
            name: name, key: key, type: type, attributes: attributes, collection: collection,
            dictionaryKeyType: dictionaryKeyType, targetTable: targetTable, oppositeColumn: oppositeColumn,
            searchIndex: searchIndex, enumeration: enumeration)
    }

    /// Whether values may be null; for a collection, whether its elements may be.
    package var isNullable: Bool { attributes.contains(.nullable) }
    /// Whether the column has a search index, general or full-text.
    package var hasSearchIndex: Bool { !searchIndex.isNone }
    /// The number of the column's slot in a cluster leaf, which is the lowest 16 bits of its key.
    package var leafIndex: Int { key.leafIndex }

    /// The kind of index that the user declared, or nil; the index of a primary key exists without a declaration.
    package var declaredIndex: IndexKind? {
        if attributes.contains(.fullText) { return .fullText }
        return attributes.contains(.indexed) ? .general : nil
    }

    /// The shape by which leaves of this column's values or elements are read and written.
    package var elementShape: ElementShape {
        ElementShape(type: type, isNullable: isNullable, targetTable: targetTable ?? .null)
    }
}
