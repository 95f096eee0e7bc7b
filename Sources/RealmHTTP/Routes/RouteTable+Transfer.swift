// SPDX-License-Identifier: Apache-2.0

internal import MicroHTTP
internal import RealmAccess
internal import RealmFormats
internal import RealmPlatform
internal import RealmStorage

extension RouteTable {
    /// The routes of migrations, exports, comparisons, imports and backups.
    static let transferRoutes: [Route] = [
        Route(
            "/v1/realms/{realm}/migrations", [.showsVisible, .migrates],
            operations: [
                .write(
                    .post, for: .administer,
                    .init(
                        "migrate", "Changes the schema, and the data with it.", tag: "schema",
                        parameters: ["DryRun"] + OpenAPIWrites.shape + ["IfMatch", "Prefer", "IdempotencyKey", "RequestId"],
                        taking: .json, body: OpenAPIParts.schema("Migration"),
                        responses: OpenAPIWrites.responses(("200", "The body states the schema before and after.", "Migrated")),
                        problems: .ofWrites, .ofValues, .ofQueries, .ofSchemas, [.missingWhere, .tooManyAffected])
                ) { _ in MigrationEndpoints.migrate }
            ]),
        Route(
            "/v1/realms/{realm}/export", [.readsContents, .showsVisible, .exports],
            operations: [
                .read(
                    .get, for: .read,
                    .init(
                        "exportRealm", "Exports all objects of one version.", tag: "transfer",
                        parameters: [
                            "ExportFormat", "ForExcel", "Geometry", "ExportClass", "Where", "Args", "Sort", "Snapshot",
                            "ReadVersion",
                            "RealmTransaction",
                            "RealmMinVersion", "RealmRead", "RequestId",
                        ],
                        responses: exportResponses, problems: .ofReads, .ofQueries)
                ) { ExportEndpoints(server: $0).get }.audited(as: .export)
            ]),
        Route(
            "/v1/realms/{realm}/diff", [.showsVisible, .exports],
            operations: [
                .read(
                    .get, for: .read,
                    .init(
                        "compareVersions", "Compares a version that is held with another one, or with the newest.",
                        tag: "transfer",
                        parameters: [
                            "ComparedFrom", "ComparedTo", "ComparedClasses", "ComparisonFormat", "RealmMinVersion", "RealmRead",
                            "RequestId",
                        ],
                        responses: comparisonResponses, problems: .ofReads)
                ) { ComparisonEndpoints(server: $0).get }.audited(as: .export)
            ]),
        Route(
            "/v1/realms/{realm}/backup", .readsContents,
            operations: [
                .read(
                    .get, for: .read,
                    .init(
                        "backUpRealm", "Returns a version as a compact Realm file.", tag: "transfer",
                        parameters: ["Snapshot", "ReadVersion", "RealmTransaction", "RealmMinVersion", "RealmRead", "RequestId"],
                        responses: OpenAPIParts.responses(backup, isConditional: false), problems: .ofReads)
                ) { BackupEndpoints(server: $0).get }.audited(as: .backup),
                .read(
                    .post, for: .read,
                    .init(
                        "copyRealm",
                        "Copies a version under another key, with a part of the classes, or to a file of the server.",
                        tag: "transfer",
                        parameters: [
                            "Snapshot", "ReadVersion", "IfMatch", "RealmTransaction", "RealmMinVersion", "RealmRead", "RequestId",
                        ],
                        taking: .json, body: OpenAPIParts.schema("BackupRequest"),
                        responses: OpenAPIParts.responses(backup, isConditional: false, storedBackup),
                        problems: .ofReads, .ofSchemas, .ofFiles)
                ) { BackupEndpoints(server: $0).post }.audited(as: .backup),
            ]),
        Route(
            "/v1/realms/{realm}/compact",
            operations: [
                .write(
                    .post, for: .administer,
                    .init(
                        "compactRealm", "Replaces the file by one without free space.", tag: "transfer",
                        parameters: ["IfMatch", "Prefer", "IdempotencyKey", "RequestId"],
                        responses: OpenAPIWrites.responses(
                            ("200", "The body states the size of the file before and after.", "Compacted")),
                        problems: .ofWrites)
                ) { CompactionEndpoints(server: $0).compact }
            ]),
        Route(
            "/v1/realms/{realm}/backups", .concernsFile,
            operations: [
                .read(
                    .get, for: .administer,
                    .init(
                        "listBackups", "Lists the backups of a realm, the newest first.", tag: "transfer",
                        parameters: ["RequestId"],
                        responses: OpenAPIParts.responses(
                            document("The body lists the backups.", "BackupPage"), isConditional: false),
                        problems: .ofRealms)
                ) { BackupListEndpoints(server: $0).list },
                .read(
                    .post, for: .administer,
                    .init(
                        "makeBackup", "Makes a backup of the newest version now.", tag: "transfer",
                        parameters: ["IfMatch", "RequestId"],
                        responses: OpenAPIWrites.responses(
                            ("201", "The body describes the new backup.", "Backup"), isAsynchronous: false),
                        problems: .ofRealms, [.notOwned, .preconditionFailed])
                ) { BackupListEndpoints(server: $0).make }.audited(as: .backup),
            ]),
        Route(
            "/v1/realms/{realm}/backups/{id}", .concernsFile,
            operations: [
                .read(
                    .get, for: .administer,
                    .init(
                        "getBackup", "Describes a backup, or returns its file.", tag: "transfer",
                        parameters: ["DownloadFile", "RequestId"], responses: backupResponses, problems: .ofRealms)
                ) { BackupListEndpoints(server: $0).get }.audited(as: .backup),
                .write(
                    .delete, for: .administer,
                    .init(
                        "deleteBackup", "Deletes a backup.", tag: "transfer", parameters: ["IfMatch", "RequestId"],
                        responses: OpenAPIWrites.responses(("204", "The backup is deleted.", nil), isAsynchronous: false),
                        problems: .ofRealms, [.readOnly, .preconditionFailed])
                ) { BackupListEndpoints(server: $0).delete }.audited(as: .backup),
            ]),
        Route(
            "/v1/realms/{realm}/restore", [.concernsFile, .hasLongBodies, .endsWithClient],
            operations: [
                .write(
                    .post, for: .administer,
                    .init(
                        "restoreRealm", "Replaces the file by a backup, or by the file in the body.", tag: "transfer",
                        parameters: ["DryRun"] + OpenAPIWrites.shape + ["IfMatch", "IdempotencyKey", "RequestId"],
                        taking: .realmFile, body: OpenAPIParts.schema("RestoreRequest"),
                        responses: OpenAPIWrites.responses(
                            ("200", "The body describes the realm, with the id of the backup of the old file.", "RealmDocument"),
                            isAsynchronous: false),
                        problems: .ofWrites, .ofSchemas, [.notOwned])
                ) { RestoreEndpoints(server: $0).restore }.audited(as: .backup)
            ]),
        Route(
            "/v1/realms/{realm}/import", [.hasLongBodies, .showsVisible, .imports],
            operations: [
                .write(
                    .post, for: .write,
                    .init(
                        "importObjects", "Imports an export, or lines with objects of one class.", tag: "transfer",
                        parameters: [
                            "ImportMode", "ImportClass", "Atomic", "ImportColumns", "ImportSeparator", "ImportTables",
                            "IdempotencyKey",
                        ] + OpenAPIWrites.common,
                        taking: .imports, body: ["type": "array", "items": ["type": "object"]],
                        responses: OpenAPIWrites.responses(
                            ("200", "The body counts the objects that were created and updated.", "Imported")),
                        problems: .ofWrites, .ofValues)
                ) { ImportEndpoints(server: $0).post }
            ]),
    ]

