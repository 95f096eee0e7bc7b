// SPDX-License-Identifier: Apache-2.0

package import MicroHTTP
package import RealmFormats
internal import RealmPlatform
internal import RealmStorage
internal import Synchronization

/// Authenticates requests, by their credential or by the way in which they reached the server.
///
/// A request with a credential that is not valid is refused; it never counts as one without. No call waits, because it runs on a
/// thread of the daemon: a token that has to be verified first is returned, and `verify` calls back.
package final class Authenticator: Sendable {
    /// The result that is known about a request at once.
    package enum Outcome: Sendable {
        /// The principal that sent it.
        case principal(Principal)
        /// It has this token, which has to be verified first.
        case unverified(String)
    }

    /// Decides who requests without a credential are from.
    private let policy: AccessPolicy
    /// The API keys.
    package let keys: KeyStore
    /// Verifies tokens that are no API keys; nil for a server that takes none.
    private let verifier: (any BearerVerifier)?
    /// Whether the server is configured to take client certificates.
    private let takesCertificates: Bool
    /// The sessions of browsers.
    package let sessions = SessionTable()
    /// The failures by address.
    package let failures = FailedCredentials()
    /// The number of requests that wait until their token is verified.
    private let waiting = Atomic<Int>(0)
    /// The greatest number of such requests.
    private static let waitingLimit = 1024

    /// Makes the authenticator of a server.
    ///
    /// - Parameters:
    ///   - policy: Decides who requests without a credential are from.
    ///   - keys: The API keys.
    ///   - verifier: Verifies other tokens; nil for none.
    ///   - takesCertificates: Whether client certificates are configured, which counts as having credentials.
    package init(
        _ policy: AccessPolicy, keys: KeyStore = KeyStore(), verifier: (any BearerVerifier)? = nil,
        takesCertificates: Bool = false
    ) {
        self.policy = policy
        self.keys = keys
        self.verifier = verifier
        self.takesCertificates = takesCertificates
    }

    /// Whether the server has credentials of any kind, so that no client has rights without one.
    package var hasCredentials: Bool { takesCertificates || verifier != nil || keys.isConfigured }

    /// Ends the anonymous principals from the time without credentials, if there are credentials now, and everything that their
    /// requests have begun.
    package func endAnonymousPrincipals() { if hasCredentials { policy.anonymous.end() } }

    // MARK: - At once

    /// Returns the sender of a request, by its header field `Authorization`, else its cookie, else its client certificate, else
    /// the way in which it reached the server.
    ///
    /// - Parameter request: A request with its header fields. With a session its cookie is noted in `sessionCookie`.
    /// - Throws: `unauthenticated` for a credential that is not valid, `rate_limited` when its address has sent too many of them,
    ///   and `forbidden` for a request by cookie that lacks the token against forgery.
    package func outcome(_ request: Request, _ caller: inout Caller) throws(Problem) -> Outcome {
        if let value = request[.authorization] { return try outcome(ofHeader: value, request) }
        if let field = request[.cookie], let cookie = SessionTable.cookie(in: field) {
            return .principal(try principal(ofSession: cookie, request, &caller))
        }
        if let principal = caller.certificatePrincipal, !principal.isOver { return .principal(principal) }
        return .principal(policy.principal(of: request, hasCredentials: hasCredentials))
    }

    /// Returns the holder of the credential of a header field `Authorization`, which the last request of the connection may have
    /// had, too.
    private func outcome(ofHeader value: String, _ request: Request) throws(Problem) -> Outcome {
        let generation = verifier?.generation ?? 0
        if let principal = (request.memo as? CredentialMemo)?.principal(of: value, request, generation: generation) {
            if principal.kind == .jwt { verifier?.noteRepeated() }
            return .principal(principal)
        }
        let outcome = try outcome(of: CredentialText(value), request)
        if case .principal(let principal) = outcome {
            (request.memo as? CredentialMemo)?.keep(principal, of: value, request, generation: generation)
        }
        return outcome
    }

    /// Returns the holder of a credential of the header field `Authorization`.
    private func outcome(of text: CredentialText, _ request: Request) throws(Problem) -> Outcome {
        switch text {
        case .key(let key):
            guard let principal = keys.principal(of: key, from: request.clientAddress) else { throw failure(of: request) }
            return .principal(principal)
        case .token(let token):
            guard let verifier else { throw failure(of: request) }
            guard let principal = verifier.known(token), !principal.isOver else { return .unverified(token) }
            return .principal(principal)
        case .mistyped: throw failure(of: request, "this key is mistyped: its check digit or its length is wrong")
        case .malformed: throw failure(of: request)
        }
    }

    /// Returns the principal of the session of a cookie, which is good where its credential is.
    private func principal(ofSession cookie: String, _ request: Request, _ caller: inout Caller) throws(Problem) -> Principal {
        guard let session = sessions.session(of: cookie), session.principal.mayBeUsed(from: request.clientAddress) else {
            throw failure(of: request)
        }
        caller.sessionCookie = cookie
        guard Authenticator.isSafe(request.method) || session.takes(csrfToken: request[.csrfToken]) else {
            throw Problem(.forbidden, "a request with a session cookie that may change something needs the token of the session")
                .with("header", "X-CSRF-Token")
        }
        return session.principal
    }

    /// Whether a page that makes a browser send such a request can change nothing by it.
    private static func isSafe(_ method: HTTPMethod?) -> Bool {
        switch method {
        case .get?, .head?, .options?, .query?: return true
        default: return false
        }
    }

    // MARK: - Later

    /// Verifies the token of a request.
    ///
    /// - Parameters:
    ///   - then: Receives the principal or the problem, once, on any thread.
    package func verify(
        _ token: String, of request: Request, then: @Sendable @escaping (Result<Principal, Problem>) -> Void
    ) {
        guard let verifier else { return then(.failure(failure(of: request))) }
        guard waiting.add(1, ordering: .relaxed).newValue <= Authenticator.waitingLimit else {
            waiting.subtract(1, ordering: .relaxed)
            return then(.failure(Problem(.overloaded, "too many tokens are being verified")))
        }
        verifier.verify(token) { [self] principal in
            waiting.subtract(1, ordering: .relaxed)
            guard let principal, !principal.isOver else { return then(.failure(failure(of: request))) }
            then(.success(principal))
        }
    }

    // MARK: - Failures

    /// Counts a credential that is not valid, and returns the problem of it.
    ///
    /// It does not give the reason, since that would help to guess whether a key exists, has expired, or may be used elsewhere.
    private func failure(of request: Request, _ detail: String = "this credential is not valid") -> Problem {
        guard let seconds = failures.count(request.client, request.arrival) else {
            return Problem(.unauthenticated, detail)
                .with(header: HeaderField("WWW-Authenticate", "Bearer realm=\"realm-rest\", error=\"invalid_token\""))
        }
        var problem = Problem.overLimit(
            .rateLimited, "too many credentials from this address were not valid", limit: FailedCredentials.limit)
        problem.retryAfterSeconds = max(1, Int(seconds.rounded(.up)))
        return problem
    }

    /// Writes the metrics of keys, failures and sessions.
    ///
    /// - Parameter text: The metrics page that is being written.
    package func write(to text: inout MetricsText) {
        keys.write(to: &text)
        failures.write(to: &text)
        text.gauge("sessions", "Sessions of browsers.", sessions.count)
        text.gauge("unverified_tokens", "Requests that wait until their token is verified.", waiting.load(ordering: .relaxed))
    }
}
