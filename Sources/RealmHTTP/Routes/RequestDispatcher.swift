// SPDX-License-Identifier: Apache-2.0

package import MicroHTTP
internal import RealmAccess
internal import RealmCalls
internal import RealmEngine
internal import RealmFormats
internal import RealmHosting
internal import RealmPlatform
internal import RealmStorage

/// The application that the daemon calls: it admits requests, has endpoints answer them, and finishes their responses.
///
/// One is made per server and lives as long as it. The work is in its parts: `AdmissionControl`,
/// `BodyReader`, `ReadDispatcher`, `WriteDispatcher` and `ResponseFinisher`. It needs no socket:
/// tests pass requests to it as values. The daemon calls it on several threads at once.
package final class RequestDispatcher: RequestHandler {
    /// The parts that the requests of the server share.
    private let server: ServerState
    /// Makes the checks that need no body: host, origin, sizes, access, realm and method.
    private let admission: AdmissionControl
    /// Decides how bodies are received, and inflates packed ones.
    private let bodies: BodyReader
    /// Takes the last step of every response: packing and common header fields.
    private let finisher: ResponseFinisher
    /// The functions of the endpoints, by route and method.
    private let handlers: HandlerTable
    /// Answers the calls that change nothing.
    private let reads: ReadDispatcher
    /// Answers the calls that change a realm, or the list of realms.
    private let writes: WriteDispatcher
    /// Whether responses have a `Server-Timing` header field.
    private let showsTiming: Bool
    /// The parts of the server that all calls share.
    private let services: CallServices
    /// Counts requests that were rejected before their bodies, by problem code.
    private let refusals = RefusalMetrics()
    /// Counts and logs requests when they have ended.
    private let ends: RequestEnds
    /// Records requests in the audit log.
    private let audit: AuditTrail

    /// Creates the application of a server, with its own cache and endpoints.
    ///
    /// - Parameter server: The parts that requests share. The metrics of the cache, the requests and the
    ///   refusals are added to its metrics.
    package init(_ server: ServerState) {
        self.server = server
        let answers = AnswerCache(byteLimit: server.limits.answerCacheBytes)
        handlers = HandlerTable(RouteTable.routes, server)
        admission = AdmissionControl(server)
        bodies = BodyReader(server)
        finisher = ResponseFinisher(server)
        reads = ReadDispatcher(
            liveLimits: server.liveLimits, workers: server.workers, answers: answers, timers: server.timers,
            cluster: server.cluster)
        writes = WriteDispatcher(server.catalog, workers: server.workers, cluster: server.cluster)
        showsTiming = server.options.showsTiming
        services = CallServices(
            liveLimits: server.liveLimits, pinned: server.pinned, workers: server.workers,
            conditionalClasses: server.options.conditionalClasses,
            commitMark: { [registrations = server.notifications.registrations, isShared = server.cluster != nil] call, database in
                Result { () throws(Problem) in try SkipMark(call, database, registrations, isShared: isShared)?.commitMark }
            })
        ends = RequestEnds(server)
        audit = AuditTrail(log: server.audit)
        server.metrics.add { answers.write(to: &$0) }
        server.metrics.add { [metrics = ends.metrics] text in metrics.write(to: &text) }
        server.metrics.add { [refusals] text in refusals.write(to: &text) }
    }

    /// Makes the memory of the credentials of a connection.
    package func makeMemo() -> (any ConnectionMemo)? { CredentialMemo() }

    /// Begins the call of a request whose head is complete.
    package func begin(_ request: Request) -> any RequestTask { DispatchedCall(Call(request, services), self) }

    // MARK: - Head

    /// Makes all checks that need no body, and looks up the route and the realm of a request.
    ///
    /// - Parameter call: A request whose head is complete.
    /// - Returns: The bounds of its body, or a finished response that rejects it. After a head or
    ///   body that is too long the connection is closed, because reading the rest of the request is
    ///   of no use.
    func admit(_ call: Call) -> Admission {
        do throws(Problem) {
            _ = try admission.check(call)
            if call.request.announcesBody { holdBody(of: call) }
            return bodies.admission(of: call)
        } catch {
            if let admission = admissionToBody(of: call, answeredWith: error) { return admission }
            refusals.count(error.code)
            var response = finish(Response(error, for: call), for: call)
            // The rest of a request that is too long need not be read either.
            if [413, 414, 431].contains(error.status) { response.closesConnection = true }
            return .refuse(response)
        }
    }

    /// Receives the body of a request for another node: a proxy that is to repeat it there may fail when a part of the body is
    /// not taken.
    ///
    /// - Returns: Nil for a request that is answered at once.
    private func admissionToBody(of call: Call, answeredWith problem: Problem) -> Admission? {
        guard problem.code == .notOwner, call.request.announcesBody, call.request[.expect] == nil else {
            return nil
        }
        call.answerAfterBody = problem
        holdBody(of: call)
        return bodies.admission(of: call)
    }

    /// Counts the body of a request against the memory that all bodies share.
    private func holdBody(of call: Call) {
        call.request.body.holding = ByteHolding(
            server.waitingBytes, call.account, ownLimit: call.caller.roleLimits?[.waitingBytes])
    }

    // MARK: - Answer

    /// Bodies above this many bytes are parsed by a worker rather than on the daemon's thread.
    private static let longBody = 32 << 10

    /// Answers a request that was admitted and is complete.
    ///
    /// - Parameter call: The request. A long body, or one with a content coding, is read by a
    ///   worker.
    /// - Returns: The response, or the work that leads to it. Problems become responses.
    func reply(to call: Call) -> Reply {
        if let problem = call.answerAfterBody { return .now(Response(problem, for: call)) }
        // The body may have taken long.
        if call.request.announcesBody, call.caller.unverifiedToken == nil,
            let problem = call.standing.problem
        {
            return .now(Response(problem, for: call))
        }
        if let token = call.caller.unverifiedToken { return replyAfterVerification(of: token, to: call) }
        if case .closed(let realm)? = call.realm, call.request.method != .options, needsOpening(realm, for: call) {
            return replyAfterOpening(to: call)
        }
        if case .failed? = call.realm, let reply = replyAfterAttempt(to: call) { return reply }
        if case .ready(let database)? = call.realm, let reply = replyAfterClaim(of: database, to: call) { return reply }
        return replyNow(to: call)
    }

    /// Answers a request whose realm is as it has to be.
    private func replyNow(to call: Call) -> Reply {
        if case .failed? = call.realm, let name = call.match.decoded(.realm) {
            call.refusalOfRealm = server.directory.refusals.withLock { $0[name] }
        }
        let hasLongBody = call.request.body.file != nil || call.request.body.bytes.count > RequestDispatcher.longBody
        guard hasLongBody || (call.request.isPacked && !call.request.body.bytes.isEmpty) else { return answer(call) }
        return server.workers.reply(to: call) { [self] promise in answer(call).resolve(promise) }
    }

    /// Answers a request whose token has to be verified first. It waits for that without a thread.
    private func replyAfterVerification(of token: String, to call: Call) -> Reply {
        .later { [self] promise in
            admission.verify(token, of: call) { [self] problem in
                // The thread that verified the token has others to see to.
                let isQueued = server.workers.submitContinuation(for: call.account) { [self] in
                    do throws(Problem) {
                        if let problem { throw problem }
                        try bodies.checkLength(ofBodyOf: call)
                        reply(to: call).resolve(promise)
                    } catch {
                        refusals.count(error.code)
                        promise.complete(Response(error, for: call))
                    }
                }
                if !isQueued { promise.complete(Response(.noWorker, for: call)) }
            }
        }
    }

    /// Whether a request needs a closed realm to be opened: not to describe it, unless only the log knows whether it exists.
    private func needsOpening(_ realm: ClosedRealm, for call: Call) -> Bool {
        guard RouteTable.route(of: call).pattern.isRealm else { return true }
        return server.cluster != nil && realm.byteCount == nil
    }

    /// Lets this node claim a realm of its shards that it has only followed until now, if a request needs the owner.
    ///
    /// - Returns: A reply that waits for that, without a thread; nil when nothing has to be waited for.
    private func replyAfterClaim(of database: Database, to call: Call) -> Reply? {
        guard let cluster = server.cluster, database.replicationStatus.isFollowed, call.request.method != .options else {
            return nil
        }
        let route = RouteTable.route(of: call)
        guard !route.traits.contains(.concernsNode), !cluster.mayFollow(call, route.access(of: call.request.method)) else {
            return nil
        }
        return .later { [self] promise in
            cluster.whenOwned(database.name.text) { [self] error in
                let isQueued = server.workers.submitContinuation(for: call.account) { [self] in
                    if let error { return promise.complete(Response(Problem(claiming: error), for: call)) }
                    replyNow(to: call).resolve(promise)
                }
                if !isQueued { promise.complete(Response(.noWorker, for: call)) }
            }
        }
    }

    /// Answers a request for a closed realm, which a worker opens before. Later requests for the realm wait for that without a
    /// worker.
    private func replyAfterOpening(to call: Call) -> Reply {
        server.workers.reply(to: call) { [self] promise in
            server.catalog.wake(call.match.decoded(.realm) ?? "") { [self] result in
                // The thread that opened the realm may be another one, and has the next request to see to.
                let isQueued = server.workers.submitContinuation(for: call.account) { [self] in
                    reply(to: call, after: result).resolve(promise)
                }
                if !isQueued { promise.complete(Response(.noWorker, for: call)) }
            }
        }
    }

    /// Reopens a failed realm, unless that was tried too recently.
    ///
    /// - Returns: A reply that waits for the outcome and continues with it; nil for a request that does not need the realm open,
    ///   and when there is no new attempt.
    private func replyAfterAttempt(to call: Call) -> Reply? {
        guard let name = call.match.decoded(.realm), case .failed? = server.catalog[name] else { return nil }
        guard server.catalog.isDue(name, call.request.arrival) else {
            server.directory.retry(name, call.request.arrival)
            return nil
        }
        guard call.request.method != .options, !RouteTable.route(of: call).pattern.isRealm else {
            server.supervisor.noteRequest(name, call.request.arrival)
            return nil
        }
        return server.workers.reply(to: call) { [self] promise in
            server.supervisor.wait(for: name, call.request.arrival)
            do throws(Problem) {
                try admission.checkOpened(server.catalog[name], call)
                reply(to: call).resolve(promise)
            } catch {
                promise.complete(Response(error, for: call))
            }
        }
    }

    /// Answers a request for a realm that was closed when it arrived.
    private func reply(to call: Call, after result: Catalog.Waking) -> Reply {
        do throws(Problem) {
            switch result {
            case .settled(let state): try admission.checkOpened(state, call)
            case .tooMany(let limit): throw RealmDirectory.allInUse(limit: limit)
            }
            return reply(to: call)
        } catch {
            return .now(Response(error, for: call))
        }
    }

    /// Inflates the body, sets deadline and limits of the work, and dispatches the request.
    ///
    /// `OPTIONS` is answered here, for every path.
    private func answer(_ call: Call) -> Reply {
        do throws(Problem) {
            try bodies.inflate(bodyOf: call)
            if call.request.method == .options { return .now(options(call)) }
            if showsTiming { call.timing = ServerTiming() }
            call.request.deadline = call.request.arrival.adding(
                seconds: Double(call.caller.roleLimits?[.readSeconds] ?? server.limits.readSeconds))
            call.request.budget.byteLimit = server.limits.answerBytes
            call.request.budget.objectLimit = server.limits.expandedObjects
            return try dispatch(call)
        } catch {
            return .now(Response(error, for: call))
        }
    }

    /// Calls the function of an endpoint that the route and the method select.
    ///
    /// - Throws: The `Problem` that is the response.
    private func dispatch(_ call: Call) throws(Problem) -> Reply {
        let route = RouteTable.route(of: call)
        try audit.begin(call, route)
        guard let handler = handlers[call] else { throw Problem(.notFound, "there is nothing at this path") }
        guard handler.isWrite else {
            try route.check(call)
            return try reads.reply(to: call, route, handler.function)
        }
        return try writes.reply(to: call) { call throws(Problem) in
            try route.check(call)
            return try handler.function(call)
        }
    }

    /// Returns the response to `OPTIONS`: the methods that the client may use, and the media types that they take.
    ///
    /// `OPTIONS *` lists all methods that the server implements.
    private func options(_ call: Call) -> Response {
        let route = RouteTable.route(of: call)
        var response = Response(status: 204)
        let available = HTTPMethod.allCases.filter { $0 != .trace && $0 != .connect }
        let allowed =
            route.traits.contains(.isServer) ? MethodSet(available) : allowed(route, call)
        response.add("Allow", allowed.allow)
        if allowed.contains(.query) { response.add("Accept-Query", route.bodyTypes(of: .query).fieldValue) }
        if allowed.contains(.post), !route.bodyTypes(of: .post).isEmpty {
            response.add("Accept-Post", route.bodyTypes(of: .post).fieldValue)
        }
        if allowed.contains(.patch) { response.add("Accept-Patch", route.bodyTypes(of: .patch).fieldValue) }
        if case .ready(let database)? = call.realm {
            response.add("Realm-Version", database.current.tokenText)
        }
        server.rules.origins.addPreflight(to: &response, call.request, allowed)
        return response
    }

    /// Returns the methods that the sender of a request may use at its path. Objects of embedded classes are written inside their
    /// owners, so the paths of such a class are only read.
    private func allowed(_ route: Route, _ call: Call) -> MethodSet {
        let allowed = admission.allowed(route, call.realm, for: call)
        guard case .ready(let database)? = call.realm, let name = call.match.decoded(.class),
            database.current.shown(by: call.scope).snapshot.classTable(named: name)?.kind == .embedded
        else { return allowed }
        return allowed.intersection(route.readMethods.union(.options))
    }

    // MARK: - End

    /// Applies the common last steps to a response. Called once for each, on the thread that made it.
    ///
    /// - Parameters:
    ///   - response: The response as the endpoint made it.
    ///   - call: The request that it belongs to.
    /// - Returns: The response as it is sent.
    func finish(_ response: consuming Response, for call: Call) -> Response {
        var response = response
        server.cluster?.complete(&response, for: call)
        let finished = finisher.finish(response, for: call)
        // A client with the response can find it in the log.
        audit.end(finished, of: call)
        return finished
    }

    /// Returns whether `finish(_:for:)` is brief enough for the daemon's thread: it need not pack a long body.
    ///
    /// - Parameters:
    ///   - response: The response as the endpoint made it.
    ///   - call: The request that it belongs to.
    func finishesQuickly(_ response: Response, for call: Call) -> Bool {
        finisher.finishesQuickly(response, for: call)
    }

    /// Counts and logs a request whose response was sent, or could not be sent. A resource made for its client alone is released
    /// unless the client has received the response with its id: another response, such as a problem, may have replaced it.
    ///
    /// - Parameters:
    ///   - status: The status of the response.
    ///   - bytesSent: The length of the body that was sent.
    ///   - bytesReceived: The length of the body that was received.
    ///   - isComplete: Whether the whole response was sent.
    func didEnd(_ call: Call, status: Int, bytesSent: Int, bytesReceived: Int, isComplete: Bool) {
        if !isComplete || !(200..<300).contains(status) { call.takeBack?() }
        call.takeBack = nil
        ends.note(call, status: status, bytesSent: bytesSent, bytesReceived: bytesReceived)
    }
}

