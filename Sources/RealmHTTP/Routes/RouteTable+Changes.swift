// SPDX-License-Identifier: Apache-2.0

extension RouteTable {
    /// Notifications of changes.
    static let changeRoutes: [Route] = [
        // A stream has no head that would be worth asking for.
        Route(
            "/v1/realms/{realm}/changes",
            operations: [.read(MethodSet(.get), for: .read, OpenAPIChanges.changes) { $0.changes.get }]),
        Route(
            "/v1/realms/{realm}/subscriptions",
            operations: [.read(.post, for: .read, OpenAPIChanges.register) { $0.subscriptions.post }]),
        Route(
            "/v1/realms/{realm}/subscriptions/{id}",
            operations: [
                .read(.get, for: .read, OpenAPIChanges.registration) { $0.subscriptions.subscription },
                .read(.delete, for: .read, OpenAPIChanges.unregister) { $0.subscriptions.subscription },
            ]),
    ]
}
