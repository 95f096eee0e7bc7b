// SPDX-License-Identifier: Apache-2.0

package import RealmEngine
internal import RealmPlatform
internal import RealmStorage

/// Schemas as JSON documents in the form of this server, which requests that create realms accept too.
package enum SchemaDocument {
    /// Returns the document of a whole schema: its version and its classes.
    ///
    /// - Parameter schema: The classes of a realm with the schema version.
    package static func document(_ schema: RealmSchema) -> DocumentValue {
        [
            "schemaVersion": version(of: schema),
            "classes": .array(schema.classes.map(document)),
        ]
    }

    /// Returns the schema version; null for a file that has none, or one too large for a signed 64-bit number.
    static func version(of schema: RealmSchema) -> DocumentValue {
        schema.version.flatMap { Int(exactly: $0) }.map(DocumentValue.int) ?? .null
    }

    /// Returns the document of one class with its properties, and the links from other classes to it.
    package static func document(_ one: ClassSchema) -> DocumentValue {
        [
            "name": .string(one.name),
            "type": .string(one.kind.schemaName),
            "primaryKey": one.primaryKey.map(DocumentValue.string) ?? .null,
            "properties": .array(one.properties.map(document)),
            "backlinks": .array(one.backlinks.map(document)),
        ]
    }

    /// Returns the document of a link from another class: that class, its linking property, and the
    /// name that the configuration gives to the linking objects, if any.
    private static func document(_ backlink: ClassSchema.Backlink) -> DocumentValue {
        .members(
            ("class", .string(backlink.className)), ("property", .string(backlink.property)),
            ("name", backlink.name.map(DocumentValue.string)))
    }

    /// Returns the document of a property: its name, type, kind of collection, nullability, index, target
    /// class and default, if it has one.
    static func document(_ property: PropertySchema) -> DocumentValue {
        let document: DocumentValue = [
            "name": .string(property.name),
            "type": .string(property.type.rawValue),
            "collection": property.collection.map { .string($0.name) } ?? .null,
            "optional": .bool(property.isOptional),
            "indexed": property.index.map { .string($0 == .fullText ? "fulltext" : "general") } ?? .null,
            "objectType": property.objectType.map(DocumentValue.string) ?? .null,
        ]
        guard let text = property.defaultText else { return document }
        return document.adding([.init("default", .json(text))])
    }
}

extension TableKind {
    /// The name of the kind of class in schema documents.
    package var schemaName: String {
        switch self {
        case .topLevel: return "object"
        case .embedded: return "embedded"
        case .asymmetric: return "asymmetric"
        }
    }
}