/// Decides which requests leave a line in the audit log, and ensures that each leaves one.
private struct AuditTrail: Sendable {
    /// The log; nil when there is none.
    let log: AuditLog?

    /// Begins the record of a request that is about to be carried out, if it leaves a line.
    ///
    /// - Parameters:
    ///   - call: The request, whose sender is known.
    ///   - route: The route of its path.
    /// - Throws: `audit_unavailable` when it must not be carried out without a line.
    func begin(_ call: Call, _ route: Route) throws(Problem) {
        guard let log, call.audit == nil, let operation = route.operation(of: call.request.method),
            let kind = operation.auditKind(of: call.request.method)
        else { return }
        guard operation.mayGoUnrecorded || log.admits() else {
            throw Problem(.auditUnavailable, "the audit log cannot be written at the moment")
        }
        call.audit = AuditRecord(log, call.auditEntry(kind))
    }

    /// Writes the line of a request whose response is known, unless it has one: that of its record, or one about a refusal.
    ///
    /// - Parameters:
    ///   - response: The response, as it is sent after this.
    func end(_ response: borrowing Response, of call: Call) {
        guard let log else { return }
        if let record = call.audit {
            let version = response.status < 400 ? call.versionToken : nil
            return record.respond(status: response.status, code: response.problem?.rawValue, version: version)
        }
        guard call.caller.isRefusedByRights || AuditRecord.isRefusal(response.status) else { return }
        let record = AuditRecord(log, call.auditEntry(.refusal))
        call.audit = record
        record.end(status: response.status, code: response.problem?.rawValue)
    }
}

