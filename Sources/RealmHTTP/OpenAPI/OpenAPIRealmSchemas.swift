// SPDX-License-Identifier: Apache-2.0

internal import RealmAccess
internal import RealmFormats
internal import RealmPlatform
internal import RealmStorage

/// The schemas of realms as a whole: how they are attached, backed up and migrated.
extension OpenAPIWrites {
    private static let compactionConditions = closed(
        [],
        [
            "minTotalBytes": OpenAPIParts.number(from: 0),
            "maxUsedRatio": ["type": "number", "format": "double", "minimum": 0, "maximum": 1, "example": .json("0.5")],
        ])
    private static let encryptionKey: DocumentValue = [
        "type": "string", "description": "Is a key of 64 bytes, as 128 hex digits or in base64.",
        "pattern": "^([0-9A-Fa-f]{128}|[A-Za-z0-9+/_-]{86}={0,2})$", "example": .string(String(repeating: "0f", count: 64)),
    ]
    private static let classNames: DocumentValue = [
        "type": "array", "minItems": 1, "items": ["type": "string", "minLength": 1, "example": "Category"],
        "example": ["Category"],
    ]
    /// The schema of the SHA-256 of a file.
    private static let digest: DocumentValue = [
        "type": "string", "description": "Is the SHA-256 of the file in base64; lists leave it out when it is not known.",
        "example": "47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=",
    ]

    static let backups: [(String, DocumentValue)] = [
        ("RestoreRequest", closed(["backup"], ["backup": OpenAPIParts.words("20240517T093000Z-k3f9q2-1841")])),
        (
            "BackupRequest",
            closed(
                [],
                [
                    "encryptionKey": encryptionKey.orNull,
                    "path": OpenAPIParts.words("/data/copy.realm").describing(
                        "The path of a new file in a folder of the server that requests may name. Without it the response is the copy."
                    ),
                    "classes": classNames.describing(
                        "The classes of the copy. Embedded classes that they use come with them; properties that link to others are left out."
                    ),
                ]
            ).describing(
                "With encryptionKey null the copy is plain; without it the copy has the key of the realm."
            ).adding([.init("example", ["classes": ["Category"]])])
        ),
        (
            "BackupFile",
            object(
                ["path", "bytes", "sha256", "version"],
                ["path": text, "bytes": OpenAPIParts.number(from: 0), "sha256": digest, "version": text])
        ),
        (
            "Backup",
            object(
                ["id", "kind", "time", "bytes", "version"],
                [
                    "id": text, "kind": OpenAPIParts.choice("request", "copy", "migration", "upgrade", "replaced", "planned"),
                    "time": time, "bytes": OpenAPIParts.number(from: 0),
                    "version": count.orNull.describing(
                        "Is the number of the version in the file; null when it is damaged, or states none."),
                    "fileFormat": count.describing("Is the format of the file, where it is known."),
                    "damaged": flag.describing(
                        "Is whether the file cannot be read; it is left out for planned backups, which are not looked at."),
                    "sha256": digest,
                ])
        ),
        (
            "BackupPage",
            object(
                ["items", "next"],
                [
                    "items": ["type": "array", "items": OpenAPIParts.schema("Backup")],
                    "next": OpenAPIParts.nullableText.describing(
                        "Is always null: all backups are on one page."),
                    "state": OpenAPIParts.choice("none", "running", "ok", "failed"),
                    "lastError": text.describing("States why the last planned backup failed."),
                    "lastSuccess": text.describing("Is when this server stored a planned backup last."),
                ])
        ),
        ("Compacted", object(["before", "after", "version"], ["before": count, "after": count, "version": text])),
    ]

