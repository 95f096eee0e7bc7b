// SPDX-License-Identifier: Apache-2.0

package import RealmEngine
package import RealmPlatform
internal import RealmStorage

/// A form in which a schema is shown to people and tools. The raw value is that of the parameter `format`.
package enum SchemaFormat: String, Sendable, CaseIterable {
    /// The JSON document in the form of this server, from `SchemaDocument`.
    case json
    /// A JSON Schema document for checking objects of a class.
    case jsonSchema = "json-schema"
    /// Source text for people: model classes in Swift or Kotlin, interfaces in TypeScript, or a class diagram for Mermaid.
    case swift, kotlin, typescript, mermaid

    /// The value of the header field `Content-Type` for a schema in this form.
    package var mediaType: StaticString {
        switch self {
        case .json: return "application/json"
        case .jsonSchema: return "application/schema+json"
        case .swift, .kotlin, .typescript, .mermaid: return "text/plain; charset=utf-8"
        }
    }

    /// Returns the text of a whole schema. `write` makes the same text with less memory.
    ///
    /// - Parameter schema: The classes of a realm.
    package func text(_ schema: RealmSchema) -> String {
        switch self {
        case .json: return SchemaDocument.document(schema).json
        case .jsonSchema: return JSONSchemaRendering.document(schema).json
        case .swift: return SwiftRendering().text(schema.classes)
        case .kotlin: return KotlinRendering().text(schema.classes)
        case .typescript: return TypeScriptRendering(embedded: schema.embeddedNames).text(schema.classes)
        case .mermaid: return MermaidRendering.text(schema.classes)
        }
    }

    /// Writes the text of a whole schema, class by class.
    ///
    /// - Parameters:
    ///   - schema: The classes of a realm.
    ///   - buffer: The buffer that the text is appended to.
    ///   - budget: The work that the request may do; each class is charged by the number of its
    ///     properties.
    /// - Throws: `StorageError` when the budget is used up, or when the text is longer than a
    ///   response may be.
    package func write(_ schema: RealmSchema, to buffer: OutputBuffer, _ budget: WorkBudget) throws(StorageError) {
        let (head, separator, end) = frame(schema)
        let embedded = schema.embeddedNames
        buffer.append(head)
        for (index, one) in schema.classes.enumerated() {
            if index > 0 { buffer.append(separator) }
            buffer.append(part(one, embedded))
            try budget.spend(one.properties.count * SchemaFormat.unitsPerProperty)
            try budget.requireRoom(for: buffer.count)
        }
        buffer.append(end)
    }

    /// The units of work that a request is charged with for each property that is written.
    private static let unitsPerProperty = 16

    /// Returns the text around the classes and between them.
    ///
    /// - Parameter schema: The schema, whose version comes before its classes in JSON.
    /// - Returns: The text before the first class, between two classes, and after the last one.
    private func frame(_ schema: RealmSchema) -> (head: String, separator: String, end: String) {
        switch self {
        case .json:
            let version = SchemaDocument.version(of: schema).json
            return ("{\"schemaVersion\":\(version),\"classes\":[", ",", "]}")
        case .jsonSchema: return ("{\"$schema\":\(JSONSchemaRendering.dialect.json),\"$defs\":{", ",", "}}")
        case .swift: return (SwiftRendering().head, "\n", "")
        case .kotlin: return (KotlinRendering().head, "\n", "")
        case .typescript: return (TypeScriptRendering(embedded: []).head, "\n", "")
        case .mermaid: return ("classDiagram\n", "", "")
        }
    }

    /// Returns the text of one class as it appears in that of the whole schema.
    private func part(_ one: ClassSchema, _ embedded: Set<ByteText>) -> String {
        switch self {
        case .json: return SchemaDocument.document(one).json
        case .jsonSchema: return DocumentValue.string(one.name).json + ":" + JSONSchemaRendering.definition(one).json
        case .swift: return SwiftRendering().text(one)
        case .kotlin: return KotlinRendering().text(one)
        case .typescript: return TypeScriptRendering(embedded: embedded).text(one)
        case .mermaid: return String(MermaidRendering.text([one]).dropFirst("classDiagram\n".count))
        }
    }

    /// Returns the text of one class as a separate document.
    ///
    /// - Parameters:
    ///   - schema: The schema that it is a part of; nil for a class that links to no embedded ones.
    package func text(_ one: ClassSchema, of schema: RealmSchema? = nil) -> String {
        switch self {
        case .json: return SchemaDocument.document(one).json
        case .jsonSchema: return JSONSchemaRendering.document(one).json
        case .swift: return SwiftRendering().text([one])
        case .kotlin: return KotlinRendering().text([one])
        case .typescript: return TypeScriptRendering(embedded: schema?.embeddedNames ?? []).text([one])
        case .mermaid: return MermaidRendering.text([one])
        }
    }
}

extension RealmSchema {
    /// The names of the embedded classes.
    fileprivate var embeddedNames: Set<ByteText> { Set(texts: classes.lazy.filter { $0.kind == .embedded }.map(\.name)) }
}
