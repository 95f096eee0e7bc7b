// SPDX-License-Identifier: Apache-2.0

internal import RealmAccess
internal import RealmFormats
internal import RealmPlatform
internal import RealmStorage

/// The parts that operations of a description share, in their final form: nested objects have named schemas, and everything has a
/// description and an example.
///
/// A description has those of them that it refers to, and no others.
struct OpenAPIComponents {
    /// The shared schemas, in the order of the document.
    let schemas: [(String, DocumentValue)]
    /// The same by name.
    private let byName: [ByteText: DocumentValue]
    /// The other shared parts, by their member of `components`.
    private let others: [(String, [(String, DocumentValue)])]

    /// Makes the shared parts of a description.
    ///
    /// - Parameters:
    ///   - ints: The form of integers in the responses that are described.
    ///   - limits: The limits of the server, which parameters and bodies state.
    ///   - examples: Examples of parameters by their names here, in the place of those of the sample.
    init(_ ints: OpenAPIDocument.Integers, _ limits: Limits, examples own: [ByteText: String] = [:]) {
        let split = OpenAPIComponents.raw(ints, limits).flatMap { OpenAPISchemaSplit.parts(of: $0, $1) }
        let found = Dictionary(texts: split) { first, _ in first }
        let examples = OpenAPIExamples { found[$0] }
        schemas = split.map { name, schema in
            (name, OpenAPIComponents.described(name, examples.completed(schema, named: name)))
        }
        byName = Dictionary(texts: schemas) { first, _ in first }
        let parameters =
            SharedParameter.all(limits).map { ($0.id, $0.document) } + [OpenAPIParts.intsParameter(ints)]
        others = [
            ("parameters", parameters.map { name, part in (name, own[name].map { part.illustrated(by: $0) } ?? part) }),
            ("responses", OpenAPIParts.commonResponses.map { ($0, OpenAPIExamples.illustrated($1)) }),
            ("headers", OpenAPIParts.headerFields),
        ]
    }

    /// The shared schemas as they are written down.
    private static func raw(_ ints: OpenAPIDocument.Integers, _ limits: Limits) -> [(String, DocumentValue)] {
        OpenAPISchemas.all(ints, limits) + OpenAPIWrites.schemas(limits) + OpenAPIChanges.schemas(ints, limits)
            + OpenAPIAccess.schemas
    }

    /// The names of all shared schemas, which those of classes must avoid. They do not depend on limits.
    static let names: [String] = OpenAPIComponents(.number, Limits()).schemas.map(\.0)

    /// Returns a shared schema; nil when there is none of this name.
    subscript(name: String) -> DocumentValue? { byName[name] }

    /// Returns the schema with a description, unless it has one.
    private static func described(_ name: String, _ schema: DocumentValue) -> DocumentValue {
        guard schema["description"] == nil else { return schema }
        return schema.describing(OpenAPITexts.schemas[name] ?? "Is the part \(words(name)) of a larger document.")
    }

    /// Returns the words of a name, as `batch operation result`.
    private static func words(_ name: String) -> String {
        name.reduce(into: "") { $0 += ($1.isUppercase && !$0.isEmpty ? " " : "") + $1.lowercased() }
    }

    /// Returns examples of parameters that name classes and properties of a realm.
    static func examples(of snapshot: Snapshot) -> [ByteText: String] {
        let tables = snapshot.classes.filter { $0.kind != .embedded }
        guard let first = tables.first?.className else { return [:] }
        let keys = Set(tables.map(\.key))
        let links = tables.lazy.flatMap { table in table.columns.lazy.map { (table, $0) } }.filter { _, column in
            column.type == .link && column.targetTable.map { keys.contains($0) } ?? false
        }
        let property = tables.lazy.flatMap(\.columns).first?.name ?? "name"
        guard let (origin, column) = links.first, let name = origin.className else {
            return ["ChangesClass": first, "OriginClass": first, "OriginProperty": property, "ChangesProperty": property]
        }
        return [
            "ChangesClass": first, "OriginClass": name, "OriginProperty": column.name,
            "ChangesProperty": "@links.\(name).\(column.name)",
        ]
    }

    // MARK: - References