    /// The schemas of realms that are attached or created.
    static func realms(_ limits: Limits) -> [(String, DocumentValue)] {
        [
            ("RealmKey", closed(["encryptionKey"], ["encryptionKey": encryptionKey])),
            ("RealmAttachment", attachment),
            (
                "SchemaDefinition",
                closed(
                    ["classes"],
                    [
                        "schemaVersion": OpenAPIParts.number(from: 0).orNull,
                        "classes": [
                            "type": "array", "maxItems": .int(limits.classes), "items": OpenAPIParts.schema("ClassDefinition"),
                        ],
                    ])
            ),
            (
                "ClassDefinition",
                closed(
                    ["name"],
                    [
                        "name": OpenAPIParts.words(atMost: 57, "Category"), "type": OpenAPIParts.choice("object", "embedded"),
                        "primaryKey": OpenAPIParts.nullableText.adding([.init("example", "id")]),
                        "properties": [
                            "type": "array", "maxItems": .int(limits.properties),
                            "items": OpenAPIParts.schema("PropertyDefinition"),
                        ],
                    ]
                ).adding([
                    .init(
                        "example", ["name": "Category", "primaryKey": "id", "properties": [["name": "id", "type": "int"]]])
                ])
            ),
            (
                "PropertyDefinition",
                closed(
                    ["name", "type"],
                    [
                        "name": OpenAPIParts.words(atMost: 63, "id"), "type": OpenAPIParts.words("int"),
                        "collection": OpenAPIParts.nullableChoice("list", "set", "dictionary"),
                        "optional": flag,
                        "indexed": OpenAPIParts.nullableChoice("general", "fulltext"),
                        "objectType": OpenAPIParts.nullableText,
                    ]
                ).adding([.init("example", ["name": "id", "type": "int"])])
            ),
        ]
    }

    /// The schema of a request that attaches or creates a realm.
    private static let attachment = closed(
        [],
        [
            "name": OpenAPIParts.words(pattern: "^[A-Za-z0-9_-][A-Za-z0-9._-]{0,63}$", "shop"),
            "schema": OpenAPIParts.schema("SchemaDefinition"), "path": OpenAPIParts.words("/data/shop.realm"),
            "inMemory": OpenAPIParts.words("shop"), "mode": OpenAPIParts.choice("rw", "ro", "copy", "follow"),
            "followInterval": OpenAPIParts.duration("1s"), "encryptionKey": encryptionKey,
            "defaults": [
                "type": "object", "description": "Holds the values of properties that creates leave out, by class.",
                "additionalProperties": OpenAPIParts.schema("AnyProperties"),
                "example": ["Category": ["name": "New"]],
            ],
            "backlinkNames": [
                "type": "object", "description": "Names linking objects, by class.",
                "additionalProperties": [
                    "type": "object", "additionalProperties": ["type": "string", "example": "Product.category"],
                    "example": ["products": "Product.category"],
                ], "example": ["Category": ["products": "Product.category"]],
            ],
            "schemaVersion": OpenAPIParts.number(from: 0),
            "migrations": [
                "type": "array", "description": "All of them a MigrationStep, or all of them a Migration.",
                "items": OpenAPIParts.schema("AnyProperties"), "example": [["removeClass": ["name": "Old"]]],
            ],
            "allowDataLoss": flag, "maxActiveVersions": OpenAPIParts.number(from: 1),
            "upgrade": OpenAPIParts.choice("in-place"), "seed": OpenAPIParts.words("/data/seed.realm"),
            "sample": OpenAPIParts.choice("store"), "compactOnOpen": compactionConditions, "autoCompact": compactionConditions,
            "onMigrationNeeded": OpenAPIParts.choice("fail", "delete"), "requireIfMatch": classNames, "classes": classNames,
            "undo": OpenAPIParts.schema("UndoOption"),
            "keepMigrationBackups": [
                "type": "integer", "format": "int32", "minimum": 0, "maximum": 1000, "example": 3,
            ],
        ]
    ).adding([
        .init(
            "example",
            [
                "name": "shop", "inMemory": "shop",
                "schema": [
                    "classes": [["name": "Category", "primaryKey": "id", "properties": [["name": "id", "type": "int"]]]]
                ],
            ])
    ])

