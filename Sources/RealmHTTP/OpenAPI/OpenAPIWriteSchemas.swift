// SPDX-License-Identifier: Apache-2.0

/// The schemas of the documents that writes take and return.
///
/// Responses permit unknown members, since later versions of the server may add some.
extension OpenAPIWrites {
    /// The OpenAPI schema of a value that is any string.
    private static let text = OpenAPIParts.text
    /// The OpenAPI schema of a boolean.
    private static let flag: DocumentValue = ["type": "boolean"]
    /// The schema of a count. It is a number in both forms of integers: these documents do not
    /// depend on the parameter `ints`.
    private static let count: DocumentValue = ["type": "integer", "format": "int64"]
    /// The schema of the conditions of a compaction.
    private static let compactionConditions = object(
        [], ["minTotalBytes": count, "maxUsedRatio": ["type": "number", "format": "double", "minimum": 0, "maximum": 1]])
    /// The OpenAPI schema of any JSON value, which is the empty schema.
    private static let anything: DocumentValue = .object([])
    /// The OpenAPI schema of an array of strings.
    private static let texts: DocumentValue = ["type": "array", "items": text]

    /// Returns the schema of an object that may have other members too.
    ///
    /// - Parameters:
    ///   - required: The names of the members that are always there.
    ///   - properties: An object with the schema of each known member.
    private static func object(_ required: [String], _ properties: DocumentValue) -> DocumentValue {
        .members(
            ("type", "object"), ("required", required.isEmpty ? nil : .array(required.map { .string($0) })),
            ("properties", properties), ("additionalProperties", true))
    }

    /// The description of one backup.
    private static let backup = object(
        ["id", "kind", "time", "bytes", "version"],
        [
            "id": OpenAPIParts.text,
            "kind": OpenAPIParts.choice("request", "copy", "migration", "upgrade", "replaced", "planned"),
            "time": ["type": "string", "format": "date-time"], "bytes": OpenAPIParts.number(from: 0),
            "version": [
                "type": ["integer", "null"], "description": "Is the number of the version in the file; null when it is damaged.",
            ],
            "sha256": [
                "type": "string", "description": "Is the SHA-256 of the file in base64; lists leave it out when it is not known.",
            ],
        ])

