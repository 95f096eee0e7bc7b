// SPDX-License-Identifier: Apache-2.0

internal import RealmFormats
internal import RealmPlatform
internal import Synchronization
internal import RealmStorage

/// Tells the authenticator whose token a request has.
struct TokenPrincipals: BearerVerifier {
    /// Verifies the tokens.
    let tokens: TokenVerifier

    func known(_ token: String) -> Principal? { tokens.known(token)?.principal }

    var generation: Int { tokens.generation.load(ordering: .acquiring) }

    func noteRepeated() { tokens.repeated.add(1, ordering: .relaxed) }

    func verify(_ token: String, then: @Sendable @escaping (Principal?) -> Void) {
        tokens.verify(token) { outcome in then(outcome.token?.principal) }
    }
}
