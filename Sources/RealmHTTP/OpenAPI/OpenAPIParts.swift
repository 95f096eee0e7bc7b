// SPDX-License-Identifier: Apache-2.0

/// Pieces that operations of the API description share.
enum OpenAPIParts {
    // MARK: - References

    /// A reference to a shared schema.
    static func schema(_ name: String) -> DocumentValue { ["$ref": .string("#/components/schemas/\(name)")] }
    /// A reference to a shared parameter.
    static func parameter(_ name: String) -> DocumentValue { ["$ref": .string("#/components/parameters/\(name)")] }
    /// A reference to a shared response.
    static func response(_ name: String) -> DocumentValue { ["$ref": .string("#/components/responses/\(name)")] }

    // MARK: - Parameters

    /// The name under which the document has the parameter of a path variable.
    static func parameterName(of variable: PathVariable) -> String {
        variable.name.prefix(1).uppercased() + variable.name.dropFirst()
    }

    /// A parameter in the path, always required.
    static func inPath(_ name: String, _ description: String, pattern: String? = nil) -> DocumentValue {
        .members(
            ("name", .string(name)), ("in", "path"), ("required", true), ("description", .string(description)),
            ("schema", .members(("type", "string"), ("minLength", 1), ("pattern", pattern.map { .string($0) }))))
    }

    /// A parameter in the URL, never required.
    static func inQuery(_ name: String, _ description: String, _ schema: DocumentValue) -> DocumentValue {
        ["name": .string(name), "in": "query", "description": .string(description), "schema": schema]
    }

    /// The schema of any string.
    static let text: DocumentValue = ["type": "string"]

    /// The schema of one of some words.
    static func choice(_ values: String...) -> DocumentValue {
        ["type": "string", "enum": .array(values.map { .string($0) })]
    }

    /// The schema of a whole number within bounds.
    static func number(from minimum: Int, to maximum: Int? = nil) -> DocumentValue {
        .members(("type", "integer"), ("format", "int64"), ("minimum", .int(minimum)), ("maximum", maximum.map { .int($0) }))
    }

    /// A document describes one form of integers, so this parameter has one value in it.
    static func intsParameter(_ ints: OpenAPIDocument.Integers) -> (String, DocumentValue) {
        let description =
            "string writes every integer as a string. This document describes answers with ints=\(ints.rawValue); "
            + "take it with the parameter ints for the other form."
        return (
            "Ints",
            .members(
                ("name", "ints"), ("in", "query"), ("required", ints == .string ? true : nil),
                ("description", .string(description)), ("schema", choice(ints.rawValue)))
        )
    }

    /// Parameters by the name that operations refer to them with; a page has at most `pageLimit` objects.
    static func parameters(pageLimit: Int) -> [(String, DocumentValue)] {
        selectionParameters + [("Limit", inQuery("limit", "Objects per page.", number(from: 0, to: pageLimit)))] + otherParameters
    }

    private static let selectionParameters: [(String, DocumentValue)] = [
        ("Realm", inPath("realm", "Name of a realm.", pattern: "^[A-Za-z0-9._-]{1,128}$")),
        ("Class", inPath("class", "Name of a class, without Realm's internal prefix.")),
        (
            "Key",
            inPath(
                "key",
                "Key of an object: its primary key as text, or @k and its object key. See the documentation for @null, @empty and @b64."
            )
        ),
        (
            "Property",
            inPath("property", "Name of a property, or a path into embedded objects such as address.phones or kids[0].tags.")
        ),
        ("OriginClass", inPath("originClass", "The class whose objects link here.")),
        ("OriginProperty", inPath("originProperty", "The linking property of that class.")),
        ("Where", inQuery("where", "Predicate in the Realm Query Language.", text)),
        ("Args", inQuery("args", "JSON array of the arguments $0, $1, …", text)),
        ("Sort", inQuery("sort", "Comma list of key paths; a minus sign in front means descending.", text)),
        ("Distinct", inQuery("distinct", "Comma list of key paths.", text)),
    ]

