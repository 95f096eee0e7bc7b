// SPDX-License-Identifier: Apache-2.0

package import RealmStorage

/// A class as it is in a file.
package struct ClassSchema: Sendable, Equatable {
    /// Without Realm's internal prefix.
    package let name: String
    /// Whether objects are on their own or embedded in others.
    package let kind: TableKind
    /// The name of the property that is the primary key.
    package let primaryKey: String?
    /// In the order of the file.
    package let properties: [PropertySchema]
    /// The properties of other classes, or of this one, that link here.
    package let backlinks: [Backlink]

    /// A class that is described without a file.
    package init(
        name: String, kind: TableKind, primaryKey: String?, properties: [PropertySchema], backlinks: [Backlink]
    ) {
        self.name = name
        self.kind = kind
        self.primaryKey = primaryKey
        self.properties = properties
        self.backlinks = backlinks
    }

    /// A property whose links lead to the class.
    package struct Backlink: Sendable, Equatable, Comparable {
        /// The class that the property belongs to.
        package let className: String
        /// The property.
        package let property: String
        /// What the configuration calls these linking objects.
        package var name: String?

        /// By class, then by property.
        package static func < (left: Backlink, right: Backlink) -> Bool {
            left.className != right.className ? left.className < right.className : left.property < right.property
        }
    }
}

extension ClassSchema {
    /// The class that a table of `snapshot` stores, with the names that the configuration gives to linking objects.
    package init(_ table: Table, in snapshot: Snapshot, _ names: BacklinkNames = .none) {
        let ownName = table.className ?? table.name
        name = ownName
        kind = table.kind
        primaryKey = table.primaryKey?.name
        properties = table.columns.map { column in
            PropertySchema(
                name: column.name, type: PropertyType(column.type), collection: column.collection,
                isOptional: column.isNullable,
                index: column.leafIndex == table.primaryKey?.leafIndex ? .general : column.declaredIndex,
                objectType: column.type == .link ? column.targetTable.flatMap { snapshot.table($0)?.className } : nil)
        }
        backlinks = table.backlinks.compactMap { column in
            guard let origin = column.targetTable.flatMap({ snapshot.table($0) }), let className = origin.className,
                let source = column.oppositeColumn.flatMap({ origin.column($0) }), source.type != .mixed,
                source.type != .backlink
            else { return nil }
            return Backlink(
                className: className, property: source.name,
                name: names.name(of: ownName, origin: className, property: source.name))
        }.sorted()
    }
}
