// SPDX-License-Identifier: Apache-2.0

internal import RealmEngine
internal import RealmStorage

/// JSON Schema (2020-12) of objects as the interface writes them.
enum JSONSchemaRendering {
    /// The version of JSON Schema that the documents are written in.
    static let dialect: DocumentValue = "https://json-schema.org/draft/2020-12/schema"

    /// The document of a whole schema, with a definition for each class.
    static func document(_ schema: RealmSchema) -> DocumentValue {
        ["$schema": dialect, "$defs": .object(schema.classes.map { .init($0.name, definition($0)) })]
    }

    /// The document of one class.
    static func document(_ one: ClassSchema) -> DocumentValue {
        DocumentValue.object([.init("$schema", dialect)]).adding(members(definition(one)))
    }

    private static func members(_ value: DocumentValue) -> [DocumentValue.Member] {
        if case .object(let members) = value { return members }
        return []
    }

    /// One class as a definition inside a document.
    static func definition(_ one: ClassSchema) -> DocumentValue {
        [
            "title": .string(one.name), "type": "object",
            "properties": .object(one.properties.map { .init(memberName($0.name), property($0)) }),
            "required": .array(one.properties.map { .string(memberName($0.name)) }),
        ]
    }

    /// A stored name that starts with `$` is written with a second one in front.
    private static func memberName(_ name: String) -> String { name.hasPrefix("$") ? "$" + name : name }

    private static func property(_ property: PropertySchema) -> DocumentValue {
        let element = element(property)
        switch property.collection {
        case nil: return element
        case .dictionary: return ["type": "object", "additionalProperties": element]
        case .list: return ["type": "array", "items": element]
        case .set: return ["type": "array", "items": element, "uniqueItems": true]
        }
    }

    private static func element(_ property: PropertySchema) -> DocumentValue {
        let plain = scalar(property)
        guard property.isOptional, property.type != .mixed else { return plain }
        return ["anyOf": [plain, ["type": "null"]]]
    }

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
        case .object: return ["type": "object", "description": .string("\(property.objectType ?? ""): a link, or the object")]
        }
    }
}
