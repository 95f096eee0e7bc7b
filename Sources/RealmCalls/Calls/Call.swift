// SPDX-License-Identifier: Apache-2.0

package import MicroHTTP
package import RealmAccess
package import RealmEngine
package import RealmFormats
internal import RealmPlatform
package import RealmStorage

/// A request on its way to an endpoint: its sender, the realm, the version, and the rights to read and write there.
///
/// Admission makes it, and each layer completes it. `@unchecked Sendable`: one thread at a time works for a request, and hands
/// the call on with the work.
package final class Call: @unchecked Sendable {
    /// The request as it was received.
    package let request: Request
    /// The parts of the server that all calls share.
    package let services: CallServices
    /// The sender.
    package var caller = Caller()
    /// The route that the target leads to; `PathPattern.none` until the request was admitted. `call.match[.key]` is a decoded segment.
    package var match: PathMatch
    /// The methods of the path that change nothing.
    package var readMethods = MethodSet()
    /// All methods of the path, for the header field `Allow`.
    package var methods = MethodSet()
    /// The media types that the operation accepts as its body.
    package var bodyTypes = BodyTypes()
    /// The names of the parameters that the operation takes in the query string.
    package var queryNames: [String] = []
    /// The state of the realm that the path names, taken once when the request was admitted; nil for paths outside of realms.
    package var realm: RealmState?
    /// The reason why the request that attached the realm in the background was refused, for a realm that has failed for it; nil
    /// for others.
    package var refusalOfRealm: Problem?
    /// The readable part of the realm; nil for everything.
    package var scope: (any VersionScope)?
    /// The rights to write in the realm; nil for all writes that the path allows.
    package var writeRights: (any WriteRights)?
    /// The version to read instead of the newest one: the uncommitted state inside an interactive transaction.
    package var version: Version?
    /// The request as the log of a cluster names it, once it is carried out there; nil without an idempotency key, and elsewhere.
    package var source: CommittedRequest?
    /// The record for the audit log, once the request is carried out; nil for one that leaves no line, and without such a log.
    package var audit: AuditRecord?
    /// The problem that answers the request when its body has arrived; nil for a request that is carried out.
    package var answerAfterBody: Problem?
    /// The times of the request by part; nil unless the server was started to report them in `Server-Timing`.
    package var timing: ServerTiming?
    /// The text of the query, for the log at its most detailed level; never with its arguments.
    package var query: String?
    /// The version token that the response was made from, for the log.
    package var versionToken: String?
    /// Whether the request is in vain once its client has left, as it only reads, registers subscriptions or has changed nothing yet.
    package var isForItsClient = false
    /// Whether the request reads a snapshot that the client leased. Such responses are not cached, because the lease may expire before the
    /// version does.
    package var readsSnapshot = false
    /// Called with the problem of a write that has failed after its request was answered, with `Prefer: respond-async`; nil when nothing
    /// depends on it.
    package var onLateRefusal: (@Sendable (Problem) -> Void)?
    /// Ends the registration or snapshot that the request has created, because the client never learns its id. It is called when the
    /// response was not sent as a whole, or a problem was sent in its place; nil for other requests.
    package var takeBack: (@Sendable () -> Void)?

    /// Makes the call of a request whose head is complete.
    ///
    /// - Parameters:
    ///   - services: The parts of the server that all calls share.
    package init(_ request: Request, _ services: CallServices) {
        self.request = request
        self.services = services
        match = PathMatch(.none, index: 0, request.target)
    }

    /// The limits that hold for the sender, such as the largest page.
    package var limits: Limits { services.liveLimits.current.holding(for: caller.roleLimits) }

    /// The principal, and the rights by which the request was admitted.
    package var standing: Standing { Standing(principal: caller.principal, rights: caller.rights) }

    /// The name under which work, memory and streams of the sender are counted together: a principal with a credential has one wherever it
    /// comes from; all others have the one of their address.
    package var account: String { caller.principal.logName ?? request.client }

    /// The name of the sender: its principal, or without a credential its address. Repeatable requests and counts are kept under
    /// it, independent of the sender's rights.
    package var sender: String { caller.principal.kind == .anonymous ? "stranger " + request.client : caller.principal.owner }

    /// A text that is equal exactly for senders with equal rights in the realm, as far as these fit its schema; empty where not roles
    /// decide.
    package var rightsIdentity: String {
        guard case .ready(let database)? = realm else { return caller.rights?.identity(in: nil) ?? "" }
        return caller.rights?.identity(in: database.current.snapshot) ?? ""
    }

    /// The name under which transactions, snapshots, registrations and the like belong to the sender. It has the rights in it, so that
    /// nothing that was begun with other rights is found by it.
    package var owner: String { sender + "\n" + rightsIdentity }

    /// The owner whose transactions, snapshots and registrations the sender may use; nil for those of all owners. Others do not
    /// exist for it.
    package var ownerScope: String? { caller.principal.kind == .local ? nil : owner }

    /// Returns the open realm that the path names.
    ///
    /// - Throws: `realm_not_found`, `realm_unavailable` for a realm that is being opened, or the problem of opening it.
    package func database() throws(Problem) -> Database {
        switch realm {
        case nil: throw .noRealm
        case .ready(let database): return database
        case .opening, .closed: throw Problem(.realmUnavailable, "the realm is being opened")
        case .failed(let error):
            throw Problem(failed: error, refusalOfRealm, showsAll: AccessPolicy.granted(to: caller) == .administer)
        }
    }

    /// Throws `unknown_parameter` for a name in the query string that the operation does not take.
    package func checkQueryNames() throws(Problem) { try QueryParameters(request.target).requireKnown(queryNames) }

    /// Returns the object in the body, which has arrived completely.
    ///
    /// - Throws: `unsupported_media_type`, `invalid_json` for a body that is empty or not JSON, and `invalid_body` for JSON that is no
    ///   object.
    package func bodyObject() throws(Problem) -> JSONObject {
        _ = try bodyTypes.type(of: request)
        let value = try request.body.readJSON(limits.json)
        guard let object = value.object else {
            throw Problem(.invalidBody, "the body is \(value.kind), but must be an object")
        }
        return object
    }

    /// Whether the client has the representation already, because `If-None-Match` names its entity tag. The response is then 304.
    ///
    /// The tags of compressed representations count as well.
    package func isCurrent(_ etag: String) -> Bool {
        guard let condition = request[.ifNoneMatch] else { return false }
        if condition == etag { return true }
        guard let list = EntityTagList(condition) else { return false }
        return list.names(etag) || ContentCoding.allCases.contains { list.names(EntityTag.packed(etag, $0)) }
    }
}

extension Call: RequestOwner {
    package func visible(_ problem: Problem) -> Problem { caller.problem(problem, for: request) }
}

extension Call {
    /// Throws `forbidden` where a class that is not shown to the sender is one in which it has other rights than the request
    /// needs, so that it may know of the class; clients without a credential are asked for one.
    ///
    /// - Parameters:
    ///   - name: The name of a class that is not in the view.
    ///   - snapshot: The view of the version that the request reads.
    package func requireNoOtherRights(on name: String, in snapshot: Snapshot) throws(Problem) {
        guard let scope = scope as? RightsScope, scope.hasOtherRights(on: name),
            (snapshot.scope?.base ?? snapshot).classTable(named: name) != nil
        else { return }
        guard caller.principal.kind != .anonymous else { throw Problem.unauthenticated(request, hasCredentials: true) }
        throw AccessPolicy.forbiddenByRoles
    }
}