    static func migrations(_ limits: Limits) -> [(String, DocumentValue)] {
        [
            (
                "Migration",
                closed(
                    ["fromVersion", "toVersion", "steps"],
                    [
                        "fromVersion": OpenAPIParts.number(from: 0).orNull, "toVersion": OpenAPIParts.number(from: 0),
                        "steps": ["type": "array", "items": OpenAPIParts.schema("MigrationStep")], "allowDataLoss": flag,
                    ]
                ).adding([
                    .init(
                        "example",
                        [
                            "fromVersion": 1, "toVersion": 2,
                            "steps": [["renameProperty": ["class": "Category", "name": "name", "to": "title"]]],
                        ])
                ])
            ),
            ("MigrationStep", migrationStep(limits)),
            ("MigrationLoopStep", loopStep(limits)),
            (
                "Migrated",
                object(
                    [],
                    [
                        "before": OpenAPIParts.schema("SchemaDocument"), "after": OpenAPIParts.schema("SchemaDocument"),
                        "version": text,
                        "backup": text.describing("Names the copy that was made next to the file before the change."),
                    ])
            ),
        ]
    }

    /// The schema of one step of a migration: an object with exactly one member, whose name is the kind of step.
    ///
    /// docs/migrations.md explains the steps.
    private static func migrationStep(_ limits: Limits) -> DocumentValue {
        /// Returns a member of the schema for one kind of step.
        ///
        /// - Parameters:
        ///   - name: The kind of step.
        ///   - required: The members that it needs.
        func member(_ name: String, _ required: [String], _ properties: DocumentValue) -> DocumentValue.Member {
            .init(name, closed(required, properties))
        }
        let matches: DocumentValue = ["class": text, "where": text, "args": OpenAPIParts.arguments(limits)]
        let values: DocumentValue = OpenAPIParts.schema("AnyProperties")
        let word: DocumentValue = ["type": "string", "nullable": true]
        return [
            "type": "object", "minProperties": 1, "maxProperties": 1, "additionalProperties": false,
            "example": ["renameProperty": ["class": "Category", "name": "name", "to": "title"]],
            "properties": .object([
                member(
                    "addClass", ["name"],
                    ["name": text, "type": text, "primaryKey": word, "properties": ["type": "array", "items": values]]),
                member("removeClass", ["name"], ["name": text]),
                member("renameClass", ["name", "to"], ["name": text, "to": text]),
                member(
                    "addProperty", ["class", "property"],
                    ["class": text, "property": values, "value": anything.describing("Is the value of existing objects.")]),
                member("removeProperty", ["class", "name"], ["class": text, "name": text]),
                member("renameProperty", ["class", "name", "to"], ["class": text, "name": text, "to": text]),
                member(
                    "changeProperty", ["class", "name"],
                    [
                        "class": text, "name": text, "optional": flag, "type": text, "conversion": text,
                        "nullValue": anything.describing("Is the value that replaces null."),
                        "onFailure": OpenAPIParts.choice("error", "null", "default").describing(
                            "States the fallback for values that cannot be converted. Naming null or default is consent to their loss, so allowDataLoss is not needed."
                        ),
                        "rounding": OpenAPIParts.choice("exact", "nearest", "truncate").describing(
                            "States the rounding of numbers that the new type cannot hold exactly. Naming it is consent to the rounding, so allowDataLoss is not needed."
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
    }

    /// The schema of the value of a `create` step.
    private static let creation: DocumentValue = [
        "class": text, "body": OpenAPIParts.schema("AnyProperties"), "as": text,
        "upsert": OpenAPIParts.choice("modified", "all"),
    ]

    private static let loopSteps: DocumentValue = ["type": "array", "items": OpenAPIParts.schema("MigrationLoopStep")]

    /// The schema of one step inside a `forEach` step: an object with exactly one member.
    private static func loopStep(_ limits: Limits) -> DocumentValue {
        [
            "type": "object", "minProperties": 1, "maxProperties": 1, "additionalProperties": false,
            "example": ["delete": ["object": "each"]],
            "properties": [
                "create": closed(["class", "body"], creation),
                "set": closed(
                    ["object", "values"], ["object": text, "values": OpenAPIParts.schema("AnyProperties")]),
                "delete": closed(["object"], ["object": text]),
                "forEach": closed(
                    ["in", "as", "steps"], ["in": text, "as": text, "keyAs": text, "steps": loopSteps]),
            ],
        ]
    }
}
