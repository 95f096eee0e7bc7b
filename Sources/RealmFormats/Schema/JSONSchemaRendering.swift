// SPDX-License-Identifier: Apache-2.0

internal import RealmEngine
internal import RealmPlatform
internal import RealmStorage

/// Schemas as JSON Schema documents (draft 2020-12), which describe objects as this server writes them in `application/json`.
enum JSONSchemaRendering {
    /// The URI of the version of JSON Schema, as the value of `$schema`.
    static let dialect: DocumentValue = "https://json-schema.org/draft/2020-12/schema"

    /// Returns the document of a whole schema, with a definition for each class in `$defs`.
    ///
    /// - Parameter schema: The classes of a realm.
    static func document(_ schema: RealmSchema) -> DocumentValue {
        ["$schema": dialect, "$defs": .object(schema.classes.map { .init($0.name, definition($0)) })]
    }

    /// Returns the document of one class: its definition with `$schema` before it.
    static func document(_ one: ClassSchema) -> DocumentValue {
        DocumentValue.object([.init("$schema", dialect)]).adding(members(definition(one)))
    }

    /// Returns the members of an object; none for any other value.
    private static func members(_ value: DocumentValue) -> [DocumentValue.Member] {
        if case .object(let members) = value { return members }
        return []
    }

    /// Returns the definition of one class, as it appears inside a document.
    ///
    /// All properties are required, because the server writes each of them unless `fields` leaves it out.
    static func definition(_ one: ClassSchema) -> DocumentValue {
        [
            "title": .string(one.name), "type": "object",
            "properties": .object(one.properties.map { .init(MemberNaming.documents.member($0.name), property($0)) }),
            "required": .array(one.properties.map { .string(MemberNaming.documents.member($0.name)) }),
        ]
    }

    /// Returns the schema of a property: that of its element, or an array or object of them for a collection.
    private static func property(_ property: PropertySchema) -> DocumentValue {
        guard let text = property.defaultText else { return shape(property) }
        return shape(property).adding([.init("default", .json(text))])
    }

    /// Returns the schema of a property without its default.
    private static func shape(_ property: PropertySchema) -> DocumentValue {
        let element = element(property)
        switch property.collection {
        case nil: return element
        case .dictionary: return ["type": "object", "additionalProperties": element]
        case .list: return ["type": "array", "items": element]
        case .set: return ["type": "array", "items": element, "uniqueItems": true]
        }
    }

    /// Returns the schema of an element, which permits null where the property is optional.
    ///
    /// Mixed permits everything anyway.
    private static func element(_ property: PropertySchema) -> DocumentValue {
        let plain = scalar(property)
        guard property.isOptional, property.type != .mixed else { return plain }
        return ["anyOf": [plain, ["type": "null"]]]
    }

    /// Returns the schema of a value that is not null.
    ///
    /// Dates may be objects, as RFC 3339 has no years beyond 9999; float and double may be the
    /// texts `NaN`, `Infinity` and `-Infinity`.
    private static func scalar(_ property: PropertySchema) -> DocumentValue {
        switch property.type {
        case .int: return ["type": "integer", "minimum": .int(.min), "maximum": .int(.max)]
        case .bool: return ["type": "boolean"]
        case .string: return ["type": "string"]
        case .data: return ["type": "string", "contentEncoding": "base64"]
        case .date: return ["type": ["string", "object"], "format": "date-time"]
        case .float, .double: return ["anyOf": [["type": "number"], ["enum": ["NaN", "Infinity", "-Infinity"]]]]
        case .decimal128: return ["type": "string"]
        case .objectId: return ["type": "string", "pattern": "^[0-9a-f]{24}$"]
        case .uuid: return ["type": "string", "format": "uuid"]
        case .mixed: return .object([])
        case .object where property.leadsOut: return ["type": "object", "description": "a link to an object that is not shown"]
        case .object: return ["type": "object", "description": .string("\(property.objectType ?? ""): a link, or the object")]
        }
    }
}
