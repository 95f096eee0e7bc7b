// SPDX-License-Identifier: Apache-2.0

internal import MicroHTTP
internal import RealmAccess
internal import RealmFormats
internal import RealmPlatform
internal import RealmStorage

extension RouteTable {
    /// The routes about credentials: who the client is, sessions of browsers, and API keys.
    static let accessRoutes: [Route] = [
        Route("/v1/me", operations: [.read(.get, for: .health, OpenAPIAccess.me) { SessionEndpoints(server: $0).me }]),
        Route(
            "/v1/session",
            operations: [
                .read(.post, for: .health, OpenAPIAccess.beginSession) { SessionEndpoints(server: $0).session }
                    .audited(as: .session, mayGoUnrecorded: true),
                .read(.delete, for: .health, OpenAPIAccess.endSession) { SessionEndpoints(server: $0).session }
                    .audited(as: .session, mayGoUnrecorded: true),
            ]),
        Route(
            "/admin/keys", .isHidden,
            operations: [
                .read(.get, for: .administer, OpenAPIAccess.listKeys) { KeyEndpoints(server: $0).keys },
                .read(.post, for: .administer, OpenAPIAccess.makeKey) { KeyEndpoints(server: $0).keys },
            ]),
        Route(
            "/admin/keys/{id}", .isHidden,
            operations: [
                .read(.delete, for: .administer, OpenAPIAccess.revokeKey) { KeyEndpoints(server: $0).revoke }
                    .audited(as: .administration, mayGoUnrecorded: true)
            ]),
        Route(
            "/admin/keys/{id}/rotate", .isHidden,
            operations: [.read(.post, for: .administer, OpenAPIAccess.rotateKey) { KeyEndpoints(server: $0).rotate }]),
    ]
}
