// SPDX-License-Identifier: Apache-2.0

internal import RealmFormats
internal import RealmPlatform
internal import Synchronization
internal import RealmStorage

/// Maps the tokens of requests to principals, for the authenticator.
package struct TokenPrincipals: BearerVerifier {
    let tokens: TokenVerifier

    package init(tokens: TokenVerifier) {
        self.tokens = tokens
    }

    package func known(_ token: String) -> Principal? { tokens.known(token)?.principal }

    package var generation: Int { tokens.generation.load(ordering: .acquiring) }

    package func noteRepeated() { tokens.repeated.add(1, ordering: .relaxed) }

    package func verify(_ token: String, then: @Sendable @escaping (Principal?) -> Void) {
        tokens.verify(token) { outcome in then(outcome.token?.principal) }
    }
}
