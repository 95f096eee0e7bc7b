// SPDX-License-Identifier: Apache-2.0

internal import RealmEngine
internal import RealmFormats
internal import RealmPlatform
internal import RealmStorage

/// The realms that a principal may know of, and its rights in each.
package struct RealmVisibility: Sendable {
    package let principal: Principal
    /// The roles in force.
    let roles: RoleBook
    /// Whether roles decide, and not the way in which the request reached the server.
    let isJudged: Bool

    package init(principal: Principal, roles: RoleBook, isJudged: Bool) {
        self.principal = principal
        self.roles = roles
        self.isJudged = isJudged
    }

    /// Whether the principal may know of all realms.
    package var showsAll: Bool {
        guard principal.realm == nil else { return false }
        return isJudged ? roles.administers(RightsHolder(principal)) : AccessPolicy.grant(principal) >= .read
    }

    /// Returns whether the principal may know of a realm.
    package func shows(_ realm: String) -> Bool {
        if let only = principal.realm, !only.utf8.elementsEqual(realm.utf8) { return false }
        return isJudged ? roles.hasRights(RightsHolder(principal), in: realm) : AccessPolicy.grant(principal) >= .read
    }

    /// Returns the rights of the principal in a realm; nil where it may not know of it.
    package func rights(in realm: String) -> RealmRights? {
        guard shows(realm) else { return nil }
        // A local client that may write has no role to state that.
        guard isJudged || principal.kind != .local else { return RealmRights(everything: principal.isAdministrator) }
        return roles.rights(of: RightsHolder(principal), in: realm)
    }

    /// Returns the part of a realm that the principal may read; nil for everything.
    package func scope(in realm: String) -> RightsScope? { isJudged ? rights(in: realm)?.versionScope(for: .read) : nil }
}
