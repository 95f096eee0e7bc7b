// SPDX-License-Identifier: Apache-2.0

internal import RealmAccess
internal import RealmFormats
internal import RealmPlatform
internal import RealmStorage

/// Pieces that many operations of the API description share: references, parameters, header fields and common responses.
///
/// Parameters and responses are listed once under a name in the `components` of the document;
/// operations refer to them by that name.
enum OpenAPIParts {
    // MARK: - References

    /// Returns a reference to a shared schema.
    ///
    /// - Parameter name: Its name in `components/schemas`.
    static func schema(_ name: String) -> DocumentValue { ["$ref": .string("#/components/schemas/\(name)")] }
    /// Returns a reference to a shared parameter.
    ///
    /// - Parameter name: Its name in `components/parameters`, such as `Where`; not the name in the
    ///   URL.
    static func parameter(_ name: String) -> DocumentValue { ["$ref": .string("#/components/parameters/\(name)")] }
    /// Returns a reference to a shared response.
    ///
    /// - Parameter name: Its name in `components/responses`.
    static func response(_ name: String) -> DocumentValue { ["$ref": .string("#/components/responses/\(name)")] }

    /// Returns a reference to a shared header field of responses.
    ///
    /// - Parameter name: Its name in `components/headers`.
    static func header(_ name: String) -> DocumentValue { ["$ref": .string("#/components/headers/\(name)")] }

    // MARK: - Schemas

    /// The OpenAPI schema of a value that is any string.
    static let text: DocumentValue = ["type": "string"]
    /// The OpenAPI schema of a boolean.
    static let flag: DocumentValue = ["type": "boolean"]
    /// The OpenAPI schema of any JSON value, which is the empty schema.
    static let anything: DocumentValue = .object([])
    /// The OpenAPI schema of an array of strings.
    static let texts: DocumentValue = ["type": "array", "items": text]
    /// The schema of a string that may be null.
    static let nullableText: DocumentValue = ["type": "string", "nullable": true]

    /// Returns the schema of one of a few words of letters, or null.
    ///
    /// It is a pattern, as an enumeration would have to list null: generators fail on null without it, and some make a value of it.
    static func nullableChoice(_ values: String...) -> DocumentValue {
        [
            "type": "string", "nullable": true, "pattern": .string("^(\(values.joined(separator: "|")))$"),
            "example": .string(values.first ?? ""),
        ]
    }
    /// The schema of the arguments of a predicate in a body.
    ///
    /// - Parameter limits: The limits of the server.
    static func arguments(_ limits: Limits) -> DocumentValue {
        ["type": "array", "maxItems": .int(limits.queryArgs), "items": anything, "example": []]
    }

    /// Returns the schema of a string that is not empty.
    ///
    /// - Parameters:
    ///   - most: The largest number of characters; nil for no bound.
    ///   - pattern: A regular expression for the whole text; nil for any.
    ///   - example: A text of this kind.
    static func words(atMost most: Int? = nil, pattern: String? = nil, _ example: String) -> DocumentValue {
        .members(
            // A pattern implies that a string is not empty.
            ("type", "string"), ("minLength", pattern == nil ? 1 : nil), ("maxLength", most.map { .int($0) }),
            ("pattern", pattern.map { .string($0) }),
            ("example", .string(example)))
    }

    /// Returns the schema of an array of strings that are not empty.
    ///
    /// - Parameters:
    ///   - most: The largest number of elements.
    ///   - least: The smallest number of elements.
    ///   - example: One element.
    static func list(atMost most: Int, least: Int? = nil, _ example: String) -> DocumentValue {
        .members(
            ("type", "array"), ("minItems", least.map { .int($0) }), ("maxItems", .int(most)),
            ("items", ["type": "string", "minLength": 1, "example": .string(example)]), ("example", [.string(example)]))
    }

    /// Returns the schema of a duration such as `5s`.
    ///
    /// - Parameters:
    ///   - seconds: The largest duration; nil for no bound.
    ///   - example: A duration within the bound.
    static func duration(atMost seconds: Int? = nil, _ example: String) -> DocumentValue {
        .members(
            ("type", "string"), ("pattern", "^[1-9][0-9]{0,8}(ms|s|m|h)$"),
            (
                "description",
                .string(
                    "Is a number with the unit ms, s, m or h\(seconds.map { ", of at most \($0) seconds" } ?? "").")
            ),
            ("example", .string(example)))
    }

    /// Returns the schema of a string that is one of a few words.
    ///
    /// - Parameter values: The permitted words. Null is never among them, because generators
    ///   mishandle it in an enumeration.
    static func choice(_ values: String...) -> DocumentValue {
        ["type": "string", "enum": .array(values.map { .string($0) })]
    }

