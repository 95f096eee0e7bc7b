// SPDX-License-Identifier: Apache-2.0

/// One column of a table as its spec and the table's per-column arrays describe it.
///
/// A class, because plans and loops over rows pass columns around.
package final class Column: Sendable {
    /// Empty for backlink columns.
    package let name: String
    /// The key by which other tables refer to the column.
    package let key: ColumnKey
    /// The type of the value, or of the elements of the collection.
    package let type: ColumnType
    /// What the spec says of the column beside its type.
    package let attributes: ColumnAttributes
    /// What the column holds per object; nil for a single value.
    package let collection: CollectionKind?
    /// The type of a dictionary's keys: string, or int in files no SDK writes.
    package let dictionaryKeyType: ColumnType
    /// Links: the target table. Backlinks: the origin table.
    package let targetTable: TableKey?
    /// Links: the backlink column in the target. Backlinks: the origin column.
    package let oppositeColumn: ColumnKey?
    /// Root of the search index, or `Ref.none`.
    package let searchIndex: Ref
    /// The distinct strings of an enumerated column.
    package let enumeration: StringEnumeration?

    /// A column from what spec and table say of it.
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

    /// The same column with another search index.
    func with(searchIndex: Ref) -> Column {
        Column(
            name: name, key: key, type: type, attributes: attributes, collection: collection,
            dictionaryKeyType: dictionaryKeyType, targetTable: targetTable, oppositeColumn: oppositeColumn,
            searchIndex: searchIndex, enumeration: enumeration)
    }

    /// May values (for collections: elements) be null?
    package var isNullable: Bool { attributes.contains(.nullable) }
    /// Whether there is a search index of any kind.
    package var hasSearchIndex: Bool { !searchIndex.isNone }
    /// Where the column lives in a cluster leaf.
    package var leafIndex: Int { key.leafIndex }

    /// What the user declared; a primary key has an index without declaring one.
    package var declaredIndex: IndexKind? {
        if attributes.contains(.fullText) { return .fullText }
        return attributes.contains(.indexed) ? .general : nil
    }

    /// How leaves of this column's values or elements are read.
    package var elementShape: ElementShape {
        ElementShape(type: type, isNullable: isNullable, targetTable: targetTable ?? .null)
    }
}
