// SPDX-License-Identifier: Apache-2.0

/// Tells the authenticator whose token a request has.
struct TokenPrincipals: BearerVerifier {
    /// Verifies the tokens.
    let tokens: TokenVerifier

    func known(_ token: String) -> Principal? { tokens.known(token)?.principal }

    func verify(_ token: String, then: @Sendable @escaping (Principal?) -> Void) {
        tokens.verify(token) { outcome in then(outcome.token?.principal) }
    }
}