    /// Returns the members of `components` that a document needs, in the order of the document.
    ///
    /// - Parameters:
    ///   - used: The direct references of the document, as in `schemas/Link`. Indirect references are found here.
    ///   - schemas: Schemas in addition to the shared ones, which come first.
    func members(
        usedBy used: Set<ByteText>, adding own: [(String, DocumentValue)] = []
    ) -> [(String, [(String, DocumentValue)])] {
        let all = closure(used)
        let examples = OpenAPIExamples { self[$0] }
        let chosen = own + schemas.filter { all.contains("schemas/" + $0.0) }
        let shown = schemas.filter { all.contains("examples/" + $0.0) }.map { name, schema -> (String, DocumentValue) in
            (name, OpenAPIExamples.component(examples.value(of: schema, named: name, depth: 0), of: name))
        }
        return [("schemas", chosen)]
            + others.map { kind, parts in (kind, parts.filter { all.contains(kind + "/" + $0.0) }) }
            + [("examples", shown), ("securitySchemes", OpenAPIAccess.securitySchemes)]
    }

    /// Returns the references, and the references of their targets.
    private func closure(_ used: Set<ByteText>) -> Set<ByteText> {
        var all: Set<ByteText> = []
        var waiting = Array(used)
        let parts = Dictionary(
            texts: others.flatMap { kind, parts in parts.map { ("\(kind)/\($0.0)", $0.1) } }
                + schemas.map { ("schemas/\($0.0)", $0.1) }
        ) { first, _ in first }
        while let next = waiting.popLast() {
            guard all.insert(next).inserted, let part = parts[next] else { continue }
            var found: Set<ByteText> = []
            OpenAPIComponents.collect(part, &found)
            waiting += found
        }
        return all
    }

    /// Adds the references in a value, as in `schemas/Link`.
    static func collect(_ value: DocumentValue, _ references: inout Set<ByteText>) {
        switch value {
        case .array(let elements): for element in elements { collect(element, &references) }
        case .object(let members):
            for member in members {
                if member.name == "$ref", let text = member.value.text { references.insert(String(text.dropFirst(13))) }
                collect(member.value, &references)
            }
        default: break
        }
    }
}

extension DocumentValue {
    /// Returns the description of a parameter with another example.
    fileprivate func illustrated(by example: String) -> DocumentValue {
        guard case .object(let members) = self else { return self }
        return .object(
            members.map { member in
                switch member.name {
                case "example": .init("example", .string(example))
                case "schema": .init("schema", member.value.illustrated(by: example))
                default: member
                }
            })
    }
}

extension OpenAPIExamples {
    /// Returns an operation or a response in which each media type has an example: that of its schema where the schema is
    /// shared.
    static func illustrated(_ value: DocumentValue) -> DocumentValue {
        guard case .object(let members) = value else { return value }
        return .object(
            members.map { member in
                guard member.name == "content" else { return .init(member.name, illustrated(member.value)) }
                return .init("content", .object(member.value.members.map { .init($0.name, media($0.value)) }))
            })
    }

    /// Returns a media type with an example.
    private static func media(_ value: DocumentValue) -> DocumentValue {
        guard let schema = value["schema"], value["example"] == nil else { return value }
        let references = (schema["anyOf"]?.elements ?? [schema]).compactMap { $0["$ref"]?.text?.split(separator: "/").last }
        if !references.isEmpty {
            let examples = references.map { name in
                let label = references.count == 1 ? "example" : String(name)
                return DocumentValue.Member(label, ["$ref": .string("#/components/examples/\(name)")])
            }
            return value.adding([.init("examples", .object(examples))])
        }
        let finished = shared.completed(schema, named: "value")
        let others = value.members.filter { $0.name != "schema" }
        let example = finished["example"] ?? shared.value(of: schema, named: "value", depth: 0)
        return .object([.init("schema", finished)] + others + [.init("example", example)])
    }

    /// Returns the example of a schema as a shared part.
    static func component(_ value: DocumentValue, of name: String) -> DocumentValue {
        [
            "summary": .string("An example of \(name)."),
            "description": .string("Shows a value that the schema \(name) permits."), "value": value,
        ]
    }
}
