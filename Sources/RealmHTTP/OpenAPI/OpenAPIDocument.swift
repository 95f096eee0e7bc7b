// SPDX-License-Identifier: Apache-2.0

/// The description of the whole API: OpenAPI 3.0.3, because generators still mishandle the nullability of 3.1.
package enum OpenAPIDocument {
    /// How integers are written: a client is generated for one of the two.
    package enum Integers: String, Sendable, CaseIterable {
        case number, string

        /// The schema of an integer.
        var schema: DocumentValue {
            switch self {
            case .number: return ["type": "integer", "format": "int64"]
            case .string: return ["type": "string", "pattern": "^-?[0-9]+$"]
            }
        }
    }

    /// The document that `/v1/openapi.json` serves and `openapi/openapi.yaml` holds.
    package static func api(version: String, ints: Integers = .number) -> DocumentValue {
        [
            "openapi": "3.0.3",
            "info": [
                "title": "realm-rest", "version": .string(version),
                "description": "Realm databases over HTTP and JSON.",
                "license": ["name": "Apache-2.0", "url": "https://www.apache.org/licenses/LICENSE-2.0"],
            ],
            "servers": [["url": "/"]],
            "paths": .object(paths.map { DocumentValue.Member($0, $1) }),
            "components": components(ints, adding: []),
        ]
    }

    /// Shared parameters, responses and schemas, with more schemas behind them.
    static func components(_ ints: Integers, adding schemas: [(String, DocumentValue)]) -> DocumentValue {
        [
            "parameters": .object(
                (OpenAPIParts.parameters + OpenAPIWrites.parameters + OpenAPIChanges.parameters + OpenAPIChanges.writeParameters
                    + [OpenAPIParts.intsParameter(ints)]).map { DocumentValue.Member($0, $1) }),
            "responses": .object(OpenAPIParts.commonResponses.map { DocumentValue.Member($0, $1) }),
            "schemas": .object(
                (OpenAPISchemas.all(ints) + OpenAPIWrites.schemas + OpenAPIChanges.schemas(ints) + schemas).map {
                    DocumentValue.Member($0, $1)
                }),
        ]
    }

    /// The parameters of a list by URL, in the order of the documentation.
    static let listParameters = [
        "Where", "Args", "Sort", "Distinct", "Limit", "After", "Offset", "Count", "Fields", "Expand", "Meta", "Ints", "Format",
        "At", "IndexOf", "IndexOfWhere", "Explain", "SectionBy", "Section", "Snapshot", "IfNoneMatch", "RealmTransaction",
        "RealmMinVersion",
        "RequestId",
    ]
    static let objectParameters = [
        "Fields", "Expand", "Meta", "Ints", "DocumentFormat", "Snapshot", "IfNoneMatch", "RealmTransaction", "RealmMinVersion",
        "RequestId",
    ]
    static let aggregateParameters = [
        "Where", "Args", "Operations", "Ints", "DocumentFormat", "Snapshot", "IfNoneMatch", "RealmTransaction", "RealmMinVersion",
        "RequestId",
    ]
    static let propertyParameters = [
        "Where", "Args", "Sort", "Distinct", "Limit", "After", "Offset", "Count", "Fields", "Expand", "Meta", "Ints", "Format",
        "Snapshot", "IfNoneMatch", "RealmTransaction", "RealmMinVersion", "RequestId",
    ]

    static func operation(
        _ id: String, _ summary: String, tag: String, parameters: [String] = [], body: String? = nil,
        responses: DocumentValue
    ) -> DocumentValue {
        .members(
            ("operationId", .string(id)), ("summary", .string(summary)), ("tags", [.string(tag)]),
            ("parameters", parameters.isEmpty ? nil : .array(parameters.map(OpenAPIParts.parameter))),
            (
                "requestBody",
                body.map { name in
                    ["required": true, "content": ["application/json": ["schema": OpenAPIParts.schema(name)]]]
                }
            ),
            ("responses", responses))
    }

    private static let paths: [(String, DocumentValue)] =
        OpenAPIWrites.adding(to: realmPaths + objectPaths) + OpenAPIChanges.paths + operationalPaths

    private static let realmPaths: [(String, DocumentValue)] = [
        (
            "/v1/realms",
            [
                "get": operation(
                    "listRealms", "The realms that are served.", tag: "realms", parameters: ["RequestId"],
                    responses: plain("Realms.", "RealmPage"))
            ]
        ),
        (
            "/v1/realms/{realm}",
            [
                "get": operation(
                    "getRealm", "Facts about one realm.", tag: "realms", parameters: ["Realm", "RequestId"],
                    responses: plain("The realm.", "RealmDocument"))
            ]
        ),
        (
            "/v1/realms/{realm}/schema",
            [
                "get": operation(
                    "getSchema", "The schema of a realm.", tag: "schema",
                    parameters: ["Realm", "SchemaFormat", "Snapshot", "IfNoneMatch", "RequestId"],
                    responses: schemaResponses("SchemaDocument"))
            ]
        ),
        (
            "/v1/realms/{realm}/schema/{class}",
            [
                "get": operation(
                    "getClass", "The schema of one class.", tag: "schema",
                    parameters: ["Realm", "Class", "SchemaFormat", "Snapshot", "IfNoneMatch", "RequestId"],
                    responses: schemaResponses("SchemaClass"))
            ]
        ),
        (
            "/v1/realms/{realm}/openapi.json",
            [
                "get": operation(
                    "getRealmOpenAPI", "The description of this API for the classes of one realm.", tag: "schema",
                    parameters: ["Realm", "DocumentInts", "IfNoneMatch", "RequestId"],
                    responses: anyObject("An OpenAPI document."))
            ]
        ),
    ]

    private static let objectPaths: [(String, DocumentValue)] = [
        (
            "/v1/realms/{realm}/objects/{class}",
            [
                "get": operation(
                    "listObjects", "Objects of a class: filtered, sorted, page by page.", tag: "objects",
                    parameters: ["Realm", "Class"] + listParameters, responses: list("ObjectPage"))
            ]
        ),
        (
            "/v1/realms/{realm}/objects/{class}/{key}",
            [
                "get": operation(
                    "getObject", "One object.", tag: "objects", parameters: ["Realm", "Class", "Key"] + objectParameters,
                    responses: OpenAPIParts.responses(OpenAPIParts.document("The object.", OpenAPIParts.schema("Object"))))
            ]
        ),
        (
            "/v1/realms/{realm}/objects/{class}/{key}/{property}",
            [
                "get": operation(
                    "getProperty", "One property: its value, or a page of a collection.", tag: "objects",
                    parameters: ["Realm", "Class", "Key", "Property"] + propertyParameters, responses: propertyResponses)
            ]
        ),
        (
            "/v1/realms/{realm}/objects/{class}/{key}/@links/{originClass}/{originProperty}",
            [
                "get": operation(
                    "getLinkingObjects", "The objects that link to one object.", tag: "objects",
                    parameters: ["Realm", "Class", "Key", "OriginClass", "OriginProperty"] + propertyParameters,
                    responses: list("ObjectPage"))
            ]
        ),
        (
            "/v1/realms/{realm}/query/{class}",
            [
                "post": operation(
                    "queryObjects", "The same as a list, with the parameters in a body.", tag: "objects",
                    parameters: ["Realm", "Class", "Format", "IfNoneMatch", "RequestId"], body: "QueryBody",
                    responses: list("ObjectPage"))
            ]
        ),
        (
            "/v1/realms/{realm}/aggregate/{class}",
            [
                "get": operation(
                    "aggregate", "Count, minimum, maximum, sum and average.", tag: "objects",
                    parameters: ["Realm", "Class"] + aggregateParameters, responses: aggregates),
                "post": operation(
                    "aggregateByBody", "The same, with the parameters in a body.", tag: "objects",
                    parameters: ["Realm", "Class", "DocumentFormat", "IfNoneMatch", "RequestId"], body: "AggregateBody",
                    responses: aggregates),
            ]
        ),
    ]

    private static let operationalPaths: [(String, DocumentValue)] = [
        (
            "/v1/openapi.json",
            [
                "get": operation(
                    "getOpenAPI", "This document.", tag: "operations", parameters: ["DocumentInts", "IfNoneMatch", "RequestId"],
                    responses: anyObject("An OpenAPI document."))
            ]
        ),
        ("/healthz", ["get": operation("health", "Whether the process answers.", tag: "operations", responses: status)]),
        ("/readyz", ["get": operation("ready", "Whether every realm is open.", tag: "operations", responses: status)]),
        (
            "/metrics",
            [
                "get": operation(
                    "metrics", "Metrics in the Prometheus text format.", tag: "operations",
                    responses: OpenAPIParts.responses(
                        ["description": "Metrics.", "content": ["text/plain": ["schema": OpenAPIParts.text]]],
                        isConditional: false))
            ]
        ),
    ]

    // MARK: - Responses

    static func list(_ schema: String) -> DocumentValue {
        OpenAPIParts.responses(
            OpenAPIParts.document("A page.", OpenAPIParts.schema(schema), isTabular: true),
            isConditional: true
        ).adding([.init("422", OpenAPIParts.response("Problem"))])
    }

    static let aggregates = OpenAPIParts.responses(
        OpenAPIParts.document("The results.", OpenAPIParts.schema("Aggregates"))
    )
    .adding([.init("422", OpenAPIParts.response("Problem"))])

    private static let propertyResponses: DocumentValue = {
        let page = OpenAPIParts.document("The value, or a page.", OpenAPIParts.schema("PropertyPage"), isTabular: true)
        guard case .object(let members) = page, case .object(let content)? = page["content"] else { return page }
        let raw = DocumentValue.Member("application/octet-stream", ["schema": ["type": "string", "format": "binary"]])
        let success = DocumentValue.object(
            members.map { $0.name == "content" ? .init("content", .object(content + [raw])) : $0 })
        return OpenAPIParts.responses(success).adding([
            .init("204", ["description": "The data property is null.", "headers": OpenAPIParts.headers])
        ])
    }()

    private static func plain(_ description: String, _ schema: String) -> DocumentValue {
        OpenAPIParts.responses(OpenAPIParts.document(description, OpenAPIParts.schema(schema)))
    }

    private static func schemaResponses(_ schema: String) -> DocumentValue {
        OpenAPIParts.responses([
            "description": "The schema.", "headers": OpenAPIParts.readHeaders,
            "content": [
                "application/json": ["schema": OpenAPIParts.schema(schema)],
                "application/schema+json": ["schema": ["type": "object"]],
                "text/plain": ["schema": OpenAPIParts.text],
            ],
        ])
    }

    private static func anyObject(_ description: String) -> DocumentValue {
        OpenAPIParts.responses([
            "description": .string(description), "headers": OpenAPIParts.headers,
            "content": ["application/json": ["schema": ["type": "object"]]],
        ])
    }

    private static let status = OpenAPIParts.responses(
        ["description": "Yes.", "content": ["application/json": ["schema": OpenAPIParts.schema("Status")]]],
        isConditional: false)
}
