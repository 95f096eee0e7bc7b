// SPDX-License-Identifier: Apache-2.0

/// Pieces that many operations of the API description share: references, parameters, header fields
/// and common responses.
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

    // MARK: - Parameters

    /// Returns the name under which the document lists the parameter of a path variable: that of
    /// the variable with its first letter in upper case.
    ///
    /// - Parameter variable: A variable segment of a path pattern.
    static func parameterName(of variable: PathVariable) -> String {
        variable.name.prefix(1).uppercased() + variable.name.dropFirst()
    }

    /// Returns a parameter that is a segment of the path. It is always required and never empty.
    ///
    /// - Parameters:
    ///   - name: The name in braces in the path.
    ///   - description: A sentence for readers of the document.
    ///   - pattern: A regular expression that the whole value matches; nil when any text is
    ///     possible.
    static func inPath(_ name: String, _ description: String, pattern: String? = nil) -> DocumentValue {
        .members(
            ("name", .string(name)), ("in", "path"), ("required", true), ("description", .string(description)),
            ("schema", .members(("type", "string"), ("minLength", 1), ("pattern", pattern.map { .string($0) }))))
    }

    /// Returns an optional parameter of the query string.
    ///
    /// - Parameters:
    ///   - name: The name in the URL.
    ///   - description: A sentence for readers of the document.
    ///   - schema: The schema of the value.
    static func inQuery(_ name: String, _ description: String, _ schema: DocumentValue) -> DocumentValue {
        ["name": .string(name), "in": "query", "description": .string(description), "schema": schema]
    }

    /// The OpenAPI schema of a value that is any string.
    static let text: DocumentValue = ["type": "string"]

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
    ///   - maximum: The largest permitted value; nil for no bound of its own.
    static func number(from minimum: Int, to maximum: Int? = nil) -> DocumentValue {
        .members(("type", "integer"), ("format", "int64"), ("minimum", .int(minimum)), ("maximum", maximum.map { .int($0) }))
    }

    /// Returns the parameter `ints` with the one value that the document describes.
    ///
    /// It is required where integers are strings, since a request without it is answered with
    /// numbers.
    ///
    /// - Parameter ints: The form of integers that the document describes.
    /// - Returns: The name `Ints`, and the parameter.
    static func intsParameter(_ ints: OpenAPIDocument.Integers) -> (String, DocumentValue) {
        let description =
            "With the value string every integer is written as a string. This document describes responses with ints=\(ints.rawValue); "
            + "request it with the parameter ints for the other form."
        return (
            "Ints",
            .members(
                ("name", "ints"), ("in", "query"), ("required", ints == .string ? true : nil),
                ("description", .string(description)), ("schema", choice(ints.rawValue)))
        )
    }

    /// Returns the parameters of reads, by the name that operations refer to them with.
    ///
    /// - Parameter pageLimit: The largest value of `limit`, a number of objects.
    /// - Returns: Names and parameters, in the order of the document.
    static func parameters(pageLimit: Int) -> [(String, DocumentValue)] {
        selectionParameters + [
            ("Limit", inQuery("limit", "Limits the number of objects on a page.", number(from: 0, to: pageLimit)))
        ] + otherParameters
    }

    /// The variables of paths, and the parameters that select and sort objects.
    private static let selectionParameters: [(String, DocumentValue)] = [
        ("Realm", inPath("realm", "Names the realm.", pattern: "^(@default|[A-Za-z0-9_-][A-Za-z0-9._-]{0,63})$")),
        ("Class", inPath("class", "Names the class, without the internal prefix class_.")),
        (
            "Key",
            inPath(
                "key",
                "Names the object by its primary key as text, or by @k and its object key. The documentation explains @null, @empty and @b64."
            )
        ),
        (
            "Property",
            inPath("property", "Names a property, or a path into embedded objects such as address.phones or kids[0].tags.")
        ),
        ("OriginClass", inPath("originClass", "Names the class whose objects link to this object.")),
        ("OriginProperty", inPath("originProperty", "Names the linking property of that class.")),
        ("Where", inQuery("where", "Selects objects by a predicate in the Realm Query Language.", text)),
        (
            "Args",
            inQuery(
                "args",
                "Gives the arguments $0, $1, … of the predicate as a JSON array. A text is read by the type of what it is compared with.",
                text)
        ),
        (
            "Sort",
            inQuery(
                "sort",
                "Sorts by a comma-separated list of key paths; a leading minus sign means descending. A term @distance(path,[longitude,latitude]) sorts by the distance of a location.",
                text)
        ),
        (
            "Distinct",
            inQuery("distinct", "Keeps one object for each combination of values of these comma-separated key paths.", text)
        ),
    ]

    /// The parameters that page, shape and condition a read, and the header fields of requests.
    private static let otherParameters: [(String, DocumentValue)] = [
        ("After", inQuery("after", "Continues after a page; the value is the member next of that page.", text)),
        ("Offset", inQuery("offset", "Skips this number of objects.", number(from: 0))),
        (
            "Count",
            inQuery("count", "With the value exact the response states the number of all matches.", choice("exact", "none"))
        ),
        (
            "Fields",
            inQuery(
                "fields",
                "Shows only these properties, separated by commas; a dotted path expands the link it crosses. @distance shows the distance of the order in metres.",
                text)
        ),
        ("Expand", inQuery("expand", "Replaces these links, separated by commas, by the objects they point to.", text)),
        ("Meta", inQuery("meta", "With the value none the member $meta is left out.", choice("full", "none"))),
        (
            "DocumentInts",
            inQuery(
                "ints", "With the value string the document describes responses in which every integer is a string.",
                choice("number", "string"))
        ),
        (
            "Format",
            inQuery(
                "format", "Chooses the representation, in place of the header field Accept.",
                choice("json", "ejson", "ndjson", "csv"))
        ),
        (
            "PropertyFormat",
            inQuery(
                "format",
                "Chooses the representation, in place of the header field Accept. The bytes of a data property have the type that they look like.",
                choice("json", "ejson", "ndjson", "csv", "bytes"))
        ),
        (
            "Download",
            inQuery(
                "download", "Makes browsers save the bytes of a data property as a file, perhaps of this name.", text)
        ),
        (
            "DownloadFile",
            inQuery("download", "Asks for the file, which browsers save, perhaps under this name.", text)
        ),
        (
            "DocumentFormat",
            inQuery("format", "Chooses the representation, in place of the header field Accept.", choice("json", "ejson"))
        ),
        ("At", inQuery("at", "Selects positions in the result, separated by commas; negative ones count from its end.", text)),
        (
            "IndexOf",
            inQuery("indexOf", "Returns the position of the object with this key, or of this value, instead of a page.", text)
        ),
        (
            "IndexOfWhere",
            inQuery(
                "indexOfWhere", "Returns the position of the first object that matches this predicate instead of a page.", text)
        ),
        (
            "Explain",
            inQuery("explain", "With the value true the plan of the query is returned instead of a page.", ["type": "boolean"])
        ),
        ("SectionBy", inQuery("sectionBy", "Groups the result by a key path, or by a function of it such as name:first.", text)),
        ("Section", inQuery("section", "Limits the result to the section with this key.", text)),
        (
            "Operations",
            inQuery(
                "ops",
                "Lists operations, separated by commas: count, min:property, max:property, sum:property, avg:property; of values min, max, sum and avg.",
                text)
        ),
        (
            "GroupBy",
            inQuery("groupBy", "Groups the result by the values of these comma-separated key paths.", text)
        ),
        (
            "GroupSort",
            inQuery(
                "sort",
                "Sorts groups by a comma-separated list of operations and key paths of groupBy; a leading minus sign means descending.",
                text)
        ),
        (
            "Facets",
            inQuery(
                "facets",
                "Counts the values of these comma-separated key paths in the whole result, the most frequent first.", text)
        ),
        ("Snapshot", inQuery("snapshot", "Reads the version that this snapshot holds.", text)),
        (
            "SchemaFormat",
            inQuery(
                "format", "Chooses the form in which the schema is written.",
                choice("json", "json-schema", "swift", "kotlin", "typescript", "mermaid"))
        ),
        (
            "IfNoneMatch",
            [
                "name": "If-None-Match", "in": "header",
                "description": "Makes the response 304 while the entity tag is still this one.",
                "schema": text,
            ]
        ),
        (
            "RequestId",
            [
                "name": "X-Request-Id", "in": "header",
                "description":
                    "Identifies the request by 1 to 128 of the characters A-Z a-z 0-9 . _ -; the response, problem documents and the log repeat it. The server replaces any other value by an id of its own.",
                "schema": text,
            ]
        ),
    ]

    // MARK: - Responses

    /// The header field that identifies a request in every response.
    static let requestIdHeader: DocumentValue = [
        "description": "Identifies this request in the log and in problem documents.", "schema": text,
    ]

    /// The header fields that every response has.
    static let headers: DocumentValue = [
        "X-Request-Id": requestIdHeader
    ]

    /// The header fields of responses that show the contents of a realm: the id of the request, the
    /// version that was read and an entity tag.
    static let readHeaders: DocumentValue = [
        "X-Request-Id": requestIdHeader,
        "Realm-Version": ["description": "States the version that was read.", "schema": text],
        "ETag": ["description": "Changes whenever the content of the response changes.", "schema": text],
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
            .init("application/ejson", ["schema": ["type": "object"]]),
        ]
        if isTabular {
            content.append(.init("application/x-ndjson", ["schema": text]))
            content.append(.init("text/csv", ["schema": text]))
        }
        return ["description": .string(description), "headers": readHeaders, "content": .object(content)]
    }

    /// Returns the responses of a successful read. Those of problems are added by the operation.
    ///
    /// - Parameters:
    ///   - success: The response for status 200.
    ///   - isConditional: Whether the operation evaluates `If-None-Match` and so can answer 304.
    ///   - others: Responses with other statuses.
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
                "description": "The body describes the problem in the form of RFC 9457.", "headers": headers,
                "content": ["application/problem+json": ["schema": schema("Problem")]],
                // Those of one operation are listed there.
                "x-problem-codes": Set.ofAnyRequest.document ?? [],
            ]
        ),
    ]
}
