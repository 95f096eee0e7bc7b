// SPDX-License-Identifier: Apache-2.0

internal import RealmEngine
internal import RealmFormats
internal import RealmPlatform
package import RealmStorage

/// The rights of one principal in one realm under the roles in force, with all derived values that its requests need, made once.
package final class ResolvedRights: AdmittedRights {
    /// The roles that it follows from.
    private let roles: RoleBook
    /// The name of the realm, which need not exist.
    private let realm: String
    package let rights: RealmRights
    /// Whether there is no right at all, so that the realm does not exist for the principal.
    package let isNothing: Bool
    /// The rights as a write asks for them.
    package let writes: RightsWrites
    private let scopes: (read: RightsScope?, subscribe: RightsScope?, export: RightsScope?)

    fileprivate init(_ principal: Principal, in realm: String, by roles: RoleBook) {
        self.roles = roles
        self.realm = realm
        rights = roles.rights(of: RightsHolder(principal), in: realm)
        isNothing = rights.isNothing
        writes = RightsWrites(rights)
        scopes = (rights.versionScope(for: .read), rights.versionScope(for: .subscribe), rights.versionScope(for: .export))
    }

    /// Returns the visible part of the realm; nil for everything.
    ///
    /// - Parameter action: Reading, subscribing or exporting, the only actions with a scope.
    package func scope(for action: RightsAction) -> RightsScope? {
        switch action {
        case .subscribe: return scopes.subscribe
        case .export: return scopes.export
        default: return scopes.read
        }
    }

    package func identity(in snapshot: Snapshot?) -> String { snapshot.map { rights.fitting($0) }?.identity ?? rights.identity }

    package func areInForce(for principal: Principal) -> Bool {
        guard let newest = roles.successor else { return true }
        return principal.rights(in: realm, by: newest).rights.identity.utf8.elementsEqual(rights.identity.utf8)
    }

    /// Whether this is about a realm and these roles.
    fileprivate func concerns(_ name: String, _ book: RoleBook) -> Bool {
        // Two texts that Swift takes for equal may be different names.
        book === roles && realm == name && realm.utf8.count == name.utf8.count
    }
}

/// The rights of one principal that its last requests needed.
private final class RightsMemo: Sendable {
    /// The number of realms and books of roles that are remembered.
    private static let limit = 8
    /// The rights, the newest last.
    private let known = RankedMutex(.leaf, [ResolvedRights]())

    /// Makes an empty memory.
    init() {}

    /// Returns the rights of a principal in a realm.
    ///
    /// - Parameters:
    ///   - principal: The principal whose memory this is.
    ///   - realm: The name of the realm, which need not exist.
    ///   - roles: The roles in force.
    func rights(of principal: Principal, in realm: String, by roles: RoleBook) -> ResolvedRights {
        if let found = known.withLock({ known in known.last { $0.concerns(realm, roles) } }) { return found }
        let made = ResolvedRights(principal, in: realm, by: roles)
        let dropped = known.withLock { known -> ResolvedRights? in
            known.append(made)
            return known.count > RightsMemo.limit ? known.removeFirst() : nil
        }
        withExtendedLifetime(dropped) {}
        return made
    }
}

extension Principal {
    /// Returns the rights of the principal in a realm, resolved once for each realm and book of roles.
    ///
    /// - Parameters:
    ///   - realm: The name of the realm, which need not exist.
    ///   - roles: The roles in force.
    package func rights(in realm: String, by roles: RoleBook) -> ResolvedRights {
        derived.value { RightsMemo() }.rights(of: self, in: realm, by: roles)
    }
}
