// SPDX-License-Identifier: Apache-2.0

package import RealmFormats
package import RealmPlatform
internal import RealmStorage

/// What a token states whose signature, times and audience were found to be right.
package struct VerifiedToken: Sendable {
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
    /// Who sends it: one object for as long as the token is known, so that all its requests and streams share it.
    package let principal: Principal

    /// Makes what a token states.
    ///
    /// - Parameters:
    ///   - subject: Whom it is about.
    ///   - roles: The roles of the issuer, then those that the token states.
    ///   - claims: All that it states.
    ///   - expiresAt: When it expires, as it states.
    ///   - warrant: What ends with the key that has verified it; nil for a token that is not used.
    init(
        issuer: String, subject: String, roles: [String], claims: JSONObject, expiresAt: WallClock, acceptedUntil: WallClock,
        warrant: Principal? = nil
    ) {
        self.issuer = issuer
        self.subject = subject
        self.roles = roles
        self.claims = claims
        self.expiresAt = expiresAt
        self.acceptedUntil = acceptedUntil
        // Leases belong to issuer and subject; a line break is in no address.
        principal = Principal(
            kind: .jwt, id: issuer + "\n" + subject, name: subject, roles: roles, claims: claims, expiresAt: acceptedUntil,
            parent: warrant)
    }

    /// By how many seconds clocks may differ.
    static let skewSeconds = 60.0
}
