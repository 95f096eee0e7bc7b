// SPDX-License-Identifier: Apache-2.0

internal import RealmEngine
internal import RealmPlatform
internal import RealmStorage

/// Schemas as TypeScript interfaces of the objects that this server writes in `application/json`.
struct TypeScriptRendering {
    /// The names of built-in types of TypeScript. Members that are not identifiers are quoted instead of mapped.
    private let rules = IdentifierRules(
        reserved: ["any", "boolean", "number", "string", "object", "null", "undefined", "never", "unknown", "void", "symbol"],
        quote: { "\($0)_" })

    /// The names of the classes whose objects are a part of others, and never stand as a link.
    private let embedded: Set<ByteText>

    /// Makes the rendering.
    ///
    /// - Parameter embedded: The names of the embedded classes of the schema.
    init(embedded: Set<ByteText>) { self.embedded = embedded }

    /// The type of a link stub, which is needed once before all classes.
    let head = "export interface Link { $link: { class: string; key: string } }\n\n"

    /// Returns the source of all classes, with the type of links before them.
    ///
    /// - Parameter classes: The classes, in the order of the source.
    func text(_ classes: [ClassSchema]) -> String {
        head + classes.map { text($0) }.joined(separator: "\n")
    }

    /// Returns the interface of one class, without the type of links.
    func text(_ one: ClassSchema) -> String {
        var lines = ["export interface \(rules.identifier(one.name).text) {"]
        if one.kind != .embedded { lines.append("  $meta?: { class: string; key: string; etag?: string };") }
        for property in one.properties {
            let stored = MemberNaming.documents.member(property.name)
            let isPlain = !rules.identifier(stored).isMapped
            lines.append("  \(isPlain ? stored : quoted(stored)): \(type(property));")
        }
        return (lines + ["}", ""]).joined(separator: "\n")
    }

    /// Returns the type of a property: that of its element, or an array or record of them for a collection.
    private func type(_ property: PropertySchema) -> String {
        let element = element(property) + (property.isOptional && property.type != .mixed ? " | null" : "")
        switch property.collection {
        case nil: return element
        case .list, .set: return "Array<\(element)>"
        case .dictionary: return "Record<string, \(element)>"
        }
    }

    /// Returns the type of a single value, without null. Integers are numbers here, so `ints=string` needs other types.
    private func element(_ property: PropertySchema) -> String {
        switch property.type {
        case .int: return "number"
        case .bool: return "boolean"
        case .string, .data, .date, .decimal128, .objectId, .uuid: return "string"
        case .float, .double: return "number | \"NaN\" | \"Infinity\" | \"-Infinity\""
        case .mixed: return "unknown"
        case .object where property.leadsOut: return "{ $link: { hidden: true } }"
        case .object:
            let target = property.objectType ?? ""
            return (embedded.contains(target) ? "" : "Link | ") + rules.identifier(target).text
        }
    }
}
