// SPDX-License-Identifier: Apache-2.0

package import RealmFormats
internal import RealmPlatform
internal import RealmStorage

/// The sessions of browsers: each has a cookie that represents the credential that it was begun with.
///
/// Only digests of the secrets are in memory, and the table is bounded: a principal's oldest session gives way to its newest one.
/// A session ends after twelve hours, when it is deleted, and with the credential that it was begun with. Any thread may use it.
package final class SessionTable: Sendable {
    package struct Session: Sendable {
        /// The principal of its requests, which ends with it.
        package let principal: Principal
        /// The digest of the token that unsafe requests have to send.
        let csrfDigest: [UInt8]
        /// The time of its beginning, for choosing the oldest.
        let begin: Instant
    }

    /// The secrets of a new session, which are sent once.
    package struct Secrets: Sendable {
        package let cookie: String
        /// The value of `X-CSRF-Token`.
        package let csrfToken: String
    }

    /// The name of the cookie. Its prefix has browsers accept it only with `Secure`, for this host and all paths.
    package static let cookieName = "__Host-rr"
    /// The seconds that a session lasts.
    package static let seconds = 12 * 3600
    /// The greatest number of sessions.
    package static let limit = 16_384
    /// The greatest number of sessions of one principal.
    package static let limitOfPrincipal = 64
    /// The sessions by the digest of the cookie.
    private let sessions = RankedMutex<[[UInt8]: Session]>(.leaf, [:])

    /// Makes a table without sessions.
    package init() {}

    /// Begins a session.
    ///
    /// - Parameter principal: The principal of the credential.
    /// - Returns: The secrets, and the principal of the session.
    /// - Throws: `overloaded` when there are too many sessions of other principals.
    package func begin(_ principal: Principal) throws(Problem) -> (secrets: Secrets, principal: Principal) {
        let secrets = Secrets(cookie: SessionTable.secret(), csrfToken: SessionTable.secret())
        let end = WallClock(nanoseconds: WallClock.now().nanoseconds + Int64(SessionTable.seconds) * 1_000_000_000)
        let session = Session(
            principal: Principal(sessionOf: principal, until: end), csrfDigest: SessionTable.digest(secrets.csrfToken),
            begin: .now())
        let digest = SessionTable.digest(secrets.cookie)
        let (isTaken, dropped) = sessions.withLock { sessions -> (Bool, [Session]) in
            var dropped: [Session] = []
            if sessions.count >= SessionTable.limit {
                dropped = sessions.values.filter(\.principal.isOver)
                sessions = sessions.filter { !$0.value.principal.isOver }
            }
            let own = sessions.filter { $0.value.principal.owner == principal.owner }
            if own.count >= SessionTable.limitOfPrincipal, let oldest = own.min(by: { $0.value.begin < $1.value.begin }) {
                sessions[oldest.key] = nil
                dropped.append(oldest.value)
            }
            guard sessions.count < SessionTable.limit else { return (false, dropped) }
            sessions[digest] = session
            return (true, dropped)
        }
        for session in dropped { session.principal.end() }
        guard isTaken else { throw .overLimit(.overloaded, "there are too many sessions", limit: SessionTable.limit) }
        return (secrets, session.principal)
    }

    /// Returns the session of a cookie; nil when there is none, or it has ended.
    package func session(of cookie: String) -> Session? {
        let digest = SessionTable.digest(cookie)
        guard let session = sessions.withLock({ $0[digest] }) else { return nil }
        guard session.principal.isOver else { return session }
        sessions.withLock { $0[digest] = nil }
        return nil
    }

    /// Ends the session of a cookie, with its streams.
    ///
    /// - Returns: Whether there was one.
    package func end(_ cookie: String) -> Bool {
        let digest = SessionTable.digest(cookie)
        guard let session = sessions.withLock({ $0.removeValue(forKey: digest) }) else { return false }
        session.principal.end()
        return true
    }

    /// Drops the sessions that are over.
    package func sweep() {
        let dropped = sessions.withLock { sessions -> [[UInt8]: Session] in
            let over = sessions.filter { $0.value.principal.isOver }
            for key in over.keys { sessions[key] = nil }
            return over
        }
        withExtendedLifetime(dropped) {}
    }

    /// The number of sessions, which is bounded.
    package var count: Int { sessions.withLock { $0.count } }

    /// Returns the value of the cookie of a session in a header field `Cookie`; nil when it is not there.
    package static func cookie(in field: String) -> String? {
        for part in field.split(separator: ";") {
            let part = part.drop { $0 == " " }
            guard part.hasPrefix(cookieName), part.dropFirst(cookieName.count).first == "=" else { continue }
            return String(part.dropFirst(cookieName.count + 1))
        }
        return nil
    }

    /// Returns 256 random bits as text.
    private static func secret() -> String {
        var generator = SystemRandomNumberGenerator()
        return Base64.encode((0..<32).map { _ in UInt8.random(in: .min ... .max, using: &generator) }, .url)
    }

    private static func digest(_ secret: String) -> [UInt8] { SecretDigest.sha256(Array(secret.utf8)) }
}

extension SessionTable.Session {
    /// Returns whether a text is the token that unsafe requests have to send.
    func takes(csrfToken: String?) -> Bool {
        guard let csrfToken else { return false }
        return SecretDigest.areEqual(SecretDigest.sha256(Array(csrfToken.utf8)), csrfDigest)
    }
}