    private static let otherParameters: [(String, DocumentValue)] = [
        ("After", inQuery("after", "Cursor: the member next of the page before.", text)),
        ("Offset", inQuery("offset", "Objects to skip.", number(from: 0))),
        ("Count", inQuery("count", "exact adds the number of all matches.", choice("exact", "none"))),
        ("Fields", inQuery("fields", "Comma list of properties; a dotted path expands the link it crosses.", text)),
        ("Expand", inQuery("expand", "Comma list of links to replace by the objects they point to.", text)),
        ("Meta", inQuery("meta", "none leaves the member $meta out.", choice("full", "none"))),
        (
            "DocumentInts",
            inQuery("ints", "string describes answers in which every integer is a string.", choice("number", "string"))
        ),
        ("Format", inQuery("format", "Representation, instead of the header Accept.", choice("json", "ejson", "ndjson", "csv"))),
        ("DocumentFormat", inQuery("format", "Representation, instead of the header Accept.", choice("json", "ejson"))),
        ("At", inQuery("at", "Comma list of positions in the result; negative ones count from its end.", text)),
        ("IndexOf", inQuery("indexOf", "Answers the position of the object with this key.", text)),
        ("IndexOfWhere", inQuery("indexOfWhere", "Answers the position of the first object that matches this predicate.", text)),
        ("Explain", inQuery("explain", "true answers how the query would be evaluated.", ["type": "boolean"])),
        ("SectionBy", inQuery("sectionBy", "Groups the result by a key path, or by a function of it such as name:first.", text)),
        ("Section", inQuery("section", "Only the section with this key.", text)),
        ("Operations", inQuery("ops", "Comma list of count, min:property, max:property, sum:property, avg:property.", text)),
        ("Snapshot", inQuery("snapshot", "Reads the version that this snapshot holds.", text)),
        (
            "SchemaFormat",
            inQuery(
                "format", "Rendering of the schema.", choice("json", "json-schema", "swift", "kotlin", "typescript", "mermaid"))
        ),
        (
            "IfNoneMatch",
            [
                "name": "If-None-Match", "in": "header", "description": "Answers 304 while the entity tag is still this one.",
                "schema": text,
            ]
        ),
        (
            "RequestId",
            [
                "name": "X-Request-Id", "in": "header",
                "description":
                    "1 to 128 of A-Z a-z 0-9 . _ -; returned with the answer and named in problems and logs. The server makes an id of its own in the place of anything else.",
                "schema": text,
            ]
        ),
    ]

    // MARK: - Responses

    /// The header fields of every answer.
    static let headers: DocumentValue = [
        "X-Request-Id": ["description": "Identifies this request in logs and problems.", "schema": text]
    ]

    /// The header fields of answers that show what is in a realm.
    static let readHeaders: DocumentValue = [
        "X-Request-Id": ["description": "Identifies this request in logs and problems.", "schema": text],
        "Realm-Version": ["description": "The version that was read.", "schema": text],
        "ETag": ["description": "Changes when the answer changes.", "schema": text],
    ]

    /// A 200 with one schema for JSON, and Extended JSON beside it.
    static func document(_ description: String, _ schema: DocumentValue, isTabular: Bool = false) -> DocumentValue {
        var content: [DocumentValue.Member] = [
            .init("application/json", ["schema": schema]),
            .init("application/ejson", ["schema": ["type": "object"]]),
        ]
        if isTabular {
            content.append(.init("application/x-ndjson", ["schema": text]))
            content.append(.init("text/csv", ["schema": text]))
        }
        return ["description": .string(description), "headers": readHeaders, "content": .object(content)]
    }

    /// The responses that every operation has beside its own: not modified, and problems.
    static func responses(_ success: DocumentValue, isConditional: Bool = true) -> DocumentValue {
        var members: [DocumentValue.Member] = [.init("200", success)]
        if isConditional { members.append(.init("304", response("NotModified"))) }
        for status in ["400", "404", "405", "406", "429", "503", "504"] { members.append(.init(status, response("Problem"))) }
        members.append(.init("default", response("Problem")))
        return .object(members)
    }

    /// Responses that operations refer to by name.
    static let commonResponses: [(String, DocumentValue)] = [
        ("NotModified", ["description": "The client's copy is current.", "headers": headers]),
        (
            "Problem",
            [
                "description": "What went wrong, as RFC 9457 describes it.", "headers": headers,
                "content": ["application/problem+json": ["schema": schema("Problem")]],
            ]
        ),
    ]
}
