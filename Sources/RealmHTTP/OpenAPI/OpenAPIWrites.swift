// SPDX-License-Identifier: Apache-2.0

/// What writes add to the description: operations, parameters and the documents that they take and give.
enum OpenAPIWrites {
    // MARK: - Parameters

    private static func header(_ name: String, _ description: String, _ schema: DocumentValue = OpenAPIParts.text)
        -> DocumentValue
    {
        ["name": .string(name), "in": "header", "description": .string(description), "schema": schema]
    }

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

    private static let merge = "application/merge-patch+json"
    private static let common = ["DryRun", "IfMatch", "Prefer", "RealmTransaction", "RealmWithoutNotifying", "RequestId"]

    static func content(_ types: [String], _ schema: DocumentValue) -> DocumentValue {
        ["required": true, "content": .object(types.map { .init($0, ["schema": schema]) })]
    }

    private static func json(_ name: String) -> DocumentValue { content(["application/json"], OpenAPIParts.schema(name)) }

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

    static func operation(
        _ id: String, _ summary: String, tag: String, parameters: [String], body: DocumentValue? = nil, responses: DocumentValue
    ) -> DocumentValue {
        .members(
            ("operationId", .string(id)), ("summary", .string(summary)), ("tags", [.string(tag)]),
            ("parameters", .array(parameters.map(OpenAPIParts.parameter))), ("requestBody", body), ("responses", responses))
    }

    // MARK: - Operations of a class

    /// Creating, changing and deleting in a class.
    static func classOperations(
        _ names: (create: String, update: String, delete: String), tag: String, path: [String], create: DocumentValue,
        patch: DocumentValue
    ) -> [DocumentValue.Member] {
        [
            .init(
                "post",
                operation(
                    names.create, "Creates an object, or an array of objects, all or none.", tag: tag,
                    parameters: path + ["Upsert", "Nested", "IdempotencyKey"] + common,
                    body: content(["application/json", "application/ejson"], create)
                        .addingContent("application/x-ndjson", OpenAPIParts.text),
                    responses: responses(
                        ("200", "Everything was there already.", "Created"), ("201", "The object, or counts and keys.", "Created")
                    ))),
            .init(
                "patch",
                operation(
                    names.update, "Merges a patch into every match.", tag: tag,
                    parameters: path + ["RequiredWhere", "Args", "MaxAffected", "Nested", "IdempotencyKey"] + common,
                    body: content([merge, "application/json"], patch),
                    responses: responses(("200", "How many there were.", "Matched")))),
            .init(
                "delete",
                operation(
                    names.delete, "Deletes every match.", tag: tag,
                    parameters: path + ["RequiredWhere", "Args", "MaxAffected"] + common,
                    responses: responses(("200", "How many there were.", "Matched")))),
        ]
    }

    /// Replacing, changing and deleting one object.
    static func objectOperations(
        _ names: (replace: String, update: String, delete: String), tag: String, path: [String], object: String,
        create: DocumentValue, patch: DocumentValue
    ) -> [DocumentValue.Member] {
        let shared = path + ["Nested"] + common
        return [
            .init(
                "put",
                operation(
                    names.replace, "Creates or replaces the whole object.", tag: tag, parameters: shared + ["IfNoneMatchWrite"],
                    body: content(["application/json", "application/ejson"], create),
                    responses: responses(
                        ("200", "The object.", object), ("201", "The new object.", object),
                        ("204", "Done; nothing is shown.", nil)))),
            .init(
                "patch",
                operation(
                    names.update, "Changes some properties: a merge patch or a JSON Patch.", tag: tag,
                    parameters: shared + ["IdempotencyKey"],
                    body: content([merge, "application/json"], patch)
                        .addingContent("application/json-patch+json", OpenAPIParts.schema("JSONPatch")),
                    responses: responses(("200", "The object.", object), ("204", "Done; nothing is shown.", nil)))),
            .init(
                "delete",
                operation(
                    names.delete, "Deletes the object with what it owns.", tag: tag, parameters: path + common,
                    responses: responses(
                        ("200", "What would have been, with dryRun=true.", "DryRun"), ("204", "It is gone.", nil)))),
        ]
    }
}

extension DocumentValue {
    /// A request body with one more media type.
    fileprivate func addingContent(_ type: String, _ schema: DocumentValue) -> DocumentValue {
        guard case .object(let members) = self else { return self }
        return .object(
            members.map { member in
                member.name == "content" ? .init("content", member.value.adding([.init(type, ["schema": schema])])) : member
            })
    }
}

// MARK: - Paths