    /// The schemas by name, in the order of the document.
    static let schemas: [(String, DocumentValue)] = [
        (
            "RestoreRequest",
            .members(
                ("type", "object"), ("required", ["backup"]),
                ("properties", ["backup": ["type": "string", "description": "The id of a backup of the realm."]]),
                ("additionalProperties", false))
        ),
        (
            "BackupRequest",
            .members(
                ("type", "object"),
                (
                    "properties",
                    [
                        "encryptionKey": [
                            "type": ["string", "null"],
                            "description":
                                "The key of the copy: 128 hex digits, or base64 of 64 bytes. Null makes a plain copy; without it the copy has the key of the realm.",
                        ],
                        "path": [
                            "type": "string",
                            "description":
                                "The path of a new file in a folder of the server that requests may name. Without it the response is the copy.",
                        ],
                        "classes": [
                            "type": "array", "minItems": 1, "items": OpenAPIParts.text,
                            "description":
                                "The classes of the copy. Embedded classes that they use come with them; properties that link to others are left out.",
                        ],
                    ]
                ), ("additionalProperties", false))
        ),
        (
            "BackupFile",
            object(
                ["path", "bytes", "sha256", "version"],
                [
                    "path": OpenAPIParts.text, "bytes": OpenAPIParts.number(from: 0), "sha256": OpenAPIParts.text,
                    "version": OpenAPIParts.text,
                ])
        ),
        ("Backup", backup),
        (
            "BackupPage",
            object(
                ["items", "next"],
                [
                    "items": ["type": "array", "items": OpenAPIParts.schema("Backup")],
                    "next": ["type": "null", "description": "Is always null: all backups are on one page."],
                    "state": OpenAPIParts.choice("none", "running", "ok", "failed"),
                    "lastError": ["type": "string", "description": "States why the last planned backup failed."],
                    "lastSuccess": ["type": "string", "description": "Is when this server stored a planned backup last."],
                ])
        ),
        (
            "Created",
            object(
                [],
                [
                    "created": count, "updated": count, "keys": texts, "version": text,
                    "items": ["type": "array", "items": OpenAPIParts.schema("Object")],
                ]
            ).describing("Is the created object, or counts and keys where the request had an array.")
        ),
        ("Matched", object([], ["matched": count, "version": text])),
        ("Imported", object([], ["created": count, "updated": count, "version": text])),
        (
            "DryRun",
            object(
                ["committed", "status"],
                [
                    "committed": flag, "status": ["type": "integer", "format": "int32"], "body": anything,
                ]
            ).describing("Is the response that the write would have had without dryRun=true.")
        ),
        (
            "JSONPatch",
            [
                "type": "array",
                "items": object(
                    ["op", "path"],
                    [
                        "op": OpenAPIParts.choice("add", "remove", "replace", "move", "copy", "test"), "path": text, "from": text,
                        "value": anything,
                    ]),
            ]
        ),
        ("Batch", object(["ops"], ["ops": ["type": "array", "items": OpenAPIParts.schema("BatchOperation")]])),
        ("BatchOperation", batchOperation),
        (
            "BatchResult",
            object(
                ["committed", "version", "results"],
                [
                    "committed": flag, "version": text,
                    "results": [
                        "type": "array",
                        "items": object(
                            [],
                            [
                                "key": text, "created": flag, "matched": count, "count": count, "value": anything,
                                "object": OpenAPIParts.schema("Object"),
                            ]),
                    ],
                ])
        ),
        ("TransactionOptions", object([], ["wait": text, "idle": text, "lifetime": text])),
        (
            "Transaction",
            object(
                ["id", "version", "idleTimeout", "expiresAt"],
                [
                    "id": text, "version": text, "idleTimeout": text, "expiresAt": ["type": "string", "format": "date-time"],
                    "state": OpenAPIParts.choice("open", "aborted", "committed", "rolledBack", "expired"),
                ])
        ),
        ("CommittedVersion", object(["version"], ["version": text])),
        (
            "WriteState",
            object(
                ["id", "state"],
                [
                    "id": text, "state": OpenAPIParts.choice("queued", "running", "committed", "failed", "cancelled"),
                    "version": ["type": "string", "nullable": true],
                    "status": ["type": "integer", "format": "int32", "nullable": true],
                    "body": anything, "problem": OpenAPIParts.schema("Problem"),
                ])
        ),
        (
            "Compacted",
            object(["before", "after", "version"], ["before": count, "after": count, "version": text])
        ),
        ("RealmKey", object(["encryptionKey"], ["encryptionKey": text])),
        (
            "RealmAttachment",
            object(
                [],
                [
                    "name": text, "schema": OpenAPIParts.schema("SchemaDefinition"), "path": text, "inMemory": text,
                    "mode": OpenAPIParts.choice("rw", "ro", "copy", "follow"), "followInterval": text, "encryptionKey": text,
                    "defaults": [
                        "type": "object", "description": "Holds the values of properties that creates leave out, by class.",
                        "additionalProperties": ["type": "object", "additionalProperties": true],
                    ],
                    "backlinkNames": [
                        "type": "object", "additionalProperties": ["type": "object", "additionalProperties": text],
                    ],
                    "schemaVersion": count,
                    "migrations": [
                        "type": "array",
                        "items": [
                            "type": "object", "additionalProperties": anything,
                            "description": "All of them a MigrationStep, or all of them a Migration.",
                        ],
                    ],
                    "allowDataLoss": flag, "maxActiveVersions": count, "upgrade": OpenAPIParts.choice("in-place"), "seed": text,
                    "sample": OpenAPIParts.choice("store"),
                    "compactOnOpen": compactionConditions, "autoCompact": compactionConditions,
                    "onMigrationNeeded": OpenAPIParts.choice("fail", "delete"),
                    "requireIfMatch": ["type": "array", "items": ["type": "string"]],
                    "classes": ["type": "array", "minItems": 1, "items": ["type": "string"]],
                    "keepMigrationBackups": ["type": "integer", "format": "int32", "minimum": 0, "maximum": 1000],
                ])
        ),
        (
            "SchemaDefinition",
            object(
                ["classes"],
                [
                    "schemaVersion": ["type": "integer", "format": "int64", "nullable": true],
                    "classes": ["type": "array", "items": OpenAPIParts.schema("ClassDefinition")],
                ])
        ),
        (
            "ClassDefinition",
            object(
                ["name"],
                [
                    "name": text, "type": OpenAPIParts.choice("object", "embedded"),
                    "primaryKey": ["type": "string", "nullable": true],
                    "properties": ["type": "array", "items": OpenAPIParts.schema("PropertyDefinition")],
                ])
        ),
        (
            "PropertyDefinition",
            object(
                ["name", "type"],
                [
                    "name": text, "type": text, "collection": ["type": "string", "nullable": true], "optional": flag,
                    "indexed": ["type": "string", "nullable": true], "objectType": ["type": "string", "nullable": true],
                ])
        ),
        (
            "SnapshotOptions",
            object(
                [], ["ttl": ["type": "string", "description": "States how long the version is held, as 60s or 2m; at most 10m."]])
        ),
        (
            "Snapshot",
            object(
                ["id", "version", "expiresAt", "behind"],
                [
                    "id": text, "version": text, "expiresAt": ["type": "string", "format": "date-time"],
                    "behind": [
                        "type": "integer", "format": "int64", "description": "Counts the commits made since that version.",
                    ],
                ])
        ),
        (
            "SnapshotPage",
            object(
                ["items", "next"],
                [
                    "items": ["type": "array", "items": OpenAPIParts.schema("Snapshot")],
                    "next": ["type": "string", "nullable": true],
                ])
        ),
        (
            "Migration",
            object(
                ["fromVersion", "toVersion", "steps"],
                [
                    "fromVersion": ["type": "integer", "format": "int64", "nullable": true], "toVersion": count,
                    "steps": ["type": "array", "items": OpenAPIParts.schema("MigrationStep")],
                    "allowDataLoss": flag,
                ])
        ),
        ("MigrationStep", migrationStep),
        ("MigrationLoopStep", loopStep),
        (
            "Migrated",
            object(
                [],
                [
                    "before": OpenAPIParts.schema("SchemaDocument"), "after": OpenAPIParts.schema("SchemaDocument"),
                    "version": text,
                    "backup": [
                        "type": "string", "description": "Names the copy of the file that was made beside it before the change.",
                    ],
                ])
        ),
    ]

