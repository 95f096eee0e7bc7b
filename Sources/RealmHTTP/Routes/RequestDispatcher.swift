// SPDX-License-Identifier: Apache-2.0

package import MicroHTTP
internal import RealmAccess
internal import RealmCalls
internal import RealmEngine
internal import RealmFormats
internal import RealmHosting
internal import RealmPlatform
internal import RealmStorage

/// The application that the daemon calls: it admits requests, has endpoints answer them, and
/// finishes their responses.
///
/// One is made per server and lives as long as it. The work is in its parts: `AdmissionControl`,
/// `BodyReader`, `ReadDispatcher`, `WriteDispatcher` and `ResponseFinisher`. It needs no socket:
/// tests pass requests to it as values. The daemon calls it on several threads at once.
package final class RequestDispatcher: RequestHandler {
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
    /// The threads that read long and packed bodies, and open closed realms.
    private let workers: WorkerPool
    /// The realms by name.
    private let catalog: Catalog
    /// Opens failed realms again.
    private let caretaker: RealmCaretaker
    /// Repeats requests to attach realms that have failed.
    private let directory: RealmDirectory
    /// The memory that the bodies of all requests share.
    private let waitingBytes: ByteLedger
    /// The rules for web pages of other origins, which preflight requests inquire about.
    private let origins: OriginPolicy
    /// The limits of the server, of which the time and length of a response are used here.
    private let liveLimits: LiveLimits
    /// The limits in force.
    private var limits: Limits { liveLimits.current }
    /// Whether responses have a `Server-Timing` header field.
    private let showsTiming: Bool
    /// The parts of the server that all calls share.
    private let services: CallServices
    /// Counts requests that were rejected before their bodies, by problem code.
    private let refusals = RefusalMetrics()
    /// Counts and logs requests when they have ended.
    private let ends: RequestEnds
    /// Has requests recorded in the audit log.
    private let audit: AuditTrail
    /// This server as a node of a cluster; nil for a server by itself.
    private let cluster: ClusterService?

    /// Creates the application of a server, with a cache and endpoints of its own.
    ///
    /// - Parameter state: The state of the server. The metrics of the cache, the requests and the
    ///   refusals are added to its metrics.
    package init(_ state: ServerState) {
        let answers = AnswerCache(byteLimit: state.limits.answerCacheBytes)
        let description = APIDescription(state.liveLimits)
        handlers = HandlerTable(RouteTable.routes, Endpoints(state) { ints in description.text(ints) })
        admission = AdmissionControl(state)
        bodies = BodyReader(state)
        finisher = ResponseFinisher(state)
        reads = ReadDispatcher(
            liveLimits: state.liveLimits, workers: state.workers, answers: answers, timers: state.timers,
            cluster: state.cluster)
        writes = WriteDispatcher(state.catalog, workers: state.workers, cluster: state.cluster)
        workers = state.workers
        catalog = state.catalog
        caretaker = state.caretaker
        directory = state.directory
        waitingBytes = state.waitingBytes
        origins = state.rules.origins
        liveLimits = state.liveLimits
        showsTiming = state.options.showsTiming
        services = CallServices(
            liveLimits: state.liveLimits, pinned: state.pinned, workers: state.workers,
            conditionalClasses: state.options.conditionalClasses,
            commitMark: { [registrations = state.notifications.registrations, isShared = state.cluster != nil] call, database in
                Result { () throws(Problem) in try SkipMark(call, database, registrations, isShared: isShared)?.commitMark }
            })
        ends = RequestEnds(state)
        audit = AuditTrail(log: state.audit)
        cluster = state.cluster
        state.metrics.add { answers.write(to: &$0) }
        state.metrics.add { [metrics = ends.metrics] text in metrics.write(to: &text) }
        state.metrics.add { [refusals] text in refusals.write(to: &text) }
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
            if call.request.headers.announcesBody {
                call.request.body.holding = ByteHolding(
                    waitingBytes, call.account, ownLimit: call.caller.roleLimits?[.waitingBytes])
            }
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

    /// Lets the body of a request arrive that another node has to answer: a proxy that is to repeat it there may give up when a part of
    /// it is not taken.
    ///
    /// - Returns: Nil for a request that is answered at once.
    private func admissionToBody(of call: Call, answeredWith problem: Problem) -> Admission? {
        guard problem.code == .notOwner, call.request.headers.announcesBody, call.request.headers[.expect] == nil else {
            return nil
        }
        call.answerAfterBody = problem
        call.request.body.holding = ByteHolding(waitingBytes, call.account, ownLimit: call.caller.roleLimits?[.waitingBytes])
        return bodies.admission(of: call)
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
        if call.request.headers.announcesBody, call.caller.unverifiedToken == nil,
            let problem = call.caller.standing.problem
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
            call.refusalOfRealm = directory.refusals.withLock { $0[name] }
        }
        let hasLongBody = call.request.body.file != nil || call.request.body.bytes.count > RequestDispatcher.longBody
        guard hasLongBody || (call.request.isPacked && !call.request.body.bytes.isEmpty) else { return answer(call) }
        return workers.reply(to: call) { [self] promise in answer(call).resolve(promise) }
    }

    /// Answers a request whose token has to be verified first. It waits for that without a thread.
    private func replyAfterVerification(of token: String, to call: Call) -> Reply {
        .later { [self] promise in
            admission.verify(token, of: call) { [self] problem in
                // The thread that verified the token has others to see to.
                let isQueued = workers.submitContinuation(for: call.account) { [self] in
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

    /// Whether a closed realm has to be opened to answer a request: not to describe it, unless only the log can tell whether it exists.
    private func needsOpening(_ realm: ClosedRealm, for call: Call) -> Bool {
        guard RouteTable.route(of: call).pattern.isRealm else { return true }
        return cluster != nil && realm.byteCount == nil
    }

    /// Has this node claim a realm of its shards that it has only followed until now, if a request needs the owner.
    ///
    /// - Returns: A reply that waits for that, without a thread; nil when nothing has to be waited for.
    private func replyAfterClaim(of database: Database, to call: Call) -> Reply? {
        guard let cluster, database.standing.isFollowed, call.request.method != .options else { return nil }
        let route = RouteTable.route(of: call)
        guard !route.traits.contains(.concernsNode), !cluster.mayFollow(call, route.access(of: call.request.method)) else {
            return nil
        }
        return .later { [self] promise in
            cluster.whenOwned(database.name.text) { [self] error in
                let isQueued = workers.submitContinuation(for: call.account) { [self] in
                    if let error { return promise.complete(Response(Problem(claiming: error), for: call)) }
                    replyNow(to: call).resolve(promise)
                }
                if !isQueued { promise.complete(Response(.noWorker, for: call)) }
            }
        }
    }

    /// Answers a request for a closed realm, which a worker opens before. Further requests for the realm wait
    /// for that without a worker.
    private func replyAfterOpening(to call: Call) -> Reply {
        workers.reply(to: call) { [self] promise in
            catalog.wake(call.match.decoded(.realm) ?? "") { [self] result in
                // The thread that opened the realm may be another one, and has the next request to see to.
                let isQueued = workers.submitContinuation(for: call.account) { [self] in
                    reply(to: call, after: result).resolve(promise)
                }
                if !isQueued { promise.complete(Response(.noWorker, for: call)) }
            }
        }
    }

    /// Has a failed realm opened again, unless that was tried too recently.
    ///
    /// - Returns: A reply that waits for the outcome and goes on with it; nil for a request that does not need the
    ///   realm open, and when the request is to be answered as it is.
    private func replyAfterAttempt(to call: Call) -> Reply? {
        guard let name = call.match.decoded(.realm), case .failed? = catalog[name] else { return nil }
        guard catalog.isDue(name, call.request.arrival) else {
            directory.retry(name, call.request.arrival)
            return nil
        }
        guard call.request.method != .options, !RouteTable.route(of: call).pattern.isRealm else {
            caretaker.noteRequest(name, call.request.arrival)
            return nil
        }
        return workers.reply(to: call) { [self] promise in
            caretaker.wait(for: name, call.request.arrival)
            do throws(Problem) {
                try admission.checkOpened(catalog[name], call)
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
                seconds: Double(call.caller.roleLimits?[.readSeconds] ?? limits.readSeconds))
            call.request.budget.byteLimit = limits.answerBytes
            call.request.budget.objectLimit = limits.expandedObjects
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
        switch handlers[call] {
        case .read(let endpoint):
            try route.check(call)
            return try reads.reply(to: call, route, endpoint)
        case .write(let endpoint):
            return try writes.reply(to: call) { call throws(Problem) in
                try route.check(call)
                return try endpoint(call)
            }
        case .none: throw Problem(.notFound, "there is nothing at this path")
        }
    }

    /// Returns the response to `OPTIONS`: the methods that the client may use, and the media types
    /// that they take.
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
        origins.addPreflight(to: &response, call.request, allowed)
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

    /// Does to a response what is done to all of them. Called once for each, on the thread that
    /// made it.
    ///
    /// - Parameters:
    ///   - response: The response as the endpoint made it.
    ///   - call: The request that it belongs to.
    /// - Returns: The response as it is sent.
    func finish(_ response: consuming Response, for call: Call) -> Response {
        var response = response
        cluster?.complete(&response, for: call)
        let finished = finisher.finish(response, for: call)
        // Whoever has the response can find it in the log.
        audit.end(finished, of: call)
        return finished
    }

    /// Returns whether `finish(_:for:)` is brief enough for the daemon's thread: it need not pack a
    /// long body.
    ///
    /// - Parameters:
    ///   - response: The response as the endpoint made it.
    ///   - call: The request that it belongs to.
    func finishesQuickly(_ response: Response, for call: Call) -> Bool {
        finisher.finishesQuickly(response, for: call)
    }

    /// Counts and logs a request whose response was sent, or could not be sent. What it has made for its client alone is taken back unless
    /// the client has got the response with its id: another one may have taken its place, such as a problem.
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
