// SPDX-License-Identifier: Apache-2.0

internal import MicroHTTP
internal import RealmAccess
internal import RealmFormats
internal import RealmPlatform
internal import RealmStorage

extension RouteTable {
    /// The routes of what the unused space of a file still holds. They are for administrators.
    static let recoveryRoutes: [Route] = [
        Route(
            "/v1/realms/{realm}/recovered",
            operations: [
                .read(
                    .get, for: .administer,
                    .init(
                        "listRecovered", "Lists deleted objects and former values that the file still holds.", tag: "transfer",
                        parameters: [
                            "RecoveredClass", "RecoveredKind", "RecoveredCertainty", "RecoveredSince", "RecoveredVersions",
                            "Limit",
                            "After", "Prefer", "RequestId",
                        ],
                        responses: recoveredResponses, problems: .ofReads, copying, [.cursorInvalid])
                ) { RecoveredEndpoints(server: $0).list }.audited(as: .export),
                .read(
                    .delete, for: .administer,
                    .init(
                        "releaseRecovered", "Releases what a search of the file has found.", tag: "transfer",
                        parameters: ["RequestId"],
                        responses: OpenAPIWrites.responses(("204", "It is released.", nil), isAsynchronous: false),
                        problems: .ofReads)
                ) { RecoveredEndpoints(server: $0).release }.audited(as: .administration),
            ]),
        Route(
            "/v1/realms/{realm}/recovered/versions",
            operations: [
                .read(
                    .get, for: .administer,
                    .init(
                        "listRecoveredVersions", "Lists the former versions that the file still has.", tag: "transfer",
                        parameters: ["Prefer", "RequestId"],
                        responses: OpenAPIDocument.plain(
                            "The body lists the versions.", "RecoveredVersions", headers: OpenAPIChanges.answerHeaders),
                        problems: .ofReads, copying)
                ) { RecoveredEndpoints(server: $0).versions }.audited(as: .export)
            ]),
        Route(
            "/v1/realms/{realm}/recovered/restore",
            operations: [
                .write(
                    .post, for: .administer,
                    .init(
                        "restoreRecovered", "Restores deleted objects and former values in one transaction.", tag: "transfer",
                        parameters: ["DryRun"] + OpenAPIWrites.shape + ["IfMatch", "Prefer", "IdempotencyKey", "RequestId"],
                        taking: .json, body: OpenAPIParts.schema("RecoveredRestore"),
                        responses: OpenAPIWrites.responses(
                            ("200", "The body has a result for each state.", "RecoveredRestored")),
                        problems: .ofWrites, .ofValues,
                        [.duplicateKey, .unknownProperty, .notRestorable, .valueLost, .valueUnproven])
                ) { RecoveredEndpoints(server: $0).restore }
            ]),
    ]

    /// The problems of a copy of the file, and of its search.
    private static let copying = Set.ofFiles.union([.answerTooLarge, .insufficientStorage])

    private static let recoveredResponses = OpenAPIParts.responses(
        [
            "description": "The body lists the states that were found, the newest of each object first.",
            "headers": OpenAPIChanges.answerHeaders,
            "content": [
                "application/json": ["schema": OpenAPIParts.schema("RecoveredPage")],
                "application/x-ndjson": ["schema": OpenAPIParts.schema("Lines")],
            ],
        ], isConditional: false)
}
