// SPDX-License-Identifier: Apache-2.0

extension RouteTable {
    /// What the server reports of itself.
    static let operationalRoutes: [Route] = [
        Route(
            "/v1/openapi.json",
            operations: [
                .read(
                    .get, for: .read,
                    .init(
                        "getOpenAPI", "This document.", tag: "operations",
                        parameters: ["DocumentInts", "IfNoneMatch", "RequestId"],
                        responses: OpenAPIDocument.anyObject("An OpenAPI document."))
                ) { $0.schemas.openAPI }
            ]),
        Route(
            "/healthz", .isUnmetered,
            operations: [
                .read(
                    .get, for: .health,
                    .init("health", "Whether the process answers.", tag: "operations", responses: OpenAPIDocument.status)
                ) { $0.operations.health }
            ]),
        Route(
            "/readyz", .isUnmetered,
            operations: [
                .read(
                    .get, for: .health,
                    .init("ready", "Whether every realm is open.", tag: "operations", responses: OpenAPIDocument.status)
                ) { $0.operations.readiness }
            ]),
        Route(
            "/metrics", .isHidden,
            operations: [
                .read(
                    .get, for: .administer,
                    .init(
                        "metrics", "Metrics in the Prometheus text format.", tag: "operations",
                        responses: OpenAPIParts.responses(
                            ["description": "Metrics.", "content": ["text/plain": ["schema": OpenAPIParts.text]]],
                            isConditional: false))
                ) { $0.operations.metrics }
            ]),
    ]

    /// Paths that are not described: those for administrators, and one that is kept free.
    static let administrativeRoutes: [Route] = [
        Route("/admin/leases", .isHidden, operations: [.read(.get, for: .administer) { $0.administration.leases }]),
        Route("/admin/leases/{id}", .isHidden, operations: [.read(.delete, for: .administer) { $0.administration.endLease }]),
        Route(
            "/admin/config", .isHidden, patchTypes: "application/json, application/merge-patch+json",
            operations: [.read([.get, .patch], for: .administer) { $0.administration.configuration }]),
        Route("/v1/realms/{realm}/backup"),
    ]
}
