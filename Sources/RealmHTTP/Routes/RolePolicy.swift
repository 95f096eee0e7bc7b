// SPDX-License-Identifier: Apache-2.0

internal import MicroHTTP
internal import RealmAccess
internal import RealmCalls
internal import RealmEngine
internal import RealmFormats
internal import RealmPlatform
internal import RealmStorage

/// Decides by the roles of a principal what it may do and see in a realm.
///
/// A principal with rights to a part of a realm may use only paths that are restricted to that part; others are refused. The
/// write itself decides which objects and properties it may concern (`WriteRestriction`).
struct RolePolicy: Sendable {
    /// The roles in force.
    let roles: RoleBook
    /// Whether the server has credentials, which decides the problem of a refused client.
    let hasCredentials: Bool

    /// Checks a request of a principal that does not administer, and sets its scope.
    ///
    /// - Parameters:
    ///   - call: The request, whose principal and path are known.
    ///   - route: The route of its path.
    /// - Throws: `realm_not_found` where the principal has no right at all, `forbidden` where it has others; for clients without a
    ///   credential `unauthenticated` in the place of both.
    func check(_ call: Call, _ route: Route) throws(Problem) {
        let needed = route.access(of: call.request.method)
        guard needed > .health || call.request[.realmTransaction] != nil else { return }
        guard let realm = call.match.decoded(.realm), route.isServed else {
            let isInRealm = call.match.pattern.position(of: .realm) != nil && route.isServed
            guard isInRealm, !roles.administers(RightsHolder(call.caller.principal)) else {
                return try checkOutsideRealms(call, route)
            }
            // No realm can have the name, so no client has rights in it.
            throw refusal(call, .noRealm)
        }
        let held = call.caller.principal.rights(in: realm, by: roles)
        call.caller.rights = held
        guard !held.rights.administers else {
            call.caller.roleScope = .administers
            return
        }
        guard !held.isNothing else { throw refusal(call, .noRealm) }
        let isPermitted = needed <= .write || route.traits.contains(.migrates) && held.rights.mayMigrate
        if held.rights.isWhole {
            guard isPermitted else { throw refusal(call, AccessPolicy.forbiddenByRoles) }
            call.caller.roleScope = .writes
            return
        }
        guard isPermitted, route.traits.contains(.showsVisible), allows(route, needed, call, with: held.rights) else {
            throw refusal(call, AccessPolicy.forbiddenByRoles)
        }
        call.caller.roleScope = .part
        call.scope = held.scope(for: action(of: route, held.rights))
        call.writeRights = held.writes
    }

    /// Checks a request that concerns no realm, or a path that there is not.
    private func checkOutsideRealms(_ call: Call, _ route: Route) throws(Problem) {
        let holder = RightsHolder(call.caller.principal)
        if roles.administers(holder) {
            call.caller.roleScope = .administers
            return
        }
        if mayList(holder, call, route) {
            call.caller.roleScope = .part
            return
        }
        if call.caller.principal.kind == .anonymous {
            throw Problem.unauthenticated(call.request, hasCredentials: hasCredentials)
        }
        guard !route.traits.contains(.isHidden), route.isServed else {
            throw Problem(.notFound, "there is nothing at this path")
        }
        throw AccessPolicy.forbiddenByRoles
    }

    /// Returns whether some rights are enough to use a route at all, for any target of the request there.
    private func allows(_ route: Route, _ needed: AccessClass, _ call: Call, with rights: RealmRights) -> Bool {
        if route.traits.contains(.concernsTransactions) || call.request[.realmTransaction] != nil {
            guard rights.mayUseTransactions else { return false }
        }
        if route.traits.contains(.imports), !rights.mayImportSomething { return false }
        if route.traits.contains(.exports), !rights.mayExportSomething { return false }
        if route.traits.contains(.subscribes), !rights.maySubscribeToSomething { return false }
        if route.traits.contains(.migrates) { return rights.mayMigrate }
        return needed <= .read || rights.mayWrite || route.traits.contains(.concernsTransactions)
    }

    /// Returns whether a principal may use a path outside realms, because that shows the realms that the principal may know of and
    /// nothing else. Clients without a credential may if their role has rights in any realm.
    private func mayList(_ holder: RightsHolder, _ call: Call, _ route: Route) -> Bool {
        guard route.isServed, route.traits.contains(.showsVisible), route.pattern.position(of: .realm) == nil,
            route.access(of: call.request.method) <= .read
        else { return false }
        return call.caller.principal.kind != .anonymous || roles.mayHaveRights(holder)
    }

    /// Returns the action of a route on the visible part.
    private func action(of route: Route, _ rights: RealmRights) -> RightsAction {
        if route.traits.contains(.subscribes) { return .subscribe }
        guard route.traits.contains(.exports) else { return .read }
        // With the right to export the realm, the export has the readable part.
        return rights.mayExport ? .read : .export
    }

    /// Returns the problem of a refused request; anonymous clients are asked for a credential.
    private func refusal(_ call: Call, _ problem: Problem) -> Problem {
        guard call.caller.principal.kind == .anonymous else { return problem }
        return Problem.unauthenticated(call.request, hasCredentials: hasCredentials)
    }
}