    /// Returns the schema of a whole number within bounds.
    ///
    /// - Parameters:
    ///   - minimum: The smallest permitted value.
    ///   - maximum: The largest permitted value; nil for no bound.
    static func number(from minimum: Int, to maximum: Int? = nil) -> DocumentValue {
        .members(("type", "integer"), ("format", "int64"), ("minimum", .int(minimum)), ("maximum", maximum.map { .int($0) }))
    }

    // MARK: - Responses

    /// The header fields that responses of all kinds have, by the name that responses refer to them with.
    static let headerFields: [(String, DocumentValue)] = [
        (
            "RequestId",
            field("Identifies this request in the log and in problem documents.", "01a21502-a6a0-769f-b178-36eb8f1f3f0e")
        ),
        (
            "RealmVersion",
            field(
                "States the version of the realm that the response shows or leads to. It is the epoch of the file, and a number that grows with each commit. Sent back in Realm-Min-Version it asks for this version or a later one.",
                "k3f9q2.1841")
        ),
        ("ETag", field("Changes whenever the content of the response changes.", "\"h7Yq0c\"")),
        ("Location", field("Names the path of what was made.", "/v1/realms/store/objects/Category/31")),
        (
            "RealmPartial",
            field(
                "States that the export may be incomplete, because the client may not see everything (rights) or the realm does not show every class (classes).",
                "rights")
        ),
        (
            "ReprDigest",
            field("States the SHA-256 of the body (RFC 9530).", "sha-256=:47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=:")
        ),
        (
            "AcceptPost",
            field("Lists the media types that a body of POST may have at this path.", "application/json, application/x-ndjson")
        ),
    ]

    /// Returns a header field of responses.
    private static func field(_ description: String, _ example: String) -> DocumentValue {
        [
            "description": .string(description), "schema": ["type": "string", "example": .string(example)],
            "example": .string(example),
        ]
    }

    /// The header fields that every response has.
    static let headers: DocumentValue = ["X-Request-Id": header("RequestId")]

    /// The header fields of responses that show the contents of a realm: the id of the request, the
    /// version that was read and an entity tag.
    static let readHeaders: DocumentValue = [
        "X-Request-Id": header("RequestId"), "Realm-Version": header("RealmVersion"), "ETag": header("ETag"),
    ]

    /// Returns a 200 response whose body is JSON of one schema, or Extended JSON.
    ///
    /// - Parameters:
    ///   - description: A sentence about the body.
    ///   - schema: The schema of the JSON form. Extended JSON is described as an object without
    ///     details.
    ///   - isTabular: Whether the body can be NDJSON and CSV too, as lists can.
    static func document(_ description: String, _ schema: DocumentValue, isTabular: Bool = false) -> DocumentValue {
        var content: [DocumentValue.Member] = [
            .init("application/json", ["schema": schema]),
            .init("application/ejson", ["schema": OpenAPIParts.schema("ExtendedJSON")]),
        ]
        if isTabular {
            content.append(.init("application/x-ndjson", ["schema": OpenAPIParts.schema("Lines")]))
            content.append(.init("text/csv", ["schema": OpenAPIParts.schema("Table")]))
        }
        return ["description": .string(description), "headers": readHeaders, "content": .object(content)]
    }

    /// Returns the responses of a successful read. Those of problems are added by the operation.
    ///
    /// - Parameters:
    ///   - success: The response for status 200.
    ///   - isConditional: Whether the operation evaluates `If-None-Match` and so can answer 304.
    /// - Returns: An object of responses by status.
    static func responses(
        _ success: DocumentValue, isConditional: Bool = true, _ others: DocumentValue.Member...
    ) -> DocumentValue {
        var members: [DocumentValue.Member] = [.init("200", success)] + others
        if isConditional { members.append(.init("304", response("NotModified"))) }
        return .object(members)
    }

    /// The responses that operations refer to by name: 304 and the problem document.
    static let commonResponses: [(String, DocumentValue)] = [
        ("NotModified", ["description": "The client's copy is current.", "headers": headers]),
        (
            "Problem",
            [
                "description":
                    "The body describes the problem in the form of RFC 9457. With 415 the header field Accept-Post, Accept-Patch or Accept-Query lists the accepted media types.",
                "headers": ["X-Request-Id": header("RequestId"), "Accept-Post": header("AcceptPost")],
                "content": ["application/problem+json": ["schema": schema("Problem")]],
                // Those of one operation are listed there.
                "x-problem-codes": Set.ofAnyRequest.document ?? [],
            ]
        ),
    ]
}
