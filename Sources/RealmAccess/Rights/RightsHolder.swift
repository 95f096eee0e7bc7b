// SPDX-License-Identifier: Apache-2.0

package import RealmFormats
internal import RealmPlatform
internal import RealmStorage

/// The facts on which the rights of a principal depend.
package struct RightsHolder: Sendable {
    /// The names of its roles. Those that the configuration does not have give nothing.
    package let roles: [String]
    package let claims: JSONObject
    /// The only realm in which it has rights; nil for all. With one, the principal cannot operate the server.
    package let realm: String?

    /// Describes a principal by its credential.
    package init(_ principal: Principal) {
        self.init(roles: principal.roles, claims: principal.claims, realm: principal.realm)
    }

    /// Describes a principal.
    ///
    /// - Parameters:
    ///   - realm: The only realm in which it has rights; nil for all.
    package init(roles: [String], claims: JSONObject = JSONObject([]), realm: String? = nil) {
        self.roles = roles
        self.claims = claims
        self.realm = realm
    }
}