/// A call as the daemon sees it: the task of its request, which the dispatcher carries out.
private final class DispatchedCall: RequestTask {
    let call: Call
    private let dispatcher: RequestDispatcher

    /// Makes the task of a call.
    init(_ call: Call, _ dispatcher: RequestDispatcher) {
        self.call = call
        self.dispatcher = dispatcher
    }

    /// The request as it was received.
    var request: Request { call.request }
    /// The name under which work, memory and streams of the sender are counted together.
    var account: String { call.account }
    /// Whether the request is in vain once its client has left.
    var isForItsClient: Bool { call.isForItsClient }

    func visible(_ problem: Problem) -> Problem { call.visible(problem) }
    func admit() -> Admission { dispatcher.admit(call) }
    func reply() -> Reply { dispatcher.reply(to: call) }
    func finish(_ response: consuming Response) -> Response { dispatcher.finish(response, for: call) }
    func finishesQuickly(_ response: Response) -> Bool { dispatcher.finishesQuickly(response, for: call) }
    func end(status: Int, bytesSent: Int, bytesReceived: Int, isComplete: Bool) {
        dispatcher.didEnd(call, status: status, bytesSent: bytesSent, bytesReceived: bytesReceived, isComplete: isComplete)
    }
}

/// The work after the end of a request: it is counted and logged, and memory is returned to the system after large ones.
private struct RequestEnds: Sendable {
    /// The parts that the requests of the server share.
    private let server: ServerState
    /// The numbers of requests by route and status, and the durations.
    let metrics = RequestMetrics(routes: RouteTable.routes.map(\.pattern.label))
    /// Returns memory that large requests have freed to the system.
    private let memory: MemoryReturn

