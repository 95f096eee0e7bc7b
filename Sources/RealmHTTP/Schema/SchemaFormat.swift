// SPDX-License-Identifier: Apache-2.0

package import RealmEngine
package import RealmStorage

/// A rendering of a schema for people and tools.
package enum SchemaFormat: String, Sendable, CaseIterable {
    case json
    case jsonSchema = "json-schema"
    case swift, kotlin, typescript, mermaid

    /// The value of `Content-Type`.
    package var mediaType: StaticString {
        switch self {
        case .json: return "application/json"
        case .jsonSchema: return "application/schema+json"
        case .swift, .kotlin, .typescript, .mermaid: return "text/plain; charset=utf-8"
        }
    }

    /// The text of a whole schema.
    package func text(_ schema: RealmSchema) -> String {
        switch self {
        case .json: return SchemaDocument.document(schema).json
        case .jsonSchema: return JSONSchemaRendering.document(schema).json
        case .swift: return SwiftRendering().text(schema.classes)
        case .kotlin: return KotlinRendering().text(schema.classes)
        case .typescript: return TypeScriptRendering().text(schema.classes)
        case .mermaid: return MermaidRendering.text(schema.classes)
        }
    }

    /// The text of a whole schema, written class by class.
    package func write(_ schema: RealmSchema, to buffer: OutputBuffer, _ budget: WorkBudget) throws(StorageError) {
        let (head, separator, end) = frame(schema)
        buffer.append(head)
        for (index, one) in schema.classes.enumerated() {
            if index > 0 { buffer.append(separator) }
            buffer.append(part(one))
            try budget.spend(one.properties.count * SchemaFormat.unitsPerProperty)
            try budget.requireRoom(for: buffer.count)
        }
        buffer.append(end)
    }

    private static let unitsPerProperty = 16

    /// What stands around the classes and between them.
    private func frame(_ schema: RealmSchema) -> (head: String, separator: String, end: String) {
        switch self {
        case .json:
            let version = SchemaDocument.version(of: schema).json
            return ("{\"schemaVersion\":\(version),\"classes\":[", ",", "]}")
        case .jsonSchema: return ("{\"$schema\":\(JSONSchemaRendering.dialect.json),\"$defs\":{", ",", "}}")
        case .swift: return (SwiftRendering().head, "\n", "")
        case .kotlin: return (KotlinRendering().head, "\n", "")
        case .typescript: return (TypeScriptRendering().head, "\n", "")
        case .mermaid: return ("classDiagram\n", "", "")
        }
    }

    private func part(_ one: ClassSchema) -> String {
        switch self {
        case .json: return SchemaDocument.document(one).json
        case .jsonSchema: return DocumentValue.string(one.name).json + ":" + JSONSchemaRendering.definition(one).json
        case .swift: return SwiftRendering().text(one)
        case .kotlin: return KotlinRendering().text(one)
        case .typescript: return TypeScriptRendering().text(one)
        case .mermaid: return String(MermaidRendering.text([one]).dropFirst("classDiagram\n".count))
        }
    }

    /// The text of one class.
    package func text(_ one: ClassSchema) -> String {
        switch self {
        case .json: return SchemaDocument.document(one).json
        case .jsonSchema: return JSONSchemaRendering.document(one).json
        case .swift: return SwiftRendering().text([one])
        case .kotlin: return KotlinRendering().text([one])
        case .typescript: return TypeScriptRendering().text([one])
        case .mermaid: return MermaidRendering.text([one])
        }
    }
}