    /// The schema of one operation of a batch: an object with exactly one member, whose name is the
    /// kind of operation.
    ///
    /// OpenAPI could say this with `oneOf` more exactly. Generators mishandle that, so the document
    /// bounds the number of members.
    private static let batchOperation: DocumentValue = {
        let target: [DocumentValue.Member] = [
            .init("class", text), .init("key", anything), .init("ifMatch", text), .init("ifNoneMatch", text),
        ]
        let matches: [DocumentValue.Member] = [
            .init("where", text), .init("args", ["type": "array", "items": anything]), .init("maxAffected", count),
        ]
        let body = DocumentValue.Member("body", anything)
        let nested = DocumentValue.Member("nested", OpenAPIParts.choice("refuse", "upsert"))
        let edits: [DocumentValue.Member] = [
            .init("property", text), .init("ops", ["type": "array", "items": ["type": "object", "additionalProperties": true]]),
        ]
        /// Returns a member of the schema for one kind of operation. All kinds require a class.
        ///
        /// - Parameters:
        ///   - name: The kind of operation.
        ///   - properties: The members of its value.
        func member(_ name: String, _ properties: [DocumentValue.Member]) -> DocumentValue.Member {
            .init(name, ["type": "object", "required": ["class"], "properties": .object(properties)])
        }
        return [
            "type": "object", "minProperties": 1, "maxProperties": 1,
            "properties": .object([
                member(
                    "create",
                    [
                        .init("class", text), body, .init("as", text), .init("upsert", OpenAPIParts.choice("modified", "all")),
                        nested,
                    ]),
                member("put", target + [body, nested]), member("patch", target + [body, nested]), member("delete", target),
                member("patchWhere", [.init("class", text)] + matches + [body, nested]),
                member("deleteWhere", [.init("class", text)] + matches),
                member("increment", target + [.init("property", text), .init("by", anything)]),
                member("assert", target + matches.dropLast() + [.init("count", count)]),
                member("list", target + edits), member("set", target + edits), member("dictionary", target + edits),
            ]),
        ]
    }()

