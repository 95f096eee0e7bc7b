// SPDX-License-Identifier: Apache-2.0

internal import RealmFormats
internal import RealmPlatform
internal import RealmStorage

/// The reasons to refuse a token. Clients do not learn them: they are for the metrics of operators.
package enum TokenRefusal: String, Error, CaseIterable, Sendable {
    /// The token has more bytes than `token-bytes`.
    case tooLong = "too_long"
    /// The text is no signed token, or its header asks for something that is not done here.
    case malformed
    /// The algorithm is not among those that the issuer may use.
    case algorithm
    /// No issuer of that name is configured.
    case issuer
    /// The issuer has no key of that name for that algorithm.
    case key
    /// No keys of the issuer could be read yet.
    case noKeys = "no_keys"
    /// The signature is not that of the key.
    case signature
    /// The token is not for this server.
    case audience
    /// The token has expired, or states no time at which it does.
    case expired
    /// The token is not valid yet.
    case early
    /// A claim is missing or has another type than it has to have.
    case claims
    /// Too many tokens were being verified.
    case overloaded
}
