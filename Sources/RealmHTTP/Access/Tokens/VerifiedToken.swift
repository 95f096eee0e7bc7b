// SPDX-License-Identifier: Apache-2.0

package import RealmStorage

/// What a token states whose signature, times and audience were found to be right.
package struct VerifiedToken: Sendable {
    /// Who has issued it.
    package let issuer: String
    /// Whom it is about. Subjects are distinct within an issuer only.
    package let subject: String
    /// The roles of the issuer, then those that the token states, each once.
    package let roles: [String]
    /// All that it states.
    package let claims: JSONObject
    /// When it expires, as it states.
    package let expiresAt: WallClock
    /// Until when it is accepted: `expiresAt` with an allowance for clocks that differ.
    package let acceptedUntil: WallClock

    /// By how many seconds clocks may differ.
    static let skewSeconds = 60.0
}