    /// The response that has a Realm file as its body. It has no entity tag that could be compared, because
    /// its bytes are not known before they are made.
    private static let backup: DocumentValue = [
        "description": "The body is a Realm file.",
        "headers": [
            "X-Request-Id": OpenAPIParts.header("RequestId"), "Realm-Version": OpenAPIParts.header("RealmVersion"),
            "Repr-Digest": OpenAPIParts.header("ReprDigest"),
        ],
        "content": ["application/octet-stream": ["schema": ["type": "string", "format": "binary"]]],
    ]

    /// Returns a response with a JSON document.
    ///
    /// - Parameters:
    ///   - description: A sentence for readers of the document.
    ///   - schema: The name of the shared schema of the body.
    private static func document(_ description: String, _ schema: String) -> DocumentValue {
        [
            "description": .string(description), "headers": OpenAPIParts.headers,
            "content": ["application/json": ["schema": OpenAPIParts.schema(schema)]],
        ]
    }

    /// The responses of one backup: its description, or its file.
    private static let backupResponses = OpenAPIParts.responses(
        [
            "description": "The body describes the backup, or is its file for clients that name that media type in Accept.",
            "headers": [
                "X-Request-Id": OpenAPIParts.header("RequestId"), "Repr-Digest": OpenAPIParts.header("ReprDigest"),
            ],
            "content": [
                "application/json": ["schema": OpenAPIParts.schema("Backup")],
                "application/octet-stream": ["schema": ["type": "string", "format": "binary"]],
            ],
        ], isConditional: false)

    /// The response that describes a copy which was stored on the server.
    private static let storedBackup = DocumentValue.Member(
        "201",
        [
            "description": "The copy is in a file of the server.", "headers": OpenAPIParts.headers,
            "content": ["application/json": ["schema": OpenAPIParts.schema("BackupFile")]],
        ])

    /// The responses of an export, which has no entity tag that could be compared.
    private static let exportResponses = OpenAPIParts.responses(
        [
            "description": "The body is the export.",
            "headers": OpenAPIParts.readHeaders.adding([.init("Realm-Partial", OpenAPIParts.header("RealmPartial"))]),
            "content": .object(
                [
                    .init("application/x-ndjson", ["schema": OpenAPIParts.schema("Lines")]),
                    .init("application/json", ["schema": OpenAPIParts.schema("Export")]),
                    .init("text/csv", ["schema": OpenAPIParts.schema("Table")]),
                ]
                    + ExportFormat.allCases.filter { ![.ndjson, .json, .csv].contains($0) }.map {
                        .init($0.mediaType.description, ["schema": ["type": "string", "format": "binary"]])
                    }),
        ], isConditional: false)

    /// Success has one of four media types, and no entity tag that could be compared.
    private static let comparisonResponses = OpenAPIParts.responses(
        [
            "description": "The body is the comparison.",
            "headers": OpenAPIParts.readHeaders.adding([.init("Realm-Partial", OpenAPIParts.header("RealmPartial"))]),
            "content": [
                "application/x-ndjson": ["schema": OpenAPIParts.schema("Lines")],
                "application/json": ["schema": OpenAPIParts.schema("Comparison")],
                "text/html": ["schema": ["type": "string"]], "text/plain": ["schema": ["type": "string"]],
            ],
        ], isConditional: false)
}
