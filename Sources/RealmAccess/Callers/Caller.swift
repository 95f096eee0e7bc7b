// SPDX-License-Identifier: Apache-2.0

package import MicroHTTP
package import RealmFormats
internal import RealmPlatform
internal import RealmStorage

/// The sender of a request: the credential, the permissions of its roles at the path, and its own limits.
package struct Caller: Sendable {
    /// The principal of the request; until it is known, one without any rights.
    package var principal = Principal.anonymous
    /// The holder of the client certificate of the connection; nil without one.
    package var certificatePrincipal: Principal?
    /// The cookie of the session by which the request was authenticated; nil for another way.
    package var sessionCookie: String?
    /// The token that has to be verified before the request is admitted; nil for all other requests.
    package var unverifiedToken: String?
    /// The limits that follow from the roles, where they differ from those of the server; nil where they do not.
    package var roleLimits: PrincipalLimits?
    /// The rights in the realm, by which the request is admitted; nil where not roles decide.
    package var rights: (any AdmittedRights)?
    /// The scope of the principal's roles at the path; nil where roles do not decide.
    package var roleScope: RoleScope?
    /// Whether the request was refused for its sender, with any status.
    package var isRefusedByRights = false

    /// Makes a sender that is not known yet.
    package init() {}

    /// Returns a problem as the sender may see it: a client without a credential is asked for one, where roles would otherwise forbid
    /// something.
    package func problem(_ problem: Problem, for request: Request) -> Problem {
        guard problem.code == .forbidden, roleScope == .part, principal.kind == .anonymous else { return problem }
        var asking = Problem.unauthenticated(request, hasCredentials: true)
        // How much of an import was committed stays true.
        asking.extensions += problem.withoutData.extensions
        asking.isPartial = problem.isPartial
        return asking
    }
}

/// The scope of a principal's roles at the path of a request.
package enum RoleScope: Sendable {
    /// The principal may read and change a part of the realm.
    case part
    /// The principal may read and change everything in the realm.
    case writes
    /// The principal may do everything.
    case administers
}
