// SPDX-License-Identifier: Apache-2.0

internal import MicroHTTP
internal import RealmAccess
internal import RealmCalls
internal import RealmEngine
internal import RealmFormats
internal import RealmHosting
internal import RealmPlatform
internal import RealmStorage

/// The identity of a client, and the sessions of browsers.
struct SessionEndpoints: Sendable {
    let server: ServerState

    /// The largest number of open realms for which the rights are found out on the daemon's thread.
    private static let shortList = 20

    /// Answers `GET /v1/me` with the principal, its roles, the end of its credential, and its rights.
    ///
    /// - Throws: `unknown_parameter` for any query parameter.
    func me(_ call: Call) throws(Problem) -> Reply {
        try call.checkQueryNames()
        // The files of realms that are closed are read.
        let isShort =
            server.catalog.count <= SessionEndpoints.shortList && server.catalog.isAllOpen(among: SessionEndpoints.shortList)
        return try Reply.reading(call, isShort: isShort) { () throws(Problem) in
            try description(of: call)
        }
    }

    /// Describes the sender of a request.
    private func description(of call: Call) throws(Problem) -> Response {
        let principal = call.caller.principal
        var writer = JSONWriter()
        writer.beginObject()
        writer.key("principal")
        writer.beginObject()
        writer.member("kind", text: principal.kind.rawValue)
        writer.member("id", text: principal.id.isEmpty ? nil : principal.id)
        writer.member("name", text: principal.name.isEmpty ? nil : principal.name)
        writer.endObject()
        writer.key("roles")
        writer.write(.array(principal.roles.map { .string($0) }))
        writer.member("realm", text: principal.realm)
        if let time = principal.expiresAt {
            writer.member("expiresAt", time: time)
        } else {
            writer.nullMember("expiresAt")
        }
        let isJudged = AccessPolicy.isJudgedByRoles(principal, hasCredentials: server.authenticator.hasCredentials)
        let visibility = RealmVisibility(principal: principal, roles: server.liveOptions.roles, isJudged: isJudged)
        let summary = try RightsSummary(visibility, server.catalog, call.request.budget)
        writer.key("may")
        writer.write(.object(summary.may))
        if summary.hasMore { writer.member("more", bool: true) }
        writer.endObject()
        return Response(unstored: writer.buffer)
    }

    /// Answers `POST /v1/session`: begins a session with the credential of the request, and `DELETE`, which ends it.
    ///
    /// The response to `POST` has the cookie, and in its body the token that unsafe requests have to send.
    ///
    /// - Throws: `unauthenticated` for a request without a credential, `not_found` for one to end a session that has none,
    ///   `invalid_body` for a body.
    func session(_ call: Call) throws(Problem) -> Reply {
        try call.checkQueryNames()
        guard call.request.body.isEmpty else { throw Problem(.invalidBody, "this request takes no body") }
        return .now(call.request.method == .delete ? try end(call) : try begin(call))
    }

    private func begin(_ call: Call) throws(Problem) -> Response {
        // A session does not prolong itself.
        guard call.request.has(.authorization), call.caller.principal.logName != nil else {
            throw Problem(.unauthenticated, "a session needs the header field Authorization")
                .with(header: HeaderField("WWW-Authenticate", "Bearer realm=\"realm-rest\""))
        }
        let (secrets, principal) = try server.authenticator.sessions.begin(call.caller.principal)
        var writer = JSONWriter()
        writer.beginObject()
        writer.member("csrfToken", text: secrets.csrfToken)
        if let time = principal.expiresAt { writer.member("expiresAt", time: time) }
        writer.endObject()
        var response = Response(unstored: writer.buffer, status: 201)
        response.add("Set-Cookie", SessionEndpoints.cookie(secrets.cookie, seconds: SessionTable.seconds))
        return response
    }

    /// Ends the session of a request.
    private func end(_ call: Call) throws(Problem) -> Response {
        guard let cookie = call.caller.sessionCookie, server.authenticator.sessions.end(cookie) else {
            throw Problem(.notFound, "this request belongs to no session")
        }
        var response = Response(status: 204, headers: [HeaderField("Cache-Control", "no-store")])
        response.add("Set-Cookie", SessionEndpoints.cookie("", seconds: 0))
        return response
    }

    /// Returns the value of `Set-Cookie`.
    ///
    /// - Parameters:
    ///   - value: The secret.
    ///   - seconds: The time for which browsers keep it; with 0 they forget it.
    private static func cookie(_ value: String, seconds: Int) -> String {
        "\(SessionTable.cookieName)=\(value); Path=/; Max-Age=\(seconds); HttpOnly; Secure; SameSite=Strict"
    }
}
