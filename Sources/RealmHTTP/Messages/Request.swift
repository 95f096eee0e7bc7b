// SPDX-License-Identifier: Apache-2.0

package import RealmEngine
package import RealmFormats
package import RealmPlatform
internal import RealmStorage

/// One request as endpoints see it.
///
/// `Exchange` makes it when the header section is complete, fills in the body as it arrives, and
/// then gives it to a handler. It lives until the response has been sent or the connection is gone.
///
/// `@unchecked Sendable`: the daemon's thread of the connection fills it before any handler runs;
/// after that only the one handler that it was given to changes it, on one thread at a time.
package final class Request: @unchecked Sendable {
    /// The method; nil for one that this server does not know.
    package let method: HTTPMethod?
    /// The method as it was sent, for the log.
    package let methodName: String
    /// The request target as it was sent, split but not decoded.
    package let target: RequestTarget
    /// The header fields that have a meaning to this server.
    package let headers: RequestHeaders
    /// The id of the request in responses, problems and the log: the client's own, if it sent a
    /// usable one.
    package let id: RequestID
    /// When the first line of the request had arrived.
    package let arrival: Instant
    /// The textual address of the client, which a trusted proxy may have named; empty on a Unix socket, and
    /// `ForwardedSender.unknownName` for a client that cannot be told.
    package let clientAddress: String
    /// The name under which connections, work and memory of this client are counted together: one
    /// per address, see `ClientName`.
    package let client: String
    /// Whether the sender's address belongs to this machine. A proxy on this machine makes it true
    /// as well.
    package let isFromThisMachine: Bool
    /// Whether the request was sent with HTTP/1.0.
    package let isHTTP10: Bool
    /// The listener through which the request came.
    package let entrance: Entrance
    /// What is known of the credentials of its connection; nil for a request without one.
    package var credential: CredentialMemo?
    /// Whether the connection is encrypted by this server. What a proxy does before it does not count.
    package var isSecure = false
    /// The certificate that the client has sent, verified or not; nil when there is none, or the server asks for none.
    package var clientCertificate: ClientCertificate?
    /// What the body, and the values parsed from it, use of the memory for bodies; nil where this
    /// is not counted.
    var holding: ByteHolding?
    /// The body in memory. Its content coding is undone before an endpoint sees it.
    package var body: [UInt8] = []
    /// A long body in a temporary file; `body` is empty then.
    package var bodyFile: BodyFile?
    /// The budget that temporary files for this request are charged to.
    var spool: SpoolRoom?
    /// Whether there is no body, neither in memory nor in a file.
    package var hasNoBody: Bool { body.isEmpty && bodyFile == nil }
    /// The bounds of the work for this request: time, bytes of the response, and objects reached
    /// through links.
    package let budget = WorkBudget()
    /// When work for this request is given up. It is part of `budget`.
    package var deadline: Instant {
        get { budget.deadline }
        set { budget.deadline = newValue }
    }
    /// The route that the target leads to; `PathPattern.none` until the request was admitted.
    package var match: PathMatch
    /// The state of the realm that the path names, taken once when the request was admitted; nil
    /// for paths outside of realms.
    package var realm: Catalog.State?
    /// Why the request that attached the realm in the background was refused, for a realm that has failed for that; nil for others.
    var refusalOfRealm: Problem?
    /// What its sender may see of the realm; nil for everything. It is set when the request is admitted.
    package var scope: (any VersionScope)?
    /// What its sender may write in the realm; nil for everything that the path allows.
    package var writeRights: (any WriteRights)?
    /// The rights of its sender in the realm, by which it is admitted; nil where not roles decide.
    var rights: (any AdmittedRights)?
    /// How far the roles of the principal reach at the path; nil where not roles decide.
    var roleReach: RoleReach?
    /// Who sends the request. Until that is known, it is somebody who may do nothing.
    package var principal = Principal.anonymous
    /// The holder of the client certificate with which the connection was made; nil without one. The listener sets it.
    package var certificatePrincipal: Principal?
    /// The cookie of the session by which the request was authenticated; nil for another way.
    var sessionCookie: String?
    /// The token of a request that has to be verified before the request is admitted; nil for all others.
    var unverifiedToken: String?
    /// What its limits are by its roles, where they differ from those of the server; nil where they do not.
    var roleLimits: PrincipalLimits?
    /// The request as the log of a cluster names it, once it is carried out there; nil without an idempotency key, and elsewhere.
    var source: CommittedRequest?
    /// The record of the request for the audit log, once it is carried out; nil for one that leaves no line, and without such a log.
    var audit: AuditRecord?
    /// Whether the request was refused for who sent it, whatever the status says.
    var isRefusedByRights = false
    /// The problem that answers the request when its body has arrived; nil for a request that is carried out.
    var answerAfterBody: Problem?
    /// Where the time of the request went; nil unless the server was started to report it in
    /// `Server-Timing`.
    package var timing: ServerTiming?
    /// The text of the query, for the log at its most detailed level; never with its arguments.
    package var query: String?
    /// The version token that the response was made from, for the log.
    package var version: String?
    /// Whether the request is in vain once its client has left, as it only reads, registers subscriptions or has changed nothing yet: it
    /// is not begun any more then.
    package var isForItsClient = false
    /// Ends the registration or snapshot that the request has created, because the client never learns its id. It is called when the
    /// response was not sent as a whole, or a problem was sent in its place; nil for other requests.
    package var takeBack: (@Sendable () -> Void)?
    /// Whether the client still waits, as far as is known. May be read as long as the connection is suspended, by any thread.
    var isWanted: Bool { !budget.isCancelled && budget.isStillWanted?() ?? true }

    /// Returns a control that ends work once the client has left.
    ///
    /// - Parameter deadline: When the work expires; nil for no limit.
    func control(until deadline: Instant? = nil) -> WorkControl {
        WorkControl(deadline: deadline, isWanted: { [self] in isWanted })
    }
    /// Whether the request reads a snapshot that the client leased. Such responses are not cached,
    /// because the lease may expire before the version does.
    package var readsSnapshot = false

    /// Makes a request whose header section is complete. Its route is `PathPattern.none` until a
    /// handler looks it up.
    ///
    /// - Parameters:
    ///   - methodName: The method as it was sent.
    ///   - target: The request target.
    ///   - headers: The known header fields.
    ///   - id: The id for logs and problems.
    ///   - arrival: When the first line had arrived.
    ///   - clientAddress: The address of the sender as text; empty on a Unix socket.
    ///   - client: The name to count the client under; without it, its address.
    ///   - isFromThisMachine: Whether the sender is this machine; without it, this is derived from
    ///     the address.
    ///   - isHTTP10: Whether it is a request of HTTP/1.0.
    ///   - entrance: The listener through which it came.
    package init(
        methodName: String, target: RequestTarget, headers: RequestHeaders, id: RequestID, arrival: Instant,
        clientAddress: String, client: String? = nil, isFromThisMachine: Bool? = nil, isHTTP10: Bool, entrance: Entrance = .main
    ) {
        self.methodName = methodName
        method = HTTPMethod(rawValue: methodName)
        self.target = target
        match = PathMatch(.none, index: 0, target)
        self.headers = headers
        self.id = id
        self.arrival = arrival
        self.clientAddress = clientAddress
        self.client = client ?? clientAddress
        self.isFromThisMachine = isFromThisMachine ?? Request.isOfThisMachine(clientAddress)
        self.isHTTP10 = isHTTP10
        self.entrance = entrance
    }

    /// The name under which work, memory, streams and the like of the sender are counted together: a principal with a credential has
    /// one wherever it comes from; all others have the one of their address.
    package var account: String { principal.logName ?? client }

    /// The owner whose transactions, snapshots and registrations the sender may use; nil for those of everybody. Ids of others do
    /// not exist for it.
    package var ownerScope: String? { principal.kind == .local ? nil : owner }

    /// Returns whether an address is a loopback address of IPv4 or IPv6.
    ///
    /// - Parameter address: An address as text, without a port.
    package static func isOfThisMachine(_ address: String) -> Bool {
        address.hasPrefix("127.") || address == "::1" || address.hasPrefix("::ffff:127.")
    }

    /// Parses the body as JSON and keeps its text.
    ///
    /// The memory for the parsed values is reserved before any of them is made, at `bytesPerValue`
    /// each, and is held as long as the request holds memory.
    ///
    /// - Parameter limits: The limits of the server, of which depth and number of values apply.
    /// - Returns: The document.
    /// - Throws: `invalid_json` or `body_too_large` for what is wrong with the body; `overloaded`
    ///   or `rate_limited` when the memory for bodies is used up.
    func readJSON(_ limits: Limits) throws(Problem) -> JSONValue {
        var refusal: Problem?
        do throws(JSONError) {
            return try JSONParser.parse(body, limits.json) { count in
                refusal = refusalOfMemory(count * Request.bytesPerValue)
                return refusal == nil
            }
        } catch {
            throw refusal ?? Problem(error)
        }
    }

    /// Reserves memory for bodies, and returns the problem when there is not enough of it.
    private func refusalOfMemory(_ byteCount: Int) -> Problem? {
        do throws(Problem) {
            try holding?.require(byteCount)
            return nil
        } catch {
            return error
        }
    }

    /// Parses the body as JSON like `readJSON(_:)`, and releases its text, for endpoints that need
    /// the body only once.
    ///
    /// - Parameter limits: The limits of the server, of which depth and number of values apply.
    /// - Returns: The document.
    /// - Throws: The problems of `readJSON(_:)`.
    func takeJSON(_ limits: Limits) throws(Problem) -> JSONValue {
        let value = try readJSON(limits)
        forgetBody()
        return value
    }

    /// Reads the body as rows if it is an array of objects with plain values, and keeps its text.
    ///
    /// - Parameters:
    ///   - limits: The limits of the server, of which depth and number of values apply.
    ///   - shape: Returns the class of the objects, if they can be read as rows.
    /// - Returns: The rows; nil for a body that has to be read in another way: one that is wrong, or that there is no memory for as
    ///   rows, which may take more than the values do.
    func readRows(_ limits: Limits, _ shape: () -> RowShape?) -> ObjectRows? {
        let first = body.first { $0 != 0x20 && $0 != 0x09 && $0 != 0x0a && $0 != 0x0d }
        guard first == UInt8(ascii: "["), body.count >= Request.leastRows, body.count <= JSONTape.longestText, let shape = shape()
        else { return nil }
        // A row has a value for each property, whether it is given or not.
        let valueLimit = body.count / 4
        let byteCount = body.count + valueLimit * MemoryLayout<Value?>.stride
        guard refusalOfMemory(byteCount) == nil else { return nil }
        if let rows = JSONTape.rows(body, limits.json, of: shape, valueLimit: valueLimit) { return rows }
        holding?.shrink(by: byteCount)
        return nil
    }

    /// The length in bytes from which a body may have so many objects that rows are worth their begin.
    private static let leastRows = 1 << 10

    /// How many bytes one parsed JSON value is estimated to use in memory, on average.
    static let bytesPerValue = 128

    /// Releases the text of a body that is not needed again, and the memory that was reserved for
    /// it.
    func forgetBody() {
        holding?.shrink(by: body.count)
        body = []
    }

    /// Throws the problem of a stopped budget, usually `deadline_exceeded`, when the time for this
    /// request has run out.
    package func checkDeadline() throws(Problem) {
        if !budget.goesOn { throw Problem(budget.stop ?? .expired) }
    }
}
