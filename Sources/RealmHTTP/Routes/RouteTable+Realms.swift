// SPDX-License-Identifier: Apache-2.0

extension RouteTable {
    /// Realms, their schemas and their descriptions.
    static let realmRoutes: [Route] = [
        Route(
            "/v1/realms",
            operations: [
                .read(
                    .get, for: .read,
                    .init(
                        "listRealms", "The realms that are served.", tag: "realms", parameters: ["RequestId"],
                        responses: OpenAPIDocument.plain("Realms.", "RealmPage"))
                ) { $0.realms.list },
                .write(
                    .post, for: .administer,
                    .init(
                        "attachRealm", "Creates or attaches a realm.", tag: "realms",
                        parameters: ["DryRun", "Prefer", "RequestId"], body: OpenAPIWrites.json("RealmAttachment"),
                        responses: OpenAPIWrites.responses(
                            ("200", "What would have been, with dryRun=true.", "DryRun"), ("201", "The realm.", "RealmDocument")))
                ) { $0.realms.attach },
            ]),
        Route(
            "/v1/realms/{realm}",
            operations: [
                .read(
                    .get, for: .read,
                    .init(
                        "getRealm", "Facts about one realm.", tag: "realms", parameters: ["RequestId"],
                        responses: OpenAPIDocument.plain("The realm.", "RealmDocument"))
                ) { $0.realms.get },
                .write(
                    .delete, for: .administer,
                    .init(
                        "detachRealm", "Lets go of a realm.", tag: "realms", parameters: ["Files", "DryRun", "RequestId"],
                        responses: OpenAPIWrites.responses(
                            ("200", "What would have been, with dryRun=true.", "DryRun"), ("204", "It is detached.", nil),
                            isAsynchronous: false))
                ) { $0.realms.detach },
            ]),
        Route(
            "/v1/realms/{realm}/schema", .readsContents,
            operations: [
                .read(
                    .get, for: .read,
                    .init(
                        "getSchema", "The schema of a realm.", tag: "schema",
                        parameters: ["SchemaFormat", "Snapshot", "IfNoneMatch", "RequestId"],
                        responses: OpenAPIDocument.schemaResponses("SchemaDocument"))
                ) { $0.schemas.schema }
            ]),
        Route(
            "/v1/realms/{realm}/schema/{class}", .readsContents,
            operations: [
                .read(
                    .get, for: .read,
                    .init(
                        "getClass", "The schema of one class.", tag: "schema",
                        parameters: ["SchemaFormat", "Snapshot", "IfNoneMatch", "RequestId"],
                        responses: OpenAPIDocument.schemaResponses("SchemaClass"))
                ) { $0.schemas.schema }
            ]),
        Route(
            "/v1/realms/{realm}/openapi.json", .readsContents,
            operations: [
                .read(
                    .get, for: .read,
                    .init(
                        "getRealmOpenAPI", "The description of this API for the classes of one realm.", tag: "schema",
                        parameters: ["DocumentInts", "IfNoneMatch", "RequestId"],
                        responses: OpenAPIDocument.anyObject("An OpenAPI document."))
                ) { $0.schemas.realmOpenAPI }
            ]),
    ]
}
