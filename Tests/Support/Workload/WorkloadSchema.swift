// SPDX-License-Identifier: Apache-2.0

/// A schema as a client learns it from the schema document.
package struct WorkloadSchema: Sendable {
    package struct Property: Sendable, Equatable {
        package var name: String
        package var type: String
        package var collection: String?
        package var isOptional: Bool
        package var index: String?
        package var target: String?

        /// The name as a member of an object.
        package var member: String { name.hasPrefix("$") ? "$" + name : name }

        /// Whether a query or path can name it plainly.
        package var isIdentifier: Bool { WorkloadSchema.isIdentifier(name) }
    }

    package struct Class: Sendable, Equatable {
        package var name: String
        package var kind: String
        package var primaryKey: String?
        package var properties: [Property]

        package var isEmbedded: Bool { kind == "embedded" }
        package subscript(name: String) -> Property? { properties.first { $0.name == name } }
        /// Properties that can change.
        package var changeable: [Property] { properties.filter { $0.name != primaryKey } }
        package var keyProperty: Property? { primaryKey.flatMap { self[$0] } }
    }

    package var version: Int64
    package var classes: [Class]

    /// No classes.
    package init() {
        version = 0
        classes = []
    }

    package init?(document: ParsedJSON) {
        guard let list = document["classes"]?.elements else { return nil }
        version = document["schemaVersion"]?.integer ?? 0
        classes = list.map { json in
            Class(
                name: json["name"]?.text ?? "", kind: json["type"]?.text ?? "object", primaryKey: json["primaryKey"]?.text,
                properties: (json["properties"]?.elements ?? []).map { WorkloadSchema.property($0) })
        }
    }

    private static func property(_ json: ParsedJSON) -> Property {
        Property(
            name: json["name"]?.text ?? "", type: json["type"]?.text ?? "", collection: json["collection"]?.text,
            isOptional: json["optional"] == .bool(true), index: json["indexed"]?.text, target: json["objectType"]?.text)
    }

    package subscript(name: String) -> Class? { classes.first { $0.name == name } }

    /// Changes a class in place.
    package mutating func change(_ name: String, _ body: (inout Class) -> Void) {
        guard let index = classes.firstIndex(where: { $0.name == name }) else { return }
        body(&classes[index])
    }

    /// Classes whose objects stand by themselves and have something to write.
    package var tops: [Class] { classes.filter { $0.kind == "object" && !$0.properties.isEmpty } }

    package func isEmbedded(_ property: Property) -> Bool {
        property.target.flatMap { self[$0] }?.isEmbedded ?? false
    }

    package static func isIdentifier(_ name: String) -> Bool {
        guard let first = name.utf8.first, isLetter(first) else { return false }
        return name.utf8.allSatisfy { isLetter($0) || (0x30...0x39).contains($0) }
    }

    private static func isLetter(_ byte: UInt8) -> Bool {
        (0x41...0x5a).contains(byte) || (0x61...0x7a).contains(byte) || byte == 0x5f
    }

    // MARK: - Comparison

    /// A text of a property's value as it was read that is equal for equal contents, whatever the order of sets and dictionaries.
    package func canonical(_ json: ParsedJSON, _ property: Property) -> String {
        switch (property.collection, json) {
        case ("list"?, .array(let elements)):
            return "[" + elements.map { element($0, property) }.joined(separator: ",") + "]"
        case ("set"?, .array(let elements)):
            return "<" + elements.map { element($0, property) }.sorted().joined(separator: ",") + ">"
        case ("dictionary"?, .object(let members)):
            let ordered = members.sorted { Array($0.name.utf8).lexicographicallyPrecedes(Array($1.name.utf8)) }
            let texts = ordered.map { ParsedJSON.quoted($0.name) + ":" + element($0.value, property) }
            return "{" + texts.joined(separator: ",") + "}"
        default: return element(json, property)
        }
    }

    private func element(_ json: ParsedJSON, _ property: Property) -> String {
        guard property.type == "object", case .object = json, let target = property.target.flatMap({ self[$0] }),
            target.isEmbedded
        else {
            return json.canonical
        }
        let members = target.properties.map { "\($0.name):\(text(json[$0.member], $0))" }
        return "(" + members.joined(separator: " ") + ")"
    }

    private func text(_ json: ParsedJSON?, _ property: Property) -> String {
        json.map { canonical($0, property) } ?? "missing"
    }
}
