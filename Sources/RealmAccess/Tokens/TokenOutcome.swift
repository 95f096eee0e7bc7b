// SPDX-License-Identifier: Apache-2.0

internal import RealmFormats
internal import RealmPlatform
internal import RealmStorage

/// What became of the verification of a token.
package enum TokenOutcome: Sendable {
    /// The token is good.
    case verified(VerifiedToken)
    /// It is not; the client is not told why.
    case refused
    /// Too many tokens are being verified; it is worth trying again.
    case overloaded

    /// The token, when it is good.
    package var token: VerifiedToken? {
        if case .verified(let token) = self { return token }
        return nil
    }
}
