// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform
internal import RealmStorage

/// A table as it was in some version.
final class FormerTable {
    /// Where the columns were read.
    enum SchemaSource: String {
        /// The spec of the table.
        case itself
        /// The spec of the same table in another version.
        case otherVersion
        /// The forms of the nodes of a leaf.
        case inferred
    }

    /// The name of the table, with its prefix.
    let name: String
    /// The offset of its top node.
    let ref: UInt64
    let key: UInt32
    /// The root of its cluster tree.
    let clusterRef: UInt64
    /// Whether its objects are embedded in others.
    let isEmbedded: Bool
    /// Where the columns were read.
    let schemaSource: SchemaSource
    let columns: [FormerColumn]
    /// The columns of incoming links.
    let backlinks: [FormerColumn]
    /// The index of the primary key in the leaf; nil for none.
    let primaryKeyIndex: Int?

    init(
        name: String, ref: UInt64, key: UInt32, clusterRef: UInt64, isEmbedded: Bool, schemaSource: SchemaSource,
        columns: [FormerColumn], backlinks: [FormerColumn], primaryKeyIndex: Int?
    ) {
        (self.name, self.ref, self.key, self.clusterRef, self.isEmbedded) = (name, ref, key, clusterRef, isEmbedded)
        (self.schemaSource, self.columns, self.backlinks) = (schemaSource, columns, backlinks)
        self.primaryKeyIndex = primaryKeyIndex
    }

    /// Whether the table is a class of users.
    var isClass: Bool {
        guard name.hasPrefix(Table.classPrefix) else { return false }
        guard name.hasPrefix("class_@") else { return true }
        let names = columns.map(\.name)
        return !(names == ["version"] || names == ["pk_table", "pk_property"])
    }

    /// The name of the class, without the prefix.
    var className: String { name.dropping(prefix: Table.classPrefix).map { String($0) } ?? name }

    /// The column of the primary key; nil for none.
    var primaryKey: FormerColumn? { primaryKeyIndex.flatMap { index in columns.first { $0.index == index } } }
}
