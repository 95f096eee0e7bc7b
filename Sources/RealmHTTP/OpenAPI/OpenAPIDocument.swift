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

    /// The document of the whole interface, with the operations in `paths`.
    static func document(
        version: String, ints: Integers, pageLimit: Int, paths: [(String, DocumentValue)]
    ) -> DocumentValue {
        [
            "openapi": "3.0.3",
            "info": [
                "title": "realm-rest", "version": .string(version),
                "description": "Serves Realm databases over HTTP with JSON documents.",
                "license": ["name": "Apache-2.0", "url": "https://www.apache.org/licenses/LICENSE-2.0"],
            ],
            "servers": [["url": "/"]],
            "paths": .object(paths.map { DocumentValue.Member($0, $1) }),
            "components": components(ints, pageLimit: pageLimit, adding: []),
        ]
    }

    /// Shared parameters, responses and schemas, with more schemas behind them.
    static func components(
        _ ints: Integers, pageLimit: Int, adding schemas: [(String, DocumentValue)]
    ) -> DocumentValue {
        [
            "parameters": .object(
                (OpenAPIParts.parameters(pageLimit: pageLimit) + OpenAPIWrites.parameters + OpenAPIChanges.parameters
                    + OpenAPIChanges.writeParameters
                    + [OpenAPIParts.intsParameter(ints)]).map { DocumentValue.Member($0, $1) }),
            "responses": .object(OpenAPIParts.commonResponses.map { DocumentValue.Member($0, $1) }),
            "schemas": .object(
                (OpenAPISchemas.all(ints, pageLimit: pageLimit) + OpenAPIWrites.schemas + OpenAPIChanges.schemas(ints) + schemas)
                    .map {
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
    /// The parameters of a read of one object.
    static let objectParameters = [
        "Fields", "Expand", "Meta", "Ints", "DocumentFormat", "Snapshot", "IfNoneMatch", "RealmTransaction", "RealmMinVersion",
        "RequestId",
    ]
    /// The parameters of aggregates.
    static let aggregateParameters = [
        "Where", "Args", "Operations", "Ints", "DocumentFormat", "Snapshot", "IfNoneMatch", "RealmTransaction", "RealmMinVersion",
        "RequestId",
    ]
    /// The parameters of a property; most of them are for collections.
    static let propertyParameters = [
        "Where", "Args", "Sort", "Distinct", "Limit", "After", "Offset", "Count", "Fields", "Expand", "Meta", "Ints", "Format",
        "Snapshot", "IfNoneMatch", "RealmTransaction", "RealmMinVersion", "RequestId",
    ]

    // MARK: - Responses

    /// The responses of a list whose pages have this schema.
    static func list(_ schema: String) -> DocumentValue {
        OpenAPIParts.responses(
            OpenAPIParts.document("The body is one page of the result.", OpenAPIParts.schema(schema), isTabular: true),
            isConditional: true
        ).adding([.init("422", OpenAPIParts.response("Problem"))])
    }

    /// The responses of aggregates.
    static let aggregates = OpenAPIParts.responses(
        OpenAPIParts.document("The body holds one result per operation.", OpenAPIParts.schema("Aggregates"))
    )
    .adding([.init("422", OpenAPIParts.response("Problem"))])

    /// The responses of a property, which may be raw bytes too.
    static let propertyResponses: DocumentValue = {
        let page = OpenAPIParts.document(
            "The body is the value, or one page of a collection.", OpenAPIParts.schema("PropertyPage"), isTabular: true)
        guard case .object(let members) = page, case .object(let content)? = page["content"] else { return page }
        let raw = DocumentValue.Member("application/octet-stream", ["schema": ["type": "string", "format": "binary"]])
        let success = DocumentValue.object(
            members.map { $0.name == "content" ? .init("content", .object(content + [raw])) : $0 })
        return OpenAPIParts.responses(success).adding([
            .init("204", ["description": "The data property is null.", "headers": OpenAPIParts.headers])
        ])
    }()

    /// The responses of a read with one document.
    static func plain(_ description: String, _ schema: String) -> DocumentValue {
        OpenAPIParts.responses(OpenAPIParts.document(description, OpenAPIParts.schema(schema)))
    }

    /// The responses of a schema in all its renderings.
    static func schemaResponses(_ schema: String) -> DocumentValue {
        OpenAPIParts.responses([
            "description": "The body is the schema in the requested form.", "headers": OpenAPIParts.readHeaders,
            "content": [
                "application/json": ["schema": OpenAPIParts.schema(schema)],
                "application/schema+json": ["schema": ["type": "object"]],
                "text/plain": ["schema": OpenAPIParts.text],
            ],
        ])
    }

    /// The responses of a read whose document is not described further.
    static func anyObject(_ description: String) -> DocumentValue {
        OpenAPIParts.responses([
            "description": .string(description), "headers": OpenAPIParts.headers,
            "content": ["application/json": ["schema": ["type": "object"]]],
        ])
    }

    /// The responses of the checks of health.
    static let status = OpenAPIParts.responses(
        [
            "description": "The check passed; the member status is ok or ready.",
            "content": ["application/json": ["schema": OpenAPIParts.schema("Status")]],
        ],
        isConditional: false)
}
