// SPDX-License-Identifier: Apache-2.0

internal import RealmEngine
package import RealmFormats
internal import RealmPlatform
package import RealmStorage

/// The rights of a principal in a realm, as objects that outlive a request need them.
package protocol AdmittedRights: AnyObject, Sendable {
    /// Returns a text that is equal exactly for equal rights, as far as they fit the schema of a version.
    ///
    /// - Parameter snapshot: The whole version; nil where there is none.
    func identity(in snapshot: Snapshot?) -> String

    /// Returns whether a principal has the same rights by the roles in force. It costs two comparisons of addresses until these are
    /// replaced.
    func areInForce(for principal: Principal) -> Bool
}

/// The sender of a request, and the rights by which it was admitted.
///
/// A stream, snapshot or anything else that outlives the request keeps it, and ends when the sender has other rights, or none.
package struct Standing: Sendable {
    /// The sender.
    package let principal: Principal
    /// The rights in the realm; nil where not roles decide.
    package let rights: (any AdmittedRights)?

    /// Makes the standing of a sender.
    package init(principal: Principal, rights: (any AdmittedRights)?) {
        self.principal = principal
        self.rights = rights
    }

    /// Whether the sender has the same rights by the roles in force. Whether the credential is still valid does not count.
    package var hasSameRights: Bool { rights?.areInForce(for: principal) ?? true }

    /// Whether objects that outlive the request may stay: their owner can return to them, with the same rights by the roles in
    /// force.
    package var mayKeep: Bool { !principal.hasLeft && hasSameRights }

    /// Whether the credential is valid, and the sender has the same rights by the roles in force.
    package var isInForce: Bool { problem == nil }

    /// The reason to refuse an action that was admitted earlier; nil when it is allowed.
    ///
    /// The credential was revoked or has expired, or the rights of its holder have changed.
    package var problem: Problem? { principal.isOver ? .credentialEnded : problemOfReading }

    /// The reason to stop a response that has begun: `problem`, but an expired credential does not count.
    package var problemOfReading: Problem? {
        guard !principal.isRevoked else { return .credentialEnded }
        return hasSameRights ? nil : .rightsChanged
    }

    /// Throws the reason to refuse the action of an admitted request.
    package func require() throws(Problem) {
        if let problem { throw problem }
    }
}
