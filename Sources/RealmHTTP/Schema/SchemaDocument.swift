// SPDX-License-Identifier: Apache-2.0

package import RealmEngine
internal import RealmStorage

/// The schema as the JSON document that the interface takes and gives.
package enum SchemaDocument {
    /// The document of a whole schema: its version and its classes.
    package static func document(_ schema: RealmSchema) -> DocumentValue {
        [
            "schemaVersion": version(of: schema),
            "classes": .array(schema.classes.map(document)),
        ]
    }

    /// The schema version; null for a file that has none.
    static func version(of schema: RealmSchema) -> DocumentValue {
        schema.version.flatMap { Int(exactly: $0) }.map(DocumentValue.int) ?? .null
    }

    /// The document of one class with its properties.
    package static func document(_ one: ClassSchema) -> DocumentValue {
        [
            "name": .string(one.name),
            "type": .string(one.kind.schemaName),
            "primaryKey": one.primaryKey.map(DocumentValue.string) ?? .null,
            "properties": .array(one.properties.map(document)),
            "backlinks": .array(one.backlinks.map(document)),
        ]
    }

    private static func document(_ backlink: ClassSchema.Backlink) -> DocumentValue {
        .members(
            ("class", .string(backlink.className)), ("property", .string(backlink.property)),
            ("name", backlink.name.map(DocumentValue.string)))
    }

    private static func document(_ property: PropertySchema) -> DocumentValue {
        [
            "name": .string(property.name),
            "type": .string(property.type.rawValue),
            "collection": property.collection.map { .string($0.name) } ?? .null,
            "optional": .bool(property.isOptional),
            "indexed": property.index.map { .string($0 == .fullText ? "fulltext" : "general") } ?? .null,
            "objectType": property.objectType.map(DocumentValue.string) ?? .null,
        ]
    }
}

extension TableKind {
    /// The name that schema documents use.
    package var schemaName: String {
        switch self {
        case .topLevel: return "object"
        case .embedded: return "embedded"
        case .asymmetric: return "asymmetric"
        }
    }
}