extension OpenAPIWrites {
    private static let object = OpenAPIParts.schema("Object")
    private static let realmPath = "/v1/realms/{realm}"

    /// Operations by path; those of paths that are read too come behind the reads.
    static let paths: [(String, [DocumentValue.Member])] = realmPaths + dataPaths + leasePaths

    private static let realmPaths: [(String, [DocumentValue.Member])] = [
        (
            "/v1/realms",
            [
                .init(
                    "post",
                    operation(
                        "attachRealm", "Creates or attaches a realm.", tag: "realms",
                        parameters: ["DryRun", "Prefer", "RequestId"],
                        body: json("RealmAttachment"),
                        responses: responses(
                            ("200", "What would have been, with dryRun=true.", "DryRun"), ("201", "The realm.", "RealmDocument")))
                )
            ]
        ),
        (
            realmPath,
            [
                .init(
                    "delete",
                    operation(
                        "detachRealm", "Lets go of a realm.", tag: "realms",
                        parameters: ["Realm", "Files", "DryRun", "RequestId"],
                        responses: responses(
                            ("200", "What would have been, with dryRun=true.", "DryRun"), ("204", "It is detached.", nil),
                            isAsynchronous: false)))
            ]
        ),
        (
            realmPath + "/migrations",
            [
                .init(
                    "post",
                    operation(
                        "migrate", "Changes the schema, and the data with it.", tag: "schema",
                        parameters: ["Realm", "DryRun", "IfMatch", "Prefer", "IdempotencyKey", "RequestId"],
                        body: json("Migration"),
                        responses: responses(("200", "The schema before and after.", "Migrated"))))
            ]
        ),
        (
            realmPath + "/export",
            [
                .init(
                    "get",
                    OpenAPIDocument.operation(
                        "exportRealm", "Everything in one version.", tag: "transfer",
                        parameters: [
                            "Realm", "ExportFormat", "ForExcel", "ExportClass", "Where", "Args", "Snapshot", "RealmTransaction",
                            "RealmMinVersion", "RequestId",
                        ],
                        responses: OpenAPIParts.responses(
                            [
                                "description": "The export.", "headers": OpenAPIParts.readHeaders,
                                "content": [
                                    "application/x-ndjson": ["schema": OpenAPIParts.text],
                                    "application/json": ["schema": ["type": "object"]],
                                    "text/csv": ["schema": OpenAPIParts.text],
                                ],
                            ], isConditional: false)))
            ]
        ),
        (
            realmPath + "/import",
            [
                .init(
                    "post",
                    operation(
                        "importObjects", "Reads an export, or lines of objects of one class.", tag: "transfer",
                        parameters: ["Realm", "ImportMode", "ImportClass", "Atomic", "IdempotencyKey"] + common,
                        body: content(["application/x-ndjson", "text/csv"], OpenAPIParts.text),
                        responses: responses(("200", "How many there were.", "Imported"))))
            ]
        ),
    ]

    private static let dataPaths: [(String, [DocumentValue.Member])] = [
        (
            realmPath + "/objects",
            [
                .init(
                    "delete",
                    operation(
                        "deleteAllObjects", "Empties every class and keeps the schema.", tag: "objects",
                        parameters: ["Realm", "Confirm"] + common,
                        responses: responses(("200", "How many there were.", "Matched"))))
            ]
        ),
        (
            realmPath + "/objects/{class}",
            classOperations(
                ("createObjects", "updateObjects", "deleteObjects"), tag: "objects", path: ["Realm", "Class"], create: object,
                patch: object)
        ),
        (
            realmPath + "/objects/{class}/{key}",
            objectOperations(
                ("replaceObject", "updateObject", "deleteObject"), tag: "objects", path: ["Realm", "Class", "Key"],
                object: "Object",
                create: object, patch: object)
        ),
        (
            realmPath + "/objects/{class}/{key}/{property}",
            [
                .init(
                    "put",
                    operation(
                        "setProperty", "Sets one property.", tag: "objects",
                        parameters: ["Realm", "Class", "Key", "Property", "Nested"] + common,
                        body: content(["application/json", "application/ejson"], .object([]))
                            .addingContent("application/octet-stream", ["type": "string", "format": "binary"]),
                        responses: responses(("200", "What would have been, with dryRun=true.", "DryRun"), ("204", "Done.", nil)))
                )
            ]
        ),
        (
            realmPath + "/batch",
            [
                .init(
                    "post",
                    operation(
                        "batch", "Operations in order, all or none.", tag: "objects",
                        parameters: ["Realm", "IdempotencyKey"] + common,
                        body: json("Batch"), responses: responses(("200", "The results.", "BatchResult"))))
            ]
        ),
    ]