    /// Prepares for the requests of a server.
    init(_ server: ServerState) {
        self.server = server
        memory = MemoryReturn(server.timers)
    }

    /// Counts and logs one request. Called on a thread of the daemon, so nothing here waits.
    ///
    /// - Parameters:
    ///   - status: The status of its response.
    ///   - bytesSent: The length of the body that was sent, in bytes.
    ///   - bytesReceived: The length of the body that was received, in bytes.
    func note(_ call: Call, status: Int, bytesSent: Int, bytesReceived: Int) {
        let seconds = Instant.now().seconds(since: call.request.arrival)
        metrics.count(
            route: call.match.index, status: status, seconds: seconds, bytesReceived: bytesReceived, bytesSent: bytesSent)
        memory.note(bytesReceived: bytesReceived, bytesSent: bytesSent, seconds: seconds, server.workers)
        server.accessLog?.write(
            AccessLog.Entry(
                id: call.request.id.text, method: call.request.methodName, route: call.match.pattern.label, status: status,
                bytes: bytesSent, seconds: seconds, principal: call.caller.principal.logName,
                client: call.request.clientAddress.isEmpty ? nil : call.request.clientAddress, version: call.versionToken,
                traceparent: call.request[.traceparent], query: call.query,
                path: status == 404 ? call.request.target.pathInLog : nil))
    }
}
