// SPDX-License-Identifier: Apache-2.0

internal import MicroHTTP
package import RealmAccess
internal import RealmFormats
internal import RealmPlatform
internal import RealmStorage

/// Checks the credentials of a server: their roles exist, and one of them can administer.
///
/// A role that does not exist allows nothing, and the first key ends open access, so a misspelt role locks its owner out.
package struct CredentialCheck: KeyCheck {
    /// The roles of the server.
    private let roles: RoleBook
    /// Whether requests without a key may be identified, by a token or a certificate.
    private let hasOthers: Bool
    /// Whether a client can administer without a key: by a token, a certificate, or the socket of administrators.
    private let isAdministeredOtherwise: Bool

    /// The value of `confirm` for a change after which no credential administers.
    package static let confirmation = "no-administrator"
    /// The number of roles that a message names.
    private static let shownLimit = 20

    /// Makes the check of a server.
    ///
    /// - Parameter options: The options in force.
    package init(_ options: ServerOptions) {
        let book = options.roles
        roles = book
        let rules = options.tls.clientAuthorities == nil ? [] : options.certificateRules
        hasOthers = !options.tokenIssuers.isEmpty || !rules.isEmpty || options.verifier != nil
        let isAdministered: ([String]) -> Bool = { book.administers(RightsHolder(roles: $0)) }
        var otherwise = options.verifier != nil || rules.contains { isAdministered($0.roles) }
        // A claim with roles may name any role.
        otherwise = otherwise || options.tokenIssuers.contains { $0.rolesPath != nil || isAdministered($0.roles) }
        if case .unix = options.admin { otherwise = true }
        isAdministeredOtherwise = otherwise
    }

    // MARK: - Roles

    /// Returns the error in names of roles, as a sentence without a final period; nil when each exists.
    package func defect(ofRoles names: [String]) -> String? {
        guard let unknown = names.first(where: { !roles.has($0) }) else { return nil }
        let known = roles.names
        let shown = known.prefix(CredentialCheck.shownLimit).joined(separator: ", ")
        let more = known.count > CredentialCheck.shownLimit ? ", and \(known.count - CredentialCheck.shownLimit) more" : ""
        let hint = Suggestion.hint(for: unknown, in: known)
        return "no role '\(unknown.truncated)'\(hint.isEmpty ? "." : hint) Roles: \(shown)\(more)"
    }

    /// Returns the error in the roles of stored keys, as a sentence without a final period; nil when each role exists.
    ///
    /// Keys that have expired are left out, as is a file that cannot be read, since all of its keys are refused.
    ///
    /// - Parameter file: The file of keys. It is read, which waits for the disk.
    package func defect(ofKeys file: KeyFile) -> String? {
        for key in (try? file.read()) ?? [] where !key.isOver {
            guard let defect = defect(ofRoles: key.roles) else { continue }
            return "\(file.path): the key \(key.id) ('\(key.name.truncated)'): \(defect). Add the role, or end the key with "
                + "realm-rest keys revoke \(key.id)"
        }
        return nil
    }

    // MARK: - Administration

    /// The seconds for which a key has to be valid at least to count: time enough to make the next one.
    private static let leastSeconds: Int64 = 300

    /// Returns whether a key is good for administering the server.
    ///
    /// - Parameters:
    ///   - address: The address that it has to be good for; nil for any.
    private func administers(_ key: APIKey, from address: String?) -> Bool {
        let isOver = key.expires.map { $0 <= APIKey.now + CredentialCheck.leastSeconds } ?? false
        guard !isOver, roles.administers(RightsHolder(roles: key.roles, realm: key.realm)) else { return false }
        return address.map { key.networks.admit($0) } ?? true
    }

    /// Returns whether the server can be administered.
    ///
    /// - Parameters:
    ///   - keys: The keys; nil for a server that never had one, which trusts its machine unless it has other credentials.
    ///   - address: The address of the client that changes the keys; nil when it is unknown.
    package func isAdministered(_ keys: [APIKey]?, from address: String? = nil) -> Bool {
        guard !isAdministeredOtherwise, keys != nil || hasOthers else { return true }
        return keys?.contains { administers($0, from: address) } ?? false
    }
}

extension APIKey {
    /// Whether the key has expired.
    package var isOver: Bool { expires.map { $0 <= APIKey.now } ?? false }
}
