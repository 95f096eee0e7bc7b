// SPDX-License-Identifier: Apache-2.0

internal import MicroHTTP
internal import RealmAccess
internal import RealmFormats
internal import RealmPlatform
internal import RealmStorage

extension RouteTable {
    /// The routes about credentials: who the client is, sessions of browsers, and API keys.
    static let accessRoutes: [Route] = [
        Route("/v1/me", operations: [.read(.get, for: .health, OpenAPIAccess.me) { $0.sessions.me }]),
        Route(
            "/v1/session",
            operations: [
                .read(.post, for: .health, OpenAPIAccess.beginSession) { $0.sessions.session }
                    .audited(as: .session, mayGoUnrecorded: true),
                .read(.delete, for: .health, OpenAPIAccess.endSession) { $0.sessions.session }
                    .audited(as: .session, mayGoUnrecorded: true),
            ]),
        Route(
            "/admin/keys", .isHidden,
            operations: [
                .read(.get, for: .administer, OpenAPIAccess.listKeys) { $0.keys.keys },
                .read(.post, for: .administer, OpenAPIAccess.makeKey) { $0.keys.keys },
            ]),
        Route(
            "/admin/keys/{id}", .isHidden,
            operations: [
                .read(.delete, for: .administer, OpenAPIAccess.revokeKey) { $0.keys.revoke }
                    .audited(as: .administration, mayGoUnrecorded: true)
            ]),
        Route(
            "/admin/keys/{id}/rotate", .isHidden,
            operations: [.read(.post, for: .administer, OpenAPIAccess.rotateKey) { $0.keys.rotate }]),
    ]
}
