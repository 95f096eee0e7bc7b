// SPDX-License-Identifier: Apache-2.0

internal import RealmFormats
internal import RealmPlatform
package import RealmStorage

/// The classes and properties of a version, without anything that keeps the version, for finding out whether a later one has the
/// same.
package struct SchemaFingerprint: Sendable {
    private struct Property: Sendable {
        let name: String
        let key: ColumnKey
        let type: ColumnType
        let attributes: ColumnAttributes
        let collection: CollectionKind?
        let target: TableKey?

        /// Takes over the properties of a column.
        init(_ column: Column) {
            name = column.name
            key = column.key
            type = column.type
            attributes = column.attributes
            collection = column.collection
            target = column.targetTable
        }

        /// Whether a column is the same property.
        func describes(_ column: Column) -> Bool {
            key == column.key && type == column.type && attributes == column.attributes && collection == column.collection
                && target == column.targetTable && name.utf8.elementsEqual(column.name.utf8)
        }
    }

    private struct Class: Sendable {
        let key: TableKey
        let name: String
        let kind: TableKind
        let properties: [Property]
    }

    private let classes: [Class]

    /// Records the schema of a version.
    package init(_ snapshot: Snapshot) {
        classes = snapshot.classes.map { table in
            Class(key: table.key, name: table.name, kind: table.kind, properties: table.columns.map { Property($0) })
        }
    }

    /// Returns whether a version has this schema.
    package func describes(_ snapshot: Snapshot) -> Bool {
        let tables = snapshot.classes
        guard tables.count == classes.count else { return false }
        return zip(classes, tables).allSatisfy { one, table in
            one.key == table.key && one.kind == table.kind && one.name.utf8.elementsEqual(table.name.utf8)
                && one.properties.count == table.columns.count
                && zip(one.properties, table.columns).allSatisfy { $0.describes($1) }
        }
    }
}
