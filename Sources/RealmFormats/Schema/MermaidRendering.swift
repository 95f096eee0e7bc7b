// SPDX-License-Identifier: Apache-2.0

internal import RealmEngine
internal import RealmPlatform
internal import RealmStorage

/// Schemas as class diagrams in the language of Mermaid, for documentation.
enum MermaidRendering {
    /// Returns a class diagram with the properties of each class and the links between classes.
    ///
    /// - Parameter classes: The classes, in the order of the diagram.
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
                lines.append("  \(name) --> \(many) \(rules.identifier(target).text) : \(oneLine(property.name))")
            }
        }
        return lines.joined(separator: "\n") + "\n"
    }

    /// Returns the line of one property: its type, its name, and a mark for the primary key.
    ///
    /// Optional types have a question mark, and links have the name of the class that they point to.
    ///
    /// - Parameters:
    ///   - property: The property. A collection is shown with its kind around the type of an
    ///     element.
    ///   - isKey: Whether it is the primary key.
    private static func member(_ property: PropertySchema, isKey: Bool) -> String {
        let element = oneLine(property.objectType ?? property.type.rawValue) + (property.isOptional ? "?" : "")
        let type = property.collection.map { "\($0.name)~\(element)~" } ?? element
        return "+\(type) \(oneLine(property.name))" + (isKey ? " «key»" : "")
    }

    /// Returns a name in the form for a line of a diagram. Line breaks and the characters that end a class or a label become
    /// underscores.
    private static func oneLine(_ name: String) -> String {
        var text = ""
        for scalar in name.unicodeScalars {
            let isSpecial = scalar.properties.generalCategory == .control || ["{", "}", ":", ";"].contains(scalar)
            text.unicodeScalars.append(isSpecial ? "_" : scalar)
        }
        return text
    }
}
