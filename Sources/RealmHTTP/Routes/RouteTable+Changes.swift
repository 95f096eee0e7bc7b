// SPDX-License-Identifier: Apache-2.0

internal import MicroHTTP
internal import RealmAccess
internal import RealmFormats
internal import RealmPlatform
internal import RealmStorage

extension RouteTable {
    /// The routes of change notifications: the feed of changes, and registered subscriptions.
    static let changeRoutes: [Route] = [
        // HEAD is left out: the head of a stream says nothing without its body.
        Route(
            "/v1/realms/{realm}/changes", [.takesTickets, .showsVisible, .subscribes],
            operations: [.read(MethodSet(.get), for: .read, OpenAPIChanges.changes) { ChangeEndpoints(server: $0).get }]),
        Route(
            "/v1/realms/{realm}/changes/{class}", [.showsVisible, .subscribes],
            operations: [.read(MethodSet(.get), for: .read, OpenAPIChanges.changesOfClass) { ChangeEndpoints(server: $0).get }]),
        Route(
            "/v1/realms/{realm}/subscriptions", [.showsVisible, .subscribes],
            operations: [.read(.post, for: .read, OpenAPIChanges.register) { SubscriptionEndpoints(server: $0).post }]),
        Route(
            "/v1/realms/{realm}/subscriptions/{id}", [.showsVisible, .subscribes],
            operations: [
                .read(.get, for: .read, OpenAPIChanges.registration) { SubscriptionEndpoints(server: $0).subscription },
                .read(.delete, for: .read, OpenAPIChanges.unregister) { SubscriptionEndpoints(server: $0).subscription },
            ]),
    ]
}
