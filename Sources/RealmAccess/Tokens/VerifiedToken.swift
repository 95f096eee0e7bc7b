// SPDX-License-Identifier: Apache-2.0

package import RealmFormats
package import RealmPlatform
internal import RealmStorage

/// The content of a token whose signature, times and audience are valid.
package struct VerifiedToken: Sendable {
    package let issuer: String
    /// The subject. Subjects are distinct within an issuer only.
    package let subject: String
    /// The roles of the issuer, then those that the token states, each once.
    package let roles: [String]
    /// All that it states.
    package let claims: JSONObject
    /// The time at which it expires, as it states.
    package let expiresAt: WallClock
    /// Until when it is accepted: `expiresAt` with an allowance for clocks that differ.
    package let acceptedUntil: WallClock
    /// The principal: one object for as long as the token is known, so that all its requests and streams share it.
    package let principal: Principal

    /// Makes the content of a token.
    ///
    /// - Parameters:
    ///   - subject: The claim `sub`.
    ///   - roles: The roles of the issuer, then those that the token states.
    ///   - claims: All claims, with `sub`.
    ///   - expiresAt: The time at which it expires.
    ///   - warrant: The principal that ends with the key that has verified it; nil for a token that is not used.
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

    /// The seconds by which clocks may differ.
    static let skewSeconds = 60.0
}
