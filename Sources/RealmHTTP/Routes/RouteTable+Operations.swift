// SPDX-License-Identifier: Apache-2.0

internal import MicroHTTP
internal import RealmAccess
internal import RealmFormats
internal import RealmPlatform
internal import RealmStorage

extension RouteTable {
    /// The routes by which the server describes itself and reports its state.
    static let operationalRoutes: [Route] = [
        Route(
            "/v1/openapi.json", [.showsVisible],
            operations: [
                .read(
                    .get, for: .read,
                    .init(
                        "getOpenAPI", "Returns this document.", tag: "operations",
                        parameters: ["DocumentInts", "IfNoneMatch", "RequestId"],
                        responses: OpenAPIDocument.description(
                            headers: OpenAPIParts.headers.adding([.init("ETag", OpenAPIParts.header("ETag"))])))
                ) { SchemaEndpoints(server: $0).openAPI }
            ]),
        Route(
            "/v1/version", [.showsVisible],
            operations: [
                .read(
                    .get, for: .read,
                    .init(
                        "getVersion", "Returns the version of the server.", tag: "operations", parameters: ["RequestId"],
                        responses: OpenAPIParts.responses(
                            [
                                "description": "The body names the program and its version.",
                                "content": ["application/json": ["schema": OpenAPIParts.schema("ProgramVersion")]],
                            ],
                            isConditional: false))
                ) { OperationsEndpoints(server: $0).version }
            ]),
        Route(
            "/healthz", .isUnmetered,
            operations: [
                .read(
                    .get, for: .health,
                    .init(
                        "health", "Checks that the process is alive and answers requests.", tag: "operations",
                        responses: OpenAPIDocument.status("The process is alive and answers requests; the member status is ok."))
                ) { OperationsEndpoints(server: $0).health }
            ]),
        Route(
            "/readyz", .isUnmetered,
            operations: [
                .read(
                    .get, for: .health,
                    .init(
                        "ready", "Checks that every realm is open.", tag: "operations",
                        responses: OpenAPIDocument.status("Every realm is open; the member status is ready."),
                        problems: [.notReady])
                ) { OperationsEndpoints(server: $0).readiness }
            ]),
        Route(
            "/metrics", [.isHidden, .isOpenToAdminListener],
            operations: [
                .read(
                    .get, for: .administer,
                    .init(
                        "metrics", "Returns metrics in the Prometheus text format.", tag: "operations",
                        responses: OpenAPIParts.responses(
                            [
                                "description": "The body lists the metrics.",
                                "headers": OpenAPIParts.headers,
                                "content": [
                                    "text/plain": [
                                        "schema": OpenAPIParts.text.adding([.init("example", "realm_rest_streams 0\n")])
                                    ]
                                ],
                            ],
                            isConditional: false))
                ) { OperationsEndpoints(server: $0).metrics }
            ]),
        Route(
            "/v1/cluster", [.isHidden, .isOpenToAdminListener],
            operations: [
                .read(
                    .get, for: .administer,
                    .init(
                        "getCluster", "Returns the nodes of the cluster that the server belongs to.", tag: "operations",
                        parameters: ["RequestId"],
                        responses: OpenAPIParts.responses(
                            [
                                "description": "The body lists this node and the others, each with its number of shards.",
                                "headers": OpenAPIParts.headers,
                                "content": ["application/json": ["schema": OpenAPIParts.schema("Cluster")]],
                            ],
                            isConditional: false))
                ) { ClusterEndpoints(server: $0).get }
            ]),
    ]

    /// The routes that the API description leaves out: those for administrators, and one path that is reserved.
    static let administrativeRoutes: [Route] = [
        Route("/admin/leases", .isHidden, operations: [.read(.get, for: .administer) { AdminEndpoints(server: $0).leases }]),
        Route(
            "/admin/leases/{id}", .isHidden,
            operations: [
                .read(.delete, for: .administer) { AdminEndpoints(server: $0).endLease }.audited(
                    as: .administration, mayGoUnrecorded: true)
            ]),
        Route("/admin/log", .isHidden, operations: [.read(.get, for: .administer) { LogEndpoints(server: $0).tail }]),
        Route(
            "/admin/reload", .isHidden,
            operations: [
                .read(.post, for: .administer) { AdminEndpoints(server: $0).reload }.audited(
                    as: .administration, mayGoUnrecorded: true)
            ]),
        Route(
            "/admin/config", .isHidden,
            operations: [.read([.get, .patch], for: .administer, taking: .settings) { AdminEndpoints(server: $0).configuration }]),
    ]
}
