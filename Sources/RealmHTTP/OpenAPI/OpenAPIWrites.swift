// SPDX-License-Identifier: Apache-2.0

/// What writes add to the description: operations, parameters and the documents that they take and give.
enum OpenAPIWrites {
    // MARK: - Parameters

    private static func header(_ name: String, _ description: String, _ schema: DocumentValue = OpenAPIParts.text)
        -> DocumentValue
    {
        ["name": .string(name), "in": "header", "description": .string(description), "schema": schema]
    }

    /// Parameters of writes, by the name that operations refer to them with.
    static let parameters: [(String, DocumentValue)] = [
        ("Id", OpenAPIParts.inPath("id", "The id that the server gave.")),
        ("RequiredWhere", requiredWhere),
        (
            "Upsert",
            OpenAPIParts.inQuery(
                "upsert", "Writes into objects that are there: the properties that differ, or all that are given.",
                OpenAPIParts.choice("modified", "all"))
        ),
        (
            "Nested",
            OpenAPIParts.inQuery(
                "nested", "upsert creates or changes full objects in the place of links.", OpenAPIParts.choice("refuse", "upsert")
            )
        ),
        ("DryRun", OpenAPIParts.inQuery("dryRun", "true does everything, then undoes it.", ["type": "boolean"])),
        ("MaxAffected", OpenAPIParts.inQuery("maxAffected", "More matches are refused.", OpenAPIParts.number(from: 0))),
        (
            "Confirm",
            [
                "name": "confirm", "in": "query", "required": true, "description": "Has to be all.",
                "schema": OpenAPIParts.choice("all"),
            ]
        ),
        ("Files", OpenAPIParts.inQuery("files", "true deletes the file too.", ["type": "boolean"])),
        (
            "ImportMode",
            OpenAPIParts.inQuery("mode", "upsert writes into objects that are there.", OpenAPIParts.choice("create", "upsert"))
        ),
        ("ImportClass", OpenAPIParts.inQuery("class", "The class of objects that do not tell theirs.", OpenAPIParts.text)),
        (
            "Atomic",
            OpenAPIParts.inQuery("atomic", "false commits now and then; a failure tells how far it came.", ["type": "boolean"])
        ),
        ("ExportClass", OpenAPIParts.inQuery("class", "Only objects of this class.", OpenAPIParts.text)),
        ("ExportFormat", OpenAPIParts.inQuery("format", "Form of the export.", OpenAPIParts.choice("ndjson", "json", "csv"))),
        (
            "ForExcel",
            OpenAPIParts.inQuery(
                "csv",
                "With excel, texts in CSV that begin with =, +, -, @, a tab or a carriage return get an apostrophe in front.",
                OpenAPIParts.choice("excel"))
        ),
        ("IfMatch", header("If-Match", "Writes only if the object has one of these entity tags, or the realm this version.")),
        ("IfNoneMatchWrite", header("If-None-Match", "* writes only if there is no object.")),
        (
            "IdempotencyKey",
            header(
                "Idempotency-Key", "A repeated request with the same key gets the first answer.",
                ["type": "string", "maxLength": 128])
        ),
        ("Prefer", header("Prefer", "return=minimal or return=representation; handling=lenient; respond-async.")),
        ("RealmTransaction", header("Realm-Transaction", "The id of an interactive transaction that the request belongs to.")),
        ("RealmMinVersion", header("Realm-Min-Version", "Waits for this version.")),
    ]

    private static let requiredWhere: DocumentValue = [
        "name": "where", "in": "query", "required": true, "description": "Predicate in the Realm Query Language.",
        "schema": ["type": "string"],
    ]

    // MARK: - Pieces

    /// The media type of a merge patch (RFC 7396).
    static let merge = "application/merge-patch+json"
    /// The parameters of all writes to objects.
    static let common = ["DryRun", "IfMatch", "Prefer", "RealmTransaction", "RealmWithoutNotifying", "RequestId"]

    /// A required body of one schema in several media types.
    static func content(_ types: [String], _ schema: DocumentValue) -> DocumentValue {
        ["required": true, "content": .object(types.map { .init($0, ["schema": schema]) })]
    }

    /// A required body of JSON with a shared schema.
    static func json(_ name: String) -> DocumentValue { content(["application/json"], OpenAPIParts.schema(name)) }

    /// Answers with a document; `nil` is an answer without one.
    static func responses(_ answers: (String, String, String?)..., isAsynchronous: Bool = true) -> DocumentValue {
        var members = answers.map { status, description, schema -> DocumentValue.Member in
            let body = schema.map { name -> DocumentValue in ["application/json": ["schema": OpenAPIParts.schema(name)]] }
            return .init(
                status,
                .members(
                    ("description", .string(description)), ("headers", OpenAPIParts.headers), ("content", body)))
        }
        if isAsynchronous {
            members.append(
                .init(
                    "202",
                    [
                        "description": "Taken; Location tells where its fate is told.", "headers": OpenAPIParts.headers,
                        "content": ["application/json": ["schema": OpenAPIParts.schema("WriteState")]],
                    ]))
        }
        for status in ["400", "404", "405", "406", "409", "412", "413", "415", "422", "423", "429", "503", "504"] {
            members.append(.init(status, OpenAPIParts.response("Problem")))
        }
        members.append(.init("default", OpenAPIParts.response("Problem")))
        return .object(members)
    }
}

extension DocumentValue {
    /// A request body with one more media type.
    func addingContent(_ type: String, _ schema: DocumentValue) -> DocumentValue {
        guard case .object(let members) = self else { return self }
        return .object(
            members.map { member in
                member.name == "content" ? .init("content", member.value.adding([.init(type, ["schema": schema])])) : member
            })
    }
}
