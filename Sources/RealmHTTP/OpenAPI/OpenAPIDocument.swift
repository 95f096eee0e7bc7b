// SPDX-License-Identifier: Apache-2.0

internal import RealmAccess
internal import RealmFormats
internal import RealmPlatform
internal import RealmStorage

/// The description of the whole HTTP interface as an OpenAPI document.
///
/// The version is 3.0.3, because code generators still mishandle the nullability of 3.1. This type assembles the document from
/// the operations of `RouteTable` and from shared parts; `OpenAPIRealm` makes the document of a single realm from the same
/// parts. Responses that several operations have alike are here too.
package enum OpenAPIDocument {
    /// The form in which a document describes integers.
    ///
    /// The query parameter `ints` decides at run time whether a response has integers as numbers or
    /// as strings. A generated client can read only one of the two, so each document describes one.
    package enum Integers: String, Sendable, CaseIterable {
        /// `number`: integers are JSON numbers with all their digits. `string`: integers are strings of decimal digits, for
        /// clients whose numbers are doubles and would lose digits beyond 2^53.
        case number, string

        /// The schema of a 64-bit integer in this form.
        var schema: DocumentValue {
            switch self {
            case .number: return ["type": "integer", "format": "int64"]
            case .string: return ["type": "string", "pattern": "^-?[0-9]+$"]
            }
        }
    }

    /// The level of detail of a description of a realm.
    package enum Profile: String, Sendable, CaseIterable {
        /// `full`: every operation with every parameter. `simple`: the six common operations of each class with the few
        /// parameters that most requests need, for generators that make a positional argument of each.
        case full, simple
    }

    /// The groups of operations, with their subjects.
    private static let tags: [(String, String)] = [
        ("realms", "The realms that are served."), ("schema", "Schemas and their migrations."),
        ("objects", "Objects, queries and aggregates."), ("transfer", "Exports, imports and backups."),
        ("transactions", "Interactive transactions, and asynchronous writes."),
        ("snapshots", "Snapshots, which hold a version for later reads."),
        ("changes", "Subscriptions, and streams of changes."), ("operations", "Health, metrics and descriptions of the API."),
        ("access", "Credentials, roles and rights."),
    ]

    /// Returns the list of tags of a document.
    ///
    /// - Parameters:
    ///   - used: The names of the tags that operations have.
    ///   - classes: Tags of classes with their descriptions, which come first.
    static func tagList(_ used: Set<ByteText>, classes: [(String, String)] = []) -> DocumentValue {
        .array(
            (classes + tags.filter { used.contains($0.0) }).map { ["name": .string($0.0), "description": .string($0.1)] })
    }

    /// The server that a document names. Clients of a document that was fetched resolve it against where it was.
    static let servers: DocumentValue = [["url": "/", "description": "The server that this document is from."]]

    /// Returns the member `info` of a document.
    ///
    /// - Parameters:
    ///   - version: The version of this program.
    static func info(_ title: String, version: String, _ description: String) -> DocumentValue {
        [
            "title": .string(title), "version": .string(version), "description": .string(description),
            "license": ["name": "Apache-2.0", "url": "https://www.apache.org/licenses/LICENSE-2.0"],
        ]
    }

    /// Assembles the document that describes the interface without any realm's classes.
    ///
    /// - Parameters:
    ///   - version: The version of this program, shown as the version of the interface.
    ///   - ints: The form of integers in the responses that are described.
    ///   - limits: The limits of the server, which parameters and bodies state.
    ///   - paths: Each path pattern with an object of its operations, in the order of the
    ///     document.
    /// - Returns: A complete OpenAPI 3.0.3 document.
    static func document(
        version: String, ints: Integers, limits: Limits, paths: [(String, DocumentValue)]
    ) -> DocumentValue {
        var used: Set<ByteText> = []
        for (_, path) in paths { OpenAPIComponents.collect(path, &used) }
        let tags = Set(texts: paths.flatMap { $0.1.members.flatMap { $0.value["tags"]?.elements.compactMap(\.text) ?? [] } })
        return [
            "openapi": "3.0.3",
            "info": info(
                "realm-rest", version: version,
                "Serves Realm databases over HTTP with JSON documents. The classes of a realm have a document of their own at /v1/realms/{realm}/openapi.json."
            ),
            "servers": servers, "security": OpenAPIAccess.security, "tags": tagList(tags),
            "paths": .object(paths.map { DocumentValue.Member($0, $1) }),
            "components": .object(
                OpenAPIComponents(ints, limits).members(usedBy: used).filter { !$0.1.isEmpty }.map { kind, parts in
                    .init(kind, .object(parts.map { .init($0, $1) }))
                }),
        ]
    }

    /// The names of the shared parameters of an operation that lists objects, in the order of the documentation.
    static let listParameters = [
        "Where", "Args", "Sort", "Distinct", "Limit", "After", "Offset", "Count", "Fields", "Expand", "Meta", "Ints", "Format",
        "At", "IndexOf", "IndexOfWhere", "Explain", "SectionBy", "Section", "Facets", "Snapshot", "ReadVersion", "IfNoneMatch",
        "RealmTransaction", "RealmMinVersion", "RealmRead", "RequestId",
    ]
    /// The names of the shared parameters of an operation that reads one property.
    static let propertyParameters =
        listParameters.map { $0 == "Format" ? "PropertyFormat" : $0 } + ["Download", "Range", "IfRange"]
    /// The names of the shared parameters of an operation that reads one object.
    static let objectParameters = [
        "Fields", "Expand", "Meta", "Ints", "DocumentFormat", "Snapshot", "ReadVersion", "IfNoneMatch", "RealmTransaction",
        "RealmMinVersion",
        "RealmRead",
        "RequestId",
    ]
    /// The names of the shared parameters of an operation that computes aggregates.
    static let aggregateParameters = [
        "Where", "Args", "Operations", "GroupBy", "Having", "GroupSort", "Limit", "After", "Offset", "Count", "Ints",
        "DocumentFormat",
        "Snapshot", "ReadVersion", "IfNoneMatch", "RealmTransaction", "RealmMinVersion", "RealmRead", "RequestId",
    ]

    /// The names of the shared parameters of an operation that runs SQL.
    static let sqlParameters = [
        "SQL", "SQLArgs", "Ints", "Format", "Explain", "Snapshot", "RealmTransaction", "RealmMinVersion", "RealmRead",
        "RequestId",
    ]

    // MARK: - Responses

    /// The responses of an operation that runs SQL.
    static let sqlResponses = OpenAPIParts.responses(
        OpenAPIParts.document("The body has the rows of the result.", OpenAPIParts.schema("SQLResult"), isTabular: true),
        isConditional: false)

    /// Returns the responses of an operation that lists objects.
    ///
    /// - Parameter schema: The name of the shared schema of one page.
    /// - Returns: An object of responses by status, with 422 among the errors. The page is offered
    ///   as JSON, Extended JSON, NDJSON and CSV.
    static func list(_ schema: String) -> DocumentValue {
        OpenAPIParts.responses(
            OpenAPIParts.document("The body is one page of the result.", OpenAPIParts.schema(schema), isTabular: true),
            isConditional: true
        )
    }

    /// The responses of an operation that computes aggregates.
    ///
    /// Status 422 covers a sum beyond 64 bits, and a property of a type that the operation does not take.
    static let aggregates = OpenAPIParts.responses(
        OpenAPIParts.document("The body holds one result per operation.", OpenAPIParts.schema("Aggregates"))
    )

    /// The responses of an operation that reads a property.
    ///
    /// Besides JSON the body may be the raw bytes of a data property; a data property that is null is 204 in that form.
    static let propertyResponses: DocumentValue = {
        let page = OpenAPIParts.document(
            "The body is the value, or one page of a collection.", OpenAPIParts.schema("PropertyPage"), isTabular: true)
        guard case .object(let members) = page, case .object(let content)? = page["content"] else { return page }
        // Each type in which a link can be answered is written out: a range of types would include JSON.
        let raw = DataType.all.map { DocumentValue.Member($0, ["schema": ["type": "string", "format": "binary"]]) }
        let success = DocumentValue.object(
            members.map { $0.name == "content" ? .init("content", .object(content + raw)) : $0 })
        return OpenAPIParts.responses(success).adding([
            .init("204", ["description": "The data property is null.", "headers": OpenAPIParts.headers]),
            .init(
                "206",
                [
                    "description": "The body is a part of the bytes of a data property.", "headers": OpenAPIParts.headers,
                    "content": ["*/*": ["schema": ["type": "string", "format": "binary"]]],
                ]),
        ])
    }()

    /// Returns the responses of a read whose body is one document of a shared schema, and which has no entity tag.
    ///
    /// - Parameters:
    ///   - description: A sentence about the body of the 200 response.
    ///   - schema: The name of the shared schema of that body.
    ///   - headers: The header fields of the 200 response.
    static func plain(_ description: String, _ schema: String, headers: DocumentValue) -> DocumentValue {
        let document = OpenAPIParts.document(description, OpenAPIParts.schema(schema))
        return OpenAPIParts.responses(
            .object(document.members.map { $0.name == "headers" ? .init("headers", headers) : $0 }), isConditional: false)
    }

    /// Returns the responses of a read whose body is an OpenAPI document.
    ///
    /// - Parameter headers: The header fields of the 200 response.
    static func description(headers: DocumentValue) -> DocumentValue {
        OpenAPIParts.responses([
            "description": "The body is an OpenAPI document.", "headers": headers,
            "content": ["application/json": ["schema": OpenAPIParts.schema("OpenAPI")]],
        ])
    }

    /// Returns the responses of an operation that shows a schema.
    ///
    /// Besides JSON in the form of this server the body may be a JSON Schema document, or source
    /// text in one of several languages.
    ///
    /// - Parameter schema: The name of the shared schema of the JSON form.
    static func schemaResponses(_ schema: String) -> DocumentValue {
        OpenAPIParts.responses([
            "description": "The body is the schema in the requested form.", "headers": OpenAPIParts.readHeaders,
            "content": [
                "application/json": ["schema": OpenAPIParts.schema(schema)],
                "application/schema+json": ["schema": OpenAPIParts.schema("JSONSchema")],
                "text/plain": ["schema": OpenAPIParts.text.adding([.init("example", "struct Category {}")])],
            ],
        ])
    }

    /// Returns the responses of a health check.
    ///
    /// - Parameter description: A sentence about the checks that it passes.
    static func status(_ description: String) -> DocumentValue {
        OpenAPIParts.responses(
            [
                "description": .string(description), "headers": OpenAPIParts.headers,
                "content": ["application/json": ["schema": OpenAPIParts.schema("Status")]],
            ],
            isConditional: false)
    }
}
