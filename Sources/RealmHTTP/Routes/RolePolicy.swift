// SPDX-License-Identifier: Apache-2.0

internal import RealmEngine
internal import RealmFormats
internal import RealmPlatform
internal import RealmStorage

/// Decides by the roles of a principal what it may do in a realm, and what it sees there.
///
/// Whoever has rights to a part of a realm only may use the paths that heed them: they show and change nothing else. Everything else
/// is refused to them. Which objects and properties a write may concern is decided by the write itself (`WriteRestriction`).
struct RolePolicy: Sendable {
    /// The roles in force.
    let roles: RoleBook
    /// Whether the server has credentials, which decides what a refused client is told.
    let hasCredentials: Bool

    /// Checks a request of a principal that does not administer, and sets what it sees.
    ///
    /// - Parameters:
    ///   - request: The request, whose principal and path are known.
    ///   - route: The route of its path.
    /// - Throws: `realm_not_found` where the principal has no right at all, `forbidden` where it has others; for clients without a
    ///   credential `unauthenticated` in the place of both.
    func check(_ request: Request, _ route: Route) throws(Problem) {
        let needed = route.access(of: request.method)
        guard needed > .health || request.headers[.realmTransaction] != nil else { return }
        guard let realm = request.match.decoded(.realm), route.isServed else {
            let isInRealm = request.match.pattern.position(of: .realm) != nil && route.isServed
            guard isInRealm, !roles.administers(RightsHolder(request.principal)) else {
                return try checkOutsideRealms(request, route)
            }
            // No realm can have the name, so nobody has rights in it.
            throw refusal(request, .noRealm)
        }
        let held = request.principal.rights(in: realm, by: roles)
        request.rights = held
        guard !held.rights.administers else {
            request.roleReach = .administers
            return
        }
        guard !held.isNothing else { throw refusal(request, .noRealm) }
        let isPermitted = needed <= .write || route.traits.contains(.migrates) && held.rights.mayMigrate
        if held.rights.isWhole {
            guard isPermitted else { throw refusal(request, AccessPolicy.forbiddenByRoles) }
            request.roleReach = .writes
            return
        }
        guard isPermitted, route.traits.contains(.showsVisible), allows(route, needed, request, with: held.rights) else {
            throw refusal(request, AccessPolicy.forbiddenByRoles)
        }
        request.roleReach = .part
        request.scope = held.scope(for: action(of: route, held.rights))
        request.writeRights = held.writes
    }

    /// Checks a request that concerns no realm, or a path that there is not.
    private func checkOutsideRealms(_ request: Request, _ route: Route) throws(Problem) {
        let holder = RightsHolder(request.principal)
        if roles.administers(holder) {
            request.roleReach = .administers
            return
        }
        if mayList(holder, request, route) {
            request.roleReach = .part
            return
        }
        if request.principal.kind == .anonymous {
            throw Problem.unauthenticated(request, hasCredentials: hasCredentials)
        }
        guard !route.traits.contains(.isHidden), route.isServed else {
            throw Problem(.notFound, "there is nothing at this path")
        }
        throw AccessPolicy.forbiddenByRoles
    }

    /// Returns whether some rights are enough to use a route at all, whatever the request concerns there.
    private func allows(_ route: Route, _ needed: AccessClass, _ request: Request, with rights: RealmRights) -> Bool {
        if route.traits.contains(.concernsTransactions) || request.headers[.realmTransaction] != nil {
            guard rights.mayUseTransactions else { return false }
        }
        if route.traits.contains(.imports), !rights.mayImportSomething { return false }
        if route.traits.contains(.exports), !rights.mayExportSomething { return false }
        if route.traits.contains(.migrates) { return rights.mayMigrate }
        return needed <= .read || rights.mayWrite || route.traits.contains(.concernsTransactions)
    }

    /// Returns whether a principal may use a path outside realms, because that shows the realms that the principal may know of and
    /// nothing else. Clients without a credential may if their role has rights in any realm.
    private func mayList(_ holder: RightsHolder, _ request: Request, _ route: Route) -> Bool {
        guard route.isServed, route.traits.contains(.showsVisible), route.pattern.position(of: .realm) == nil,
            route.access(of: request.method) <= .read
        else { return false }
        return request.principal.kind != .anonymous || roles.mayHaveRights(holder)
    }

    /// Returns what a route does with what is seen.
    private func action(of route: Route, _ rights: RealmRights) -> RightsAction {
        if route.traits.contains(.subscribes) { return .subscribe }
        guard route.traits.contains(.exports) else { return .read }
        // With the right to export the realm, the export has what may be read.
        return rights.mayExport ? .read : .export
    }

    /// Returns the problem of a refused request; whoever sends no credential is asked for one.
    private func refusal(_ request: Request, _ problem: Problem) -> Problem {
        guard request.principal.kind == .anonymous else { return problem }
        return Problem.unauthenticated(request, hasCredentials: hasCredentials)
    }
}
