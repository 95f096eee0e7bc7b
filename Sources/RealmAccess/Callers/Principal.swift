// SPDX-License-Identifier: Apache-2.0

package import MicroHTTP
internal import RealmEngine
package import RealmFormats
package import RealmPlatform
internal import RealmStorage
internal import Synchronization

/// The sender of a request: the holder of an API key, a token or a client certificate, a client on this machine, or an anonymous one.
///
/// One object represents one credential as long as that is valid. All requests and streams of the credential share it. When the
/// credential is revoked or replaced, the object is ended, which everything that outlives a request sees without a lock (`isOver`).
package final class Principal: Sendable {
    /// The ways in which a principal is known.
    package enum Kind: String, Sendable {
        /// A client of a server without credentials on loopback or a Unix socket, or of the administrators' Unix socket.
        case local
        /// A client without a credential.
        case anonymous
        /// The holder of an API key.
        case key
        /// The subject of a token.
        case jwt
        /// The holder of a client certificate.
        case certificate
    }

    /// The kind of credential.
    package let kind: Kind
    /// The id of the key, the issuer and subject of the token, or the name of the certificate; empty for the other kinds.
    package let id: String
    /// The name for people.
    package let name: String
    package let roles: [String]
    /// The claims of the principal, for rules: `sub`, and all that the credential states.
    package let claims: JSONObject
    /// The only realm that the principal may use; nil for no such restriction.
    package let realm: String?
    /// The networks from which the credential may be used; none for all.
    package let networks: [AddressRange]
    /// The time at which the credential expires; nil for never.
    package let expiresAt: WallClock?
    /// The name under which transactions, asynchronous writes, snapshots, registrations and idempotency keys belong to the
    /// principal. All local clients are one owner.
    package let owner: String
    /// The principal whose end is the end of this one too; nil for none.
    private let parent: Principal?
    /// Whether `end` was called.
    private let hasEnded = Atomic<Bool>(false)
    /// Whether another credential of the same holder has taken its place.
    private let isReplaced = Atomic<Bool>(false)
    /// Values that other parts of the server derive for the principal and keep as long as it.
    let derived = DerivedValues()

    /// The role that permits everything.
    package static let administratorRole = "admin"

    /// Makes a principal.
    ///
    /// - Parameters:
    ///   - kind: The kind of credential.
    ///   - id: Its identifier among principals of its kind.
    ///   - name: The name for people.
    ///   - roles: The names of its roles.
    ///   - claims: Its claims, for rules.
    ///   - realm: The only realm that it may use; nil for all.
    ///   - networks: The networks from which its credential may be used; none for all.
    ///   - expiresAt: The time at which its credential expires; nil for never.
    ///   - parent: The principal whose end also ends this one.
    package init(
        kind: Kind, id: String = "", name: String = "", roles: [String] = [], claims: JSONObject = JSONObject([]),
        realm: String? = nil, networks: [AddressRange] = [], expiresAt: WallClock? = nil, parent: Principal? = nil
    ) {
        self.kind = kind
        self.id = id
        self.name = name
        self.roles = roles
        self.claims = claims
        self.realm = realm
        self.networks = networks
        self.expiresAt = expiresAt
        self.parent = parent
        owner = kind == .local ? "" : kind.rawValue + ":" + id
    }

    /// Makes the principal of a session: the same one, with an earlier end.
    ///
    /// - Parameters:
    ///   - principal: The principal that began the session.
    ///   - expiresAt: The time at which the session expires.
    package convenience init(sessionOf principal: Principal, until expiresAt: WallClock) {
        let end = min(expiresAt.nanoseconds, principal.expiresAt?.nanoseconds ?? .max)
        self.init(
            kind: principal.kind, id: principal.id, name: principal.name, roles: principal.roles, claims: principal.claims,
            realm: principal.realm, networks: principal.networks, expiresAt: WallClock(nanoseconds: end), parent: principal)
    }

    /// Whether the credential, or a session or ticket made with it, may be used from an address.
    ///
    /// - Parameter address: The address of the client, possibly with a zone.
    package func mayBeUsed(from address: String) -> Bool { networks.admit(address) }

    /// The principal of requests that never need a credential, and may administer: those through the administrators' socket.
    package static let local = Principal(kind: .local, roles: [administratorRole])
    /// Whether this is a client that needs no credential as long as the server has none.
    package var isAnonymousLocal: Bool { kind == .local && self !== Principal.local }
    /// The principal of requests without a credential.
    package static let anonymous = Principal(kind: .anonymous, roles: ["anonymous"])

    /// Whether the principal may do everything, at least in its realm.
    package var isAdministrator: Bool { roles.contains(Principal.administratorRole) }

    /// The name of the principal in the log and the list of leases; nil for clients without a credential.
    package var logName: String? {
        switch kind {
        case .local, .anonymous: return nil
        case .key, .jwt, .certificate: return owner
        }
    }

    /// Ends the principal for good: its credential was revoked, replaced or returned.
    ///
    /// - Parameter isReplaced: Whether another credential of the same holder takes its place, and owns everything begun with this
    ///   one.
    package func end(isReplaced: Bool = false) {
        if isReplaced { self.isReplaced.store(true, ordering: .releasing) }
        hasEnded.store(true, ordering: .releasing)
    }

    /// Whether the credential was revoked, replaced or returned, before any expiry. This takes no lock.
    package var isRevoked: Bool { hasEnded.load(ordering: .acquiring) || parent?.isRevoked ?? false }

    /// Whether the credential is no longer valid: it was revoked, or has expired. This takes no lock.
    package var isOver: Bool {
        if hasEnded.load(ordering: .acquiring) { return true }
        if let expiresAt, WallClock.now().nanoseconds >= expiresAt.nanoseconds { return true }
        return parent?.isOver ?? false
    }

    /// Whether everything begun with the credential ends, because it cannot be used again: it was revoked or returned, or a key
    /// has expired.
    ///
    /// The holder of an expired token or certificate gets another one. This takes no lock.
    package var hasLeft: Bool {
        if hasEnded.load(ordering: .acquiring), !isReplaced.load(ordering: .acquiring) { return true }
        if kind == .key, let expiresAt, WallClock.now().nanoseconds >= expiresAt.nanoseconds { return true }
        return parent?.hasLeft ?? false
    }
}
