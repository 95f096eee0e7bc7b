// SPDX-License-Identifier: Apache-2.0

internal import RealmFormats
internal import RealmPlatform
internal import RealmStorage

/// Verifies bearer tokens that are not API keys, and identifies their principals.
///
/// A server has one if issuers of tokens are configured. An implementation bounds its memory, and the work that unknown tokens
/// cause.
package protocol BearerVerifier: Sendable {
    /// Returns the principal of a token that was verified before and is still valid; nil for every other token.
    ///
    /// It is called on a thread of the daemon for each request, so it neither waits nor calculates for long.
    ///
    /// - Parameter token: The token as the request has it.
    func known(_ token: String) -> Principal?
    /// A number that changes before a known token is dropped, for callers that remember results of `known`. Tokens that expire do
    /// not change it.
    var generation: Int { get }
    /// Counts a token that was not asked for because its principal was remembered.
    func noteRepeated()
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

extension BearerVerifier {
    /// Tokens stay known until they expire, unless an implementation says otherwise.
    package var generation: Int { 0 }
    /// Nothing is counted, unless an implementation does.
    package func noteRepeated() {}
}