    private static let leasePaths: [(String, [DocumentValue.Member])] = [
        (
            realmPath + "/transactions",
            [
                .init(
                    "post",
                    operation(
                        "beginTransaction", "Begins a transaction that lasts for several requests.", tag: "transactions",
                        parameters: ["Realm", "RequestId"],
                        body: [
                            "required": false,
                            "content": ["application/json": ["schema": OpenAPIParts.schema("TransactionWishes")]],
                        ],
                        responses: responses(("201", "The transaction.", "Transaction"), isAsynchronous: false)))
            ]
        ),
        (
            realmPath + "/transactions/{id}",
            [
                .init(
                    "get",
                    operation(
                        "getTransaction", "What became of a transaction.", tag: "transactions",
                        parameters: ["Realm", "Id", "RequestId"],
                        responses: responses(("200", "The transaction.", "Transaction"), isAsynchronous: false))),
                .init(
                    "delete",
                    operation(
                        "rollBackTransaction", "Undoes a transaction.", tag: "transactions",
                        parameters: ["Realm", "Id", "RequestId"],
                        responses: responses(("204", "It is undone.", nil), isAsynchronous: false))),
            ]
        ),
        (
            realmPath + "/transactions/{id}/commit",
            [
                .init(
                    "post",
                    operation(
                        "commitTransaction", "Makes a transaction durable.", tag: "transactions",
                        parameters: ["Realm", "Id", "IdempotencyKey", "RequestId"],
                        responses: responses(("200", "The new version.", "CommittedVersion"), isAsynchronous: false)))
            ]
        ),
        (
            realmPath + "/snapshots",
            [
                .init(
                    "get",
                    operation(
                        "listSnapshots", "The versions of a realm that are held.", tag: "snapshots",
                        parameters: ["Realm", "RequestId"],
                        responses: responses(("200", "The snapshots.", "SnapshotPage"), isAsynchronous: false))),
                .init(
                    "post",
                    operation(
                        "createSnapshot", "Holds the newest version for later reads.", tag: "snapshots",
                        parameters: ["Realm", "RequestId"],
                        body: snapshotWishes(isRequired: false),
                        responses: responses(("201", "The snapshot.", "Snapshot"), isAsynchronous: false))),
            ]
        ),
        (
            realmPath + "/snapshots/{id}",
            [
                .init(
                    "get",
                    operation(
                        "getSnapshot", "One snapshot.", tag: "snapshots", parameters: ["Realm", "Id", "RequestId"],
                        responses: responses(("200", "The snapshot.", "Snapshot"), isAsynchronous: false))),
                .init(
                    "patch",
                    operation(
                        "renewSnapshot", "Holds the version for longer.", tag: "snapshots",
                        parameters: ["Realm", "Id", "RequestId"],
                        body: snapshotWishes(isRequired: true),
                        responses: responses(("200", "The snapshot.", "Snapshot"), isAsynchronous: false))),
                .init(
                    "delete",
                    operation(
                        "freeSnapshot", "Lets go of the version.", tag: "snapshots", parameters: ["Realm", "Id", "RequestId"],
                        responses: responses(("204", "It is free.", nil), isAsynchronous: false))),
            ]
        ),
        (
            realmPath + "/writes/{id}",
            [
                .init(
                    "get",
                    operation(
                        "getWrite", "What became of a write that was answered before it was done.", tag: "transactions",
                        parameters: ["Realm", "Id", "RequestId"],
                        responses: responses(("200", "The write.", "WriteState"), isAsynchronous: false))),
                .init(
                    "delete",
                    operation(
                        "cancelWrite", "Takes a write back that has not begun.", tag: "transactions",
                        parameters: ["Realm", "Id", "RequestId"],
                        responses: responses(("204", "It never happens.", nil), isAsynchronous: false))),
            ]
        ),
    ]

    private static func snapshotWishes(isRequired: Bool) -> DocumentValue {
        let content: DocumentValue = ["schema": OpenAPIParts.schema("SnapshotWishes")]
        return [
            "required": .bool(isRequired), "content": ["application/json": content, "application/merge-patch+json": content],
        ]
    }

    /// The operations of `reads` with those of writes behind them, then the paths that are only written.
    static func adding(to reads: [(String, DocumentValue)]) -> [(String, DocumentValue)] {
        let known = Set(reads.map(\.0))
        let merged = reads.map { path, operations in
            (path, operations.adding(paths.first { $0.0 == path }?.1 ?? []))
        }
        return merged + paths.filter { !known.contains($0.0) }.map { ($0.0, .object($0.1)) }
    }
}
