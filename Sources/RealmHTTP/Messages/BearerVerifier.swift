// SPDX-License-Identifier: Apache-2.0

/// What tells who a bearer token belongs to that is no API key.
///
/// A server has one if issuers of tokens are configured. Whoever implements it bounds what it remembers, and how much
/// unknown tokens can make it do.
package protocol BearerVerifier: Sendable {
    /// Returns the principal of a token that was verified before and is still valid; nil for every other token.
    ///
    /// It is called on a thread of the daemon for each request, so it neither waits nor calculates for long.
    ///
    /// - Parameter token: The token as the request has it.
    func known(_ token: String) -> Principal?
    /// Verifies a token, and calls `then` once, on any thread and possibly before it returns: with the principal, or with
    /// nil for a token that is not valid or cannot be verified.
    ///
    /// It is called on a thread of the daemon and returns at once.
    ///
    /// - Parameters:
    ///   - token: The token as the request has it.
    ///   - then: Receives the principal.
    func verify(_ token: String, then: @Sendable @escaping (Principal?) -> Void)
}
