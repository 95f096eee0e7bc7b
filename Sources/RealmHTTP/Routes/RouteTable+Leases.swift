// SPDX-License-Identifier: Apache-2.0

internal import MicroHTTP
internal import RealmAccess
internal import RealmFormats
internal import RealmPlatform
internal import RealmStorage

extension RouteTable {
    /// The routes of leases of clients: transactions, snapshots, and asynchronous writes.
    static let leaseRoutes: [Route] =
        transactionRoutes + snapshotRoutes + [
            Route(
                "/v1/realms/{realm}/writes/{id}", .showsVisible,
                operations: [
                    .read(
                        .get, for: .write,
                        .init(
                            "getWrite", "Reports the state of an asynchronous write.", tag: "transactions",
                            parameters: ["RequestId"],
                            responses: OpenAPIWrites.responses(
                                ("200", "The body describes the write.", "WriteState"), isAsynchronous: false),
                            problems: .ofWrites)
                    ) { _ in AsyncWriteEndpoints.write },
                    .read(
                        .delete, for: .write,
                        .init(
                            "cancelWrite", "Cancels a write that has not begun.", tag: "transactions",
                            parameters: ["RequestId"],
                            responses: OpenAPIWrites.responses(("204", "The write is cancelled.", nil), isAsynchronous: false),
                            problems: .ofWrites)
                    ) { _ in AsyncWriteEndpoints.write }.audited(as: .write, mayGoUnrecorded: true),
                ])
        ]

    /// The routes of interactive transactions. Reading the state of one needs the right to write, as having one does.
    private static let transactionRoutes: [Route] = [
        Route(
            "/v1/realms/{realm}/transactions", [.concernsTransactions, .showsVisible],
            operations: [
                .write(
                    .post, for: .write,
                    .init(
                        "beginTransaction", "Begins a transaction that spans several requests.", tag: "transactions",
                        parameters: ["IfMatch", "Prefer", "IdempotencyKey", "RequestId"],
                        taking: .json, body: OpenAPIParts.schema("TransactionOptions"), requiresBody: false,
                        responses: OpenAPIWrites.responses(("201", "The body describes the transaction.", "Transaction")),
                        problems: .ofWrites)
                ) { TransactionEndpoints(server: $0).begin }
            ]),
        Route(
            "/v1/realms/{realm}/transactions/{id}", [.concernsTransactions, .showsVisible],
            operations: [
                // Only clients that may write can have transactions and queued writes.
                .read(
                    .get, for: .write,
                    .init(
                        "getTransaction", "Reports the state of a transaction.", tag: "transactions", parameters: ["RequestId"],
                        responses: OpenAPIWrites.responses(
                            ("200", "The body describes the transaction.", "Transaction"), isAsynchronous: false),
                        problems: .ofWrites)
                ) { TransactionEndpoints(server: $0).transaction },
                .read(
                    .delete, for: .write,
                    .init(
                        "rollBackTransaction", "Rolls a transaction back.", tag: "transactions", parameters: ["RequestId"],
                        responses: OpenAPIWrites.responses(
                            ("204", "The transaction is rolled back.", nil), isAsynchronous: false),
                        problems: .ofWrites
                    )
                ) { TransactionEndpoints(server: $0).transaction }.audited(as: .write, mayGoUnrecorded: true),
            ]),
        Route(
            "/v1/realms/{realm}/transactions/{id}/commit", [.concernsTransactions, .showsVisible],
            operations: [
                .write(
                    .post, for: .write,
                    .init(
                        "commitTransaction", "Commits a transaction.", tag: "transactions",
                        parameters: ["IfMatch", "Prefer", "IdempotencyKey", "RequestId"],
                        responses: OpenAPIWrites.responses(("200", "The body states the new version.", "CommittedVersion")),
                        problems: .ofWrites, .ofValues)
                ) { TransactionEndpoints(server: $0).commit }
            ]),
    ]

    /// The routes of snapshots. They need the right to read only, because a snapshot changes nothing and expires automatically.
    private static let snapshotRoutes: [Route] = [
        Route(
            "/v1/realms/{realm}/snapshots", .showsVisible,
            operations: [
                .read(
                    .get, for: .read,
                    .init(
                        "listSnapshots", "Lists the snapshots of a realm.", tag: "snapshots", parameters: ["RequestId"],
                        responses: OpenAPIWrites.responses(
                            ("200", "The body lists the snapshots.", "SnapshotPage"), isAsynchronous: false),
                        problems: .ofReads, [.tooManySnapshots])
                ) { SnapshotEndpoints(server: $0).snapshots },
                .read(
                    .post, for: .read,
                    .init(
                        "createSnapshot", "Creates a snapshot, which holds the newest version for later reads.", tag: "snapshots",
                        parameters: ["RequestId"], taking: .settings,
                        body: OpenAPIParts.schema("SnapshotOptions"), requiresBody: false,
                        responses: OpenAPIWrites.responses(
                            ("201", "The body describes the snapshot.", "Snapshot"), isAsynchronous: false),
                        problems: .ofReads, [.tooManySnapshots])
                ) { SnapshotEndpoints(server: $0).snapshots },
            ]),
        Route(
            "/v1/realms/{realm}/snapshots/{id}", .showsVisible,
            operations: [
                .read(
                    .get, for: .read,
                    .init(
                        "getSnapshot", "Describes one snapshot.", tag: "snapshots", parameters: ["RequestId"],
                        responses: OpenAPIWrites.responses(
                            ("200", "The body describes the snapshot.", "Snapshot"), isAsynchronous: false),
                        problems: .ofReads, [.tooManySnapshots])
                ) { SnapshotEndpoints(server: $0).snapshot },
                .read(
                    .patch, for: .read,
                    .init(
                        "renewSnapshot", "Extends the time for which a snapshot holds its version.", tag: "snapshots",
                        parameters: ["RequestId"],
                        taking: .settings, body: OpenAPIParts.schema("SnapshotRenewal"),
                        responses: OpenAPIWrites.responses(
                            ("200", "The body describes the snapshot.", "Snapshot"), isAsynchronous: false),
                        problems: .ofReads, [.tooManySnapshots])
                ) { SnapshotEndpoints(server: $0).snapshot },
                .read(
                    .delete, for: .read,
                    .init(
                        "freeSnapshot", "Releases a snapshot.", tag: "snapshots", parameters: ["RequestId"],
                        responses: OpenAPIWrites.responses(("204", "The snapshot is released.", nil), isAsynchronous: false),
                        problems: .ofReads, [.tooManySnapshots])
                ) { SnapshotEndpoints(server: $0).snapshot },
            ]),
    ]
}
