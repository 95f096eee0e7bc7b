// SPDX-License-Identifier: Apache-2.0

internal import RealmEngine
internal import RealmStorage

/// Interfaces of objects as the JSON of this server has them.
struct TypeScriptRendering {
    private let rules = IdentifierRules(
        reserved: ["any", "boolean", "number", "string", "object", "null", "undefined", "never", "unknown", "void", "symbol"],
        quote: { "\($0)_" })

    /// The type of links, which stands before all classes.
    let head = "export interface Link { $link: { class: string; key: string } }\n\n"

    /// The source of all classes.
    func text(_ classes: [ClassSchema]) -> String {
        head + classes.map { text($0) }.joined(separator: "\n")
    }

    /// The source of one class.
    func text(_ one: ClassSchema) -> String {
        var lines = ["export interface \(rules.identifier(one.name).text) {"]
        if one.kind != .embedded { lines.append("  $meta?: { class: string; key: string; etag?: string };") }
        for property in one.properties {
            let stored = property.name.hasPrefix("$") ? "$" + property.name : property.name
            let isPlain = !rules.identifier(stored).isMapped
            lines.append("  \(isPlain ? stored : quoted(stored)): \(type(property));")
        }
        return (lines + ["}", ""]).joined(separator: "\n")
    }

    private func type(_ property: PropertySchema) -> String {
        let element = element(property) + (property.isOptional && property.type != .mixed ? " | null" : "")
        switch property.collection {
        case nil: return element
        case .list, .set: return "Array<\(element)>"
        case .dictionary: return "Record<string, \(element)>"
        }
    }

    private func element(_ property: PropertySchema) -> String {
        switch property.type {
        case .int: return "number"
        case .bool: return "boolean"
        case .string, .data, .date, .decimal128, .objectId, .uuid: return "string"
        case .float, .double: return "number | \"NaN\" | \"Infinity\" | \"-Infinity\""
        case .mixed: return "unknown"
        case .object: return "Link | \(rules.identifier(property.objectType ?? "").text)"
        }
    }
}
