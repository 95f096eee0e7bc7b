// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform
package import RealmStorage

/// A class as it is in a file, or as it results from a checked input.
package struct ClassSchema: Sendable, Equatable {
    /// The name without the `class_` prefix of the table.
    package let name: String
    /// Whether the objects are top-level or embedded in others.
    package let kind: TableKind
    /// The name of the property that is the primary key; nil when the class has none.
    package let primaryKey: String?
    /// The properties in the order of the file.
    package let properties: [PropertySchema]
    /// The properties of this and other classes whose links lead to this class, sorted; links in mixed values are not included.
    package let backlinks: [Backlink]

    /// Makes a class that is described without a file.
    package init(
        name: String, kind: TableKind, primaryKey: String?, properties: [PropertySchema], backlinks: [Backlink]
    ) {
        self.name = name
        self.kind = kind
        self.primaryKey = primaryKey
        self.properties = properties
        self.backlinks = backlinks
    }

    /// A property whose links lead to the class: one inverse relationship.
    package struct Backlink: Sendable, Equatable, Comparable {
        /// The class that the property belongs to.
        package let className: String
        /// The name of the linking property.
        package let property: String
        /// The name that the configuration gives to these linking objects; nil when it gives none.
        package var name: String?

        /// Orders by the class name, then by the property name.
        package static func < (left: Backlink, right: Backlink) -> Bool {
            left.className != right.className ? left.className < right.className : left.property < right.property
        }
    }
}

extension ClassSchema {
    /// The class without the properties that lead to classes which the realm does not show.
    package var withoutHiddenLinks: ClassSchema {
        guard properties.contains(where: \.leadsOut) else { return self }
        return ClassSchema(
            name: name, kind: kind, primaryKey: primaryKey, properties: properties.filter { !$0.leadsOut }, backlinks: backlinks)
    }

    /// Reads the class that a table stores.
    ///
    /// - Parameters:
    ///   - table: A table of `snapshot`.
    ///   - snapshot: The version that is read.
    ///   - names: The names that the configuration gives to linking objects.
    package init(_ table: Table, in snapshot: Snapshot, _ names: BacklinkNames = .none) {
        let ownName = table.className ?? table.name
        name = ownName
        kind = table.kind
        primaryKey = table.primaryKey?.name
        properties = table.columns.map { column in
            PropertySchema(
                name: column.name, type: PropertyType(column.type), collection: column.collection,
                isOptional: column.isNullable,
                index: column.leafIndex == table.primaryKey?.leafIndex
                    ? .general : column.hasSearchIndex ? column.declaredIndex : nil,
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
