// SPDX-License-Identifier: Apache-2.0

internal import RealmEngine
internal import RealmStorage

/// Class and entity relations as a Mermaid diagram.
enum MermaidRendering {
    /// A class diagram with the links between classes.
    static func text(_ classes: [ClassSchema]) -> String {
        var lines = ["classDiagram"]
        let rules = IdentifierRules(reserved: ["class", "end", "direction", "note"], quote: { "`\($0)`" })
        for one in classes {
            let name = rules.identifier(one.name).text
            lines.append("  class \(name) {")
            if one.kind != .topLevel { lines.append("    <<\(one.kind.schemaName)>>") }
            for property in one.properties { lines.append("    " + member(property, isKey: property.name == one.primaryKey)) }
            lines.append("  }")
            for property in one.properties {
                guard let target = property.objectType else { continue }
                let many = property.collection == nil ? "\"0..1\"" : "\"*\""
                lines.append("  \(name) --> \(many) \(rules.identifier(target).text) : \(property.name)")
            }
        }
        return lines.joined(separator: "\n") + "\n"
    }

    private static func member(_ property: PropertySchema, isKey: Bool) -> String {
        let element = (property.objectType ?? property.type.rawValue) + (property.isOptional ? "?" : "")
        let type = property.collection.map { "\($0.name)~\(element)~" } ?? element
        return "+\(type) \(property.name)" + (isKey ? " «key»" : "")
    }
}
