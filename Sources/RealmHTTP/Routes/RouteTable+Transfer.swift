// SPDX-License-Identifier: Apache-2.0

extension RouteTable {
    /// The routes of migrations, exports and imports.
    static let transferRoutes: [Route] = [
        Route(
            "/v1/realms/{realm}/migrations",
            operations: [
                .write(
                    .post, for: .administer,
                    .init(
                        "migrate", "Changes the schema, and the data with it.", tag: "schema",
                        parameters: ["DryRun"] + OpenAPIWrites.shape + ["IfMatch", "Prefer", "IdempotencyKey", "RequestId"],
                        taking: .json, body: OpenAPIParts.schema("Migration"),
                        responses: OpenAPIWrites.responses(("200", "The body states the schema before and after.", "Migrated")),
                        problems: .ofWrites, .ofValues, .ofQueries, .ofSchemas)
                ) { $0.migrations.migrate }
            ]),
        Route(
            "/v1/realms/{realm}/export", .readsContents,
            operations: [
                .read(
                    .get, for: .read,
                    .init(
                        "exportRealm", "Exports all objects of one version.", tag: "transfer",
                        parameters: [
                            "ExportFormat", "ForExcel", "ExportClass", "Where", "Args", "Snapshot", "RealmTransaction",
                            "RealmMinVersion", "RequestId",
                        ],
                        responses: exportResponses, problems: .ofReads, .ofQueries)
                ) { $0.exports.get }
            ]),
        Route(
            "/v1/realms/{realm}/import", .hasLongBodies,
            operations: [
                .write(
                    .post, for: .write,
                    .init(
                        "importObjects", "Imports an export, or lines with objects of one class.", tag: "transfer",
                        parameters: ["ImportMode", "ImportClass", "Atomic", "IdempotencyKey"] + OpenAPIWrites.common,
                        taking: .lines, body: OpenAPIParts.text,
                        responses: OpenAPIWrites.responses(
                            ("200", "The body counts the objects that were created and updated.", "Imported")),
                        problems: .ofWrites, .ofValues)
                ) { $0.imports.post }
            ]),
    ]

    /// The responses of an export, which has no entity tag that could be compared.
    private static let exportResponses = OpenAPIParts.responses(
        [
            "description": "The body is the export.", "headers": OpenAPIParts.readHeaders,
            "content": [
                "application/x-ndjson": ["schema": OpenAPIParts.text], "application/json": ["schema": ["type": "object"]],
                "text/csv": ["schema": OpenAPIParts.text],
            ],
        ], isConditional: false)
}
