// SPDX-License-Identifier: Apache-2.0

package import RealmEngine
internal import RealmPlatform
internal import RealmStorage

/// A difference between two schemas: of their versions, of a class or of a property.
package struct SchemaDifference: Sendable, Equatable {
    package enum Kind: String, Sendable {
        case schemaVersion, classAdded, classRemoved, classChanged, propertyAdded, propertyRemoved, propertyChanged
    }

    package let kind: Kind
    /// The class; nil for the schema version.
    package let className: String?
    /// The property; nil for a class.
    package let property: String?
    /// The earlier class, property or version; nil for what was added.
    package let from: DocumentValue?
    /// The later class, property or version; nil for what was removed.
    package let to: DocumentValue?

    private init(
        _ kind: Kind, _ className: String? = nil, property: String? = nil, from: DocumentValue? = nil, to: DocumentValue? = nil
    ) {
        self.kind = kind
        self.className = className
        self.property = property
        self.from = from
        self.to = to
    }

    /// Returns the differences of two schemas: of the version, then of the classes in the order of their names.
    package static func all(from old: RealmSchema, to new: RealmSchema) -> [SchemaDifference] {
        var found: [SchemaDifference] = []
        if old.version != new.version {
            found.append(
                SchemaDifference(
                    .schemaVersion, from: SchemaDocument.version(of: old), to: SchemaDocument.version(of: new)))
        }
        for name in Set((old.classes + new.classes).map { ByteText($0.name) }).sorted().texts {
            switch (old[name], new[name]) {
            case (let before?, nil): found.append(.init(.classRemoved, name, from: document(before)))
            case (nil, let after?): found.append(.init(.classAdded, name, to: document(after)))
            case (let before?, let after?): found += all(from: before, to: after)
            case (nil, nil): break
            }
        }
        return found
    }

    /// Returns the differences of a class: of its type and primary key, then of its properties in the order of their names.
    private static func all(from old: ClassSchema, to new: ClassSchema) -> [SchemaDifference] {
        var found: [SchemaDifference] = []
        if traits(old).json != traits(new).json {
            found.append(.init(.classChanged, old.name, from: traits(old), to: traits(new)))
        }
        let before = Dictionary(texts: old.properties.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
        let after = Dictionary(texts: new.properties.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
        for name in Set(before.keys).union(after.keys).sorted().texts {
            let documents = (before[name].map(SchemaDocument.document), after[name].map(SchemaDocument.document))
            guard documents.0?.json != documents.1?.json else { continue }
            let kind = documents.0 == nil ? Kind.propertyAdded : documents.1 == nil ? .propertyRemoved : .propertyChanged
            found.append(.init(kind, old.name, property: name, from: documents.0, to: documents.1))
        }
        return found
    }

    /// The kind and the primary key of a class.
    private static func traits(_ one: ClassSchema) -> DocumentValue {
        ["type": .string(one.kind.schemaName), "primaryKey": one.primaryKey.map(DocumentValue.string) ?? .null]
    }

    /// A class in the form of a request, without the links from other classes.
    private static func document(_ one: ClassSchema) -> DocumentValue {
        .object(SchemaDocument.document(one).members.filter { $0.name != "backlinks" })
    }
}
