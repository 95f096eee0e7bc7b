// SPDX-License-Identifier: Apache-2.0

package import RealmStorage

/// The schema of a realm in the words of its users: classes and properties, without keys and roots.
package struct RealmSchema: Sendable, Equatable {
    /// Nil when the file has none.
    package let version: UInt64?
    /// In the order of the file.
    package let classes: [ClassSchema]

    package init(version: UInt64?, classes: [ClassSchema]) {
        self.version = version
        self.classes = classes
    }
}

package struct ClassSchema: Sendable, Equatable {
    /// Without Realm's internal prefix.
    package let name: String
    package let kind: TableKind
    package let primaryKey: String?
    package let properties: [PropertySchema]
    /// The properties of other classes, or of this one, that link here.
    package let backlinks: [Backlink]

    package init(
        name: String, kind: TableKind, primaryKey: String?, properties: [PropertySchema], backlinks: [Backlink]
    ) {
        self.name = name
        self.kind = kind
        self.primaryKey = primaryKey
        self.properties = properties
        self.backlinks = backlinks
    }

    package struct Backlink: Sendable, Equatable, Comparable {
        package let className: String
        package let property: String
        /// What the configuration calls these linking objects.
        package var name: String?

        package static func < (left: Backlink, right: Backlink) -> Bool {
            left.className != right.className ? left.className < right.className : left.property < right.property
        }
    }
}

package struct PropertySchema: Sendable, Equatable {
    package let name: String
    package let type: PropertyType
    package let collection: CollectionKind?
    /// May the value (for collections: an element) be null?
    package let isOptional: Bool
    package let index: IndexKind?
    /// The class that links point to.
    package let objectType: String?

    package init(
        name: String, type: PropertyType, collection: CollectionKind?, isOptional: Bool, index: IndexKind?,
        objectType: String?
    ) {
        self.name = name
        self.type = type
        self.collection = collection
        self.isOptional = isOptional
        self.index = index
        self.objectType = objectType
    }
}

/// Property types by the names that the interface uses.
package enum PropertyType: String, Sendable, CaseIterable {
    case int, bool, string, data, date, float, double, decimal128, objectId, uuid, mixed, object

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

extension RealmSchema {
    package init(_ snapshot: Snapshot, _ names: BacklinkNames = .none) {
        self.init(
            version: snapshot.schemaVersion, classes: snapshot.classes.map { ClassSchema($0, in: snapshot, names) })
    }

    package subscript(name: String) -> ClassSchema? { classes.first { $0.name == name } }
}

extension ClassSchema {
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
