// SPDX-License-Identifier: Apache-2.0

internal import MicroHTTP
internal import RealmAccess
internal import RealmFormats
internal import RealmPlatform
internal import RealmStorage

extension RouteTable {
    /// The routes of realms, their schemas and their API descriptions.
    static let realmRoutes: [Route] = [
        Route(
            "/v1/realms", .showsVisible,
            operations: [
                .read(
                    .get, for: .read,
                    .init(
                        "listRealms", "Lists the realms that are served and that the client may know of, by name.", tag: "realms",
                        parameters: ["Limit", "After", "RequestId"],
                        responses: OpenAPIDocument.plain(
                            "The body lists the realms.", "RealmPage", headers: OpenAPIParts.headers),
                        problems: [.cursorInvalid])
                ) { RealmEndpoints(server: $0).list },
                .write(
                    .post, for: .administer,
                    .init(
                        "attachRealm", "Creates or attaches a realm.", tag: "realms",
                        parameters: ["DryRun"] + OpenAPIWrites.shape + ["Prefer", "RequestId"], taking: .json,
                        body: OpenAPIParts.schema("RealmAttachment"),
                        responses: OpenAPIWrites.responses(
                            ("200", "With dryRun=true the body is the response that the write would have had.", "DryRun"),
                            ("201", "The body describes the realm.", "RealmDocument")),
                        problems: .ofWrites, .ofValues, .ofQueries, .ofSchemas, .ofFiles, [.missingWhere, .tooManyAffected])
                ) { RealmEndpoints(server: $0).attach },
            ]),
        Route(
            "/v1/uploads", .hasLongBodies,
            operations: [
                .write(
                    .post, for: .administer,
                    .init(
                        "uploadRealm", "Serves a private copy of the Realm file in the body.", tag: "realms",
                        parameters: ["UploadName", "EncryptionKey", "DryRun"] + OpenAPIWrites.shape + ["RequestId"],
                        taking: .file,
                        body: OpenAPIParts.text,
                        responses: OpenAPIWrites.responses(
                            ("200", "With dryRun=true the body is the response that the write would have had.", "DryRun"),
                            ("201", "The body describes the realm.", "RealmDocument"),
                            isAsynchronous: false),
                        problems: .ofWrites, .ofFiles)
                ) { UploadEndpoints(server: $0).upload }
            ]),
        Route(
            "/v1/realms/{realm}", .showsVisible,
            operations: [
                .read(
                    .get, for: .read,
                    .init(
                        "getRealm", "Describes one realm.", tag: "realms", parameters: ["RequestId"],
                        responses: OpenAPIDocument.plain(
                            "The body describes the realm.", "RealmDocument", headers: OpenAPIChanges.answerHeaders),
                        problems: .ofRealms)
                ) { RealmEndpoints(server: $0).get },
                .write(
                    .delete, for: .administer,
                    .init(
                        "detachRealm", "Detaches a realm from the server.", tag: "realms",
                        parameters: ["Files", "DryRun"] + OpenAPIWrites.shape + ["IfMatch", "RequestId"],
                        responses: OpenAPIWrites.responses(
                            ("200", "With dryRun=true the body is the response that the write would have had.", "DryRun"),
                            ("204", "The realm is detached.", nil),
                            isAsynchronous: false),
                        problems: .ofWrites, .ofFiles)
                ) { RealmEndpoints(server: $0).detach },
            ]),
        Route(
            "/v1/realms/{realm}/key", [.concernsFile, .concernsNode],
            operations: [
                .write(
                    .put, for: .administer,
                    .init(
                        "putRealmKey", "Opens a realm that lacks its encryption key.", tag: "realms",
                        parameters: ["RequestId"], taking: .json, body: OpenAPIParts.schema("RealmKey"),
                        responses: OpenAPIWrites.responses(("204", "The realm is open.", nil), isAsynchronous: false),
                        problems: .ofBodies, .ofRealms, .ofFiles, [.preconditionFailed])
                ) { RealmEndpoints(server: $0).putKey }
            ]),
        Route(
            "/v1/realms/{realm}/stats", .showsVisible,
            operations: [
                .read(
                    .get, for: .read,
                    .init(
                        "getStats", "Says what the bytes of the file are there for.", tag: "realms",
                        parameters: ["Snapshot", "ReadVersion", "RealmMinVersion", "RealmRead", "RequestId"],
                        responses: OpenAPIParts.responses(
                            [
                                "description": "The body has the sizes of classes, properties, indexes and free space.",
                                "headers": OpenAPIChanges.answerHeaders,
                                "content": ["application/json": ["schema": OpenAPIParts.schema("RealmStats")]],
                            ],
                            isConditional: false),
                        problems: .ofReads)
                ) { StatsEndpoints(server: $0).get }
            ]),
        Route(
            "/v1/realms/{realm}/versions", .showsVisible,
            operations: [
                .read(
                    .get, for: .read,
                    .init(
                        "listVersions", "Lists the versions that the file has, with what each commit changed.", tag: "realms",
                        parameters: ["VersionLimit", "After", "RealmMinVersion", "RealmRead", "RequestId"],
                        responses: OpenAPIParts.responses(
                            [
                                "description": "The body lists the newest version and those before it, the newest first.",
                                "headers": OpenAPIChanges.answerHeaders,
                                "content": ["application/json": ["schema": OpenAPIParts.schema("RealmVersions")]],
                            ],
                            isConditional: false),
                        problems: .ofReads, [.cursorInvalid])
                ) { VersionEndpoints(server: $0).list }
            ]),
        Route(
            "/v1/realms/{realm}/undo",
            operations: [
                .write(
                    .post, for: .administer,
                    .init(
                        "undoCommit", "Undoes the changes of one commit by a new one.", tag: "realms",
                        parameters: OpenAPIWrites.common.filter { $0 != "RealmTransaction" }, taking: .json,
                        body: OpenAPIParts.schema("Undo"),
                        responses: OpenAPIWrites.responses(
                            ("200", "The body counts the objects that were changed back.", "Undone")),
                        problems: .ofWrites, [.versionNotFound, .conflict, .tooManyAffected])
                ) { VersionEndpoints(server: $0).undo }
            ]),
        Route(
            "/v1/realms/{realm}/schema", [.readsContents, .showsVisible],
            operations: [
                .read(
                    .get, for: .read,
                    .init(
                        "getSchema", "Returns the schema of a realm.", tag: "schema",
                        parameters: ["SchemaFormat", "Snapshot", "ReadVersion", "IfNoneMatch", "RealmTransaction", "RequestId"],
                        responses: OpenAPIDocument.schemaResponses("SchemaDocument"), problems: .ofReads)
                ) { SchemaEndpoints(server: $0).schema }
            ]),
        Route(
            "/v1/realms/{realm}/schema/{class}", [.readsContents, .showsVisible],
            operations: [
                .read(
                    .get, for: .read,
                    .init(
                        "getClass", "Returns the schema of one class.", tag: "schema",
                        parameters: ["SchemaFormat", "Snapshot", "ReadVersion", "IfNoneMatch", "RealmTransaction", "RequestId"],
                        responses: OpenAPIDocument.schemaResponses("SchemaClass"), problems: .ofReads)
                ) { SchemaEndpoints(server: $0).schema }
            ]),
        Route(
            "/v1/realms/{realm}/openapi.json", [.readsContents, .showsVisible],
            operations: [
                .read(
                    .get, for: .read,
                    .init(
                        "getRealmOpenAPI", "Describes this API for the classes of one realm.", tag: "schema",
                        parameters: ["DocumentInts", "DocumentProfile", "IfNoneMatch", "RealmTransaction", "RequestId"],
                        responses: OpenAPIDocument.description(headers: OpenAPIParts.readHeaders), problems: .ofReads)
                ) { SchemaEndpoints(server: $0).realmOpenAPI }
            ]),
    ]
}
