// SPDX-License-Identifier: Apache-2.0

package import MicroHTTP
package import RealmFormats
internal import RealmPlatform
internal import RealmStorage

/// Decides on the rights of each client: by its principal, and for clients without a credential by the origin of the request: the
/// listener, the sender's address, and whether a proxy passed it on.
///
/// The value is made from the options at the start and does not change while the server runs.
package struct AccessPolicy: Sendable {
    /// Whether the main listener is bound to a loopback address, so that only this machine can reach it.
    package var isLoopback = true
    /// Whether requests from other machines, or through a proxy, may read (option `--insecure`).
    /// Otherwise they may only ask for the health of the server.
    package var allowsAnonymousReads = false
    /// Whether clients on this machine may administer through the main listener, and not only write.
    package var administersOnMain = true

    /// The principals of requests without a credential while the server has none.
    let anonymous = AnonymousPrincipals()

    /// Makes the policy of a main listener on loopback, through which this machine may administer
    /// and no other machine may read.
    package init() {}

    /// Returns the principal of a request without a credential, which follows from its listener and address.
    ///
    /// A request that a proxy has passed on counts as one from another machine, although the address of its sender is that of the
    /// proxy. Once the server has credentials, only the administrators' Unix socket identifies a local client: no user but that
    /// of the server can open it.
    ///
    /// - Parameters:
    ///   - call: A request with its header fields.
    ///   - hasCredentials: Whether the server has credentials.
    package func principal(of request: Request, hasCredentials: Bool) -> Principal {
        guard request.headers.forwardedBy == nil else { return remotePrincipal(hasCredentials, request.listenerKind) }
        switch request.listenerKind {
        case .adminSocket: return .local
        case .adminPort where !hasCredentials && request.isFromThisMachine: return anonymous.local
        case .mainSocket where !hasCredentials: return administersOnMain ? anonymous.local : anonymous.localWriter
        case .main where !hasCredentials && isLoopback && request.isFromThisMachine:
            return administersOnMain ? anonymous.local : anonymous.localWriter
        case .main, .mainSocket, .adminPort: return remotePrincipal(hasCredentials, request.listenerKind)
        }
    }

    /// Returns the principal of a client elsewhere without a credential.
    private func remotePrincipal(_ hasCredentials: Bool, _ listenerKind: ListenerKind) -> Principal {
        allowsAnonymousReads && !hasCredentials && !listenerKind.isForAdministrators ? anonymous.remoteReader : .anonymous
    }

    /// Returns whether roles determine the rights of a principal.
    ///
    /// It has a credential, or the server gives anonymous clients a role, and it does not administer.
    ///
    /// - Parameters:
    ///   - hasCredentials: Whether the server has credentials.
    package static func isJudgedByRoles(_ principal: Principal, hasCredentials: Bool) -> Bool {
        switch principal.kind {
        case .local: false
        case .key, .jwt, .certificate: !principal.isAdministrator
        case .anonymous: hasCredentials
        }
    }

    /// Returns the highest level that the sender of a request has.
    ///
    /// - Parameter call: A request whose principal is known.
    /// - Returns: The level; at least `health`.
    package func grant(_ caller: Caller) -> AccessClass { AccessPolicy.granted(to: caller) }

    /// Returns the highest level that the sender of a request has, which no policy changes.
    ///
    /// - Parameter call: A request whose principal is known.
    package static func granted(to caller: Caller) -> AccessClass {
        switch caller.roleScope {
        case .part?, .writes?: return .write
        case .administers?: return .administer
        case nil: return AccessPolicy.grant(caller.principal)
        }
    }

    /// Returns the highest level that a principal has.
    ///
    /// The rights of roles other than that of administrators depend on the realm, see `RolePolicy`.
    package static func grant(_ principal: Principal) -> AccessClass {
        if principal.isAdministrator { return .administer }
        switch principal.kind {
        case .local: return .write
        case .anonymous: return principal.roles.contains("read") ? .read : .health
        case .key, .jwt, .certificate: return .health
        }
    }

    /// Checks whether a request is permitted. No other place makes this decision.
    ///
    /// A request that names an interactive transaction needs `write` even when it reads, because it would see uncommitted
    /// changes.
    ///
    /// - Parameters:
    ///   - call: The request, whose principal is known.
    ///   - needed: The level that the method needs at this path.
    ///   - isHidden: Whether the path does not exist for clients that may not administer.
    ///   - hasCredentials: Whether the server has credentials, which decides the problem of a refused client.
    /// - Throws: 404 `not_found` for hidden paths and clients that may read, otherwise 401 `unauthenticated` for anonymous
    ///   clients and 403 `forbidden` for all others.
    package func check(
        _ request: Request, of caller: Caller, needed: AccessClass, isHidden: Bool, hasCredentials: Bool
    ) throws(Problem) {
        let granted = grant(caller)
        guard granted < .administer else { return }
        var wanted = needed
        // Uncommitted changes of a transaction are visible only to clients that may write.
        if request[.realmTransaction] != nil { wanted = max(wanted, .write) }
        guard wanted > granted else { return }
        if granted == .health, caller.principal.kind == .anonymous {
            throw Problem.unauthenticated(request, hasCredentials: hasCredentials)
        }
        // Clients that may only read must not learn that these paths exist.
        guard !isHidden else { throw Problem(.notFound, "there is nothing at this path") }
        guard caller.principal.kind != .anonymous else { throw AccessPolicy.anonymousIsReadOnly }
        throw AccessPolicy.forbidden(caller.principal)
    }

    /// The 401 for an anonymous client that may read, and wants more.
    private static let anonymousIsReadOnly = Problem(
        .unauthenticated,
        "anonymous clients are read-only; use a key, loopback, or the --admin listener"
    ).with(header: Problem.challenge)

    /// The problem of a request that the roles of its principal do not permit.
    package static let forbiddenByRoles = Problem(.forbidden, "no role of this credential permits this request")

    /// Makes the 403 for a client that may do something, but not this, with advice for those on this machine.
    private static func forbidden(_ principal: Principal) -> Problem {
        guard principal.kind == .local else { return forbiddenByRoles }
        return Problem(.forbidden, "this listener does not permit administration; use that of --admin")
    }
}

/// The principals of requests without a credential, as long as a server has no credentials.
///
/// The objects belong to one server. When it gets its first credential they end, so that streams and polls of such requests end
/// too, as those of a revoked credential do. Clients of the administrators' socket are not among them: they need no credential
/// afterwards either.
final class AnonymousPrincipals: Sendable {
    /// A client on this machine that may administer.
    let local = Principal(kind: .local, roles: [Principal.administratorRole])
    /// A client on this machine, where administration is refused on the main listener.
    let localWriter = Principal(kind: .local)
    /// A client elsewhere that the server permits to read.
    let remoteReader = Principal(kind: .anonymous, roles: [RoleBook.anonymous, RoleBook.reader])

    /// Makes the principals of a server.
    init() {}

    /// Ends all of them for good. It costs next to nothing when that was done before.
    func end() { for principal in [local, localWriter, remoteReader] { principal.end() } }
}