    /// The schema of one step of a migration: an object with exactly one member, whose name is the
    /// kind of step.
    ///
    /// docs/migrations.md explains the steps.
    private static let migrationStep: DocumentValue = {
        /// Returns a member of the schema for one kind of step.
        ///
        /// - Parameters:
        ///   - name: The kind of step.
        ///   - required: The members that it needs.
        ///   - properties: All members of its value.
        func member(_ name: String, _ required: [String], _ properties: DocumentValue) -> DocumentValue.Member {
            .init(name, object(required, properties))
        }
        let matches: DocumentValue = ["class": text, "where": text, "args": ["type": "array", "items": anything]]
        let values: DocumentValue = ["type": "object", "additionalProperties": anything]
        let word: DocumentValue = ["type": "string", "nullable": true]
        return [
            "type": "object", "minProperties": 1, "maxProperties": 1,
            "properties": .object([
                member(
                    "addClass", ["name"],
                    ["name": text, "type": text, "primaryKey": word, "properties": ["type": "array", "items": values]]),
                member("removeClass", ["name"], ["name": text]),
                member("renameClass", ["name", "to"], ["name": text, "to": text]),
                member("addProperty", ["class", "property"], ["class": text, "property": values, "value": anything]),
                member("removeProperty", ["class", "name"], ["class": text, "name": text]),
                member("renameProperty", ["class", "name", "to"], ["class": text, "name": text, "to": text]),
                member(
                    "changeProperty", ["class", "name"],
                    [
                        "class": text, "name": text, "optional": flag, "type": text, "conversion": text, "nullValue": anything,
                        "onFailure": OpenAPIParts.choice("error", "null", "default").describing(
                            "Is what becomes of values that cannot be converted. To name null or default is to consent to their loss; allowDataLoss is not needed for it."
                        ),
                        "rounding": OpenAPIParts.choice("exact", "nearest", "truncate").describing(
                            "Is how numbers are rounded that the new type cannot hold exactly. To name it is to consent to that; allowDataLoss is not needed for it."
                        ),
                    ]),
                member("setPrimaryKey", ["class", "name"], ["class": text, "name": word]),
                member("setIndex", ["class", "name", "indexed"], ["class": text, "name": text, "indexed": word]),
                member("setType", ["class", "type"], ["class": text, "type": OpenAPIParts.choice("object", "embedded")]),
                member("set", ["class", "where", "values"], matches.adding([.init("values", values)])),
                member("create", ["class", "body"], creation),
                member("delete", ["class", "where"], matches),
                member(
                    "forEach", ["class", "as", "steps"],
                    matches.adding([.init("as", text), .init("keyAs", text), .init("steps", loopSteps)])),
            ]),
        ]
    }()

    /// The schema of the value of a `create` step.
    private static let creation: DocumentValue = [
        "class": text, "body": ["type": "object", "additionalProperties": anything], "as": text,
        "upsert": OpenAPIParts.choice("modified", "all"),
    ]

    /// The schema of the steps of a loop.
    private static let loopSteps: DocumentValue = ["type": "array", "items": OpenAPIParts.schema("MigrationLoopStep")]

    /// The schema of one step inside a `forEach` step: an object with exactly one member.
    private static let loopStep: DocumentValue = [
        "type": "object", "minProperties": 1, "maxProperties": 1,
        "properties": [
            "create": object(["class", "body"], creation),
            "set": object(
                ["object", "values"], ["object": text, "values": ["type": "object", "additionalProperties": anything]]),
            "delete": object(["object"], ["object": text]),
            "forEach": object(
                ["in", "as", "steps"], ["in": text, "as": text, "keyAs": text, "steps": loopSteps]),
        ],
    ]
}

extension DocumentValue {
    /// Returns the same schema with a description at its end.
    ///
    /// - Parameter text: A sentence for readers of the document.
    fileprivate func describing(_ text: String) -> DocumentValue { adding([.init("description", .string(text))]) }
}
