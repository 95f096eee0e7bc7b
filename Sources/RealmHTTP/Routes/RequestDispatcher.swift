// SPDX-License-Identifier: Apache-2.0

internal import RealmEngine
internal import RealmStorage

/// The interface over HTTP behind the daemon: admits requests, has endpoints answer them, and finishes their answers.
///
/// It needs no socket: tests hand requests to it as values.
package final class RequestDispatcher: RequestHandler {
    private let admission: AdmissionControl
    private let bodies: BodyReader
    private let finisher: ResponseFinisher
    private let handlers: HandlerTable
    private let reads: ReadDispatcher
    private let writes: WriteDispatcher
    private let workers: WorkerPool
    private let waitingBytes: ByteLedger
    private let origins: OriginPolicy
    private let limits: Limits
    private let showsTiming: Bool
    private let readServices: ReadServices
    private let writeServices: WriteServices
    private let refusals = RefusalMetrics()
    private let ends: RequestEnds

    /// A handler over the state of a server. It adds its own metrics to those of the state.
    package init(_ state: ServerState) {
        let answers = AnswerCache(byteLimit: state.limits.answerCacheBytes)
        let description = APIDescription(state.limits)
        handlers = HandlerTable(RouteTable.routes, Endpoints(state) { ints in description.text(ints) })
        admission = AdmissionControl(state)
        bodies = BodyReader(state)
        finisher = ResponseFinisher(state)
        reads = ReadDispatcher(limits: state.limits, workers: state.workers, answers: answers, alarm: state.alarm)
        writes = WriteDispatcher()
        workers = state.workers
        waitingBytes = state.waitingBytes
        origins = state.rules.origins
        limits = state.limits
        showsTiming = state.options.showsTiming
        readServices = ReadServices(limits: state.limits, pinned: state.pinned)
        writeServices = WriteServices(
            workers: state.workers, registrations: state.notifications.registrations,
            conditionalClasses: state.options.conditionalClasses)
        ends = RequestEnds(state)
        state.metrics.add { answers.write(to: &$0) }
        state.metrics.add { [metrics = ends.metrics] text in metrics.write(to: &text) }
        state.metrics.add { [refusals] text in refusals.write(to: &text) }
    }

    // MARK: - Head

    /// Looks up the route and the realm of a request and checks what is common to all; a refusal is a finished answer.
    package func admit(_ request: Request) -> Admission {
        do throws(Problem) {
            _ = try admission.check(request)
            if request.headers.announcesBody { request.holding = ByteHolding(waitingBytes, request.client) }
            return bodies.admission(of: request)
        } catch {
            refusals.count(error.code)
            var response = finish(Response(error, for: request), for: request)
            // The rest of a request that is too long to be taken in is not worth reading either.
            if [413, 414, 431].contains(error.status) { response.closesConnection = true }
            return .refuse(response)
        }
    }

    // MARK: - Answer

    /// Bodies above this are read by a worker, not by the daemon's thread.
    private static let longBody = 32 << 10

    /// Answers a request that was admitted. A long or packed body is read by a worker.
    package func reply(to request: Request) -> Reply {
        let hasLongBody = request.bodyFile != nil || request.body.count > RequestDispatcher.longBody
        guard hasLongBody || (request.isPacked && !request.body.isEmpty) else { return answer(request) }
        return workers.reply(to: request) { [self] promise in answer(request).resolve(promise) }
    }

    /// Reads a request that is complete, and answers it or lets somebody else do so.
    private func answer(_ request: Request) -> Reply {
        do throws(Problem) {
            try bodies.inflate(bodyOf: request)
            if request.method == .options { return .now(options(request)) }
            if showsTiming { request.timing = ServerTiming() }
            request.deadline = request.arrival.adding(seconds: Double(limits.readSeconds))
            request.budget.byteLimit = limits.answerBytes
            request.budget.objectLimit = limits.expandedObjects
            return try dispatch(request)
        } catch {
            return .now(Response(error, for: request))
        }
    }

    private func dispatch(_ request: Request) throws(Problem) -> Reply {
        let route = RouteTable.route(of: request)
        let call = Call(
            request, readServices, readMethods: route.readMethods, methods: route.readMethods.union(route.writeMethods))
        switch handlers[request] {
        case .read(let endpoint): return try reads.reply(to: call, route, endpoint)
        case .write(let endpoint): return try writes.reply(to: WriteCall(call, writeServices), endpoint)
        case .none: throw Problem(.notFound, "there is nothing at this path")
        }
    }

    private func options(_ request: Request) -> Response {
        let route = RouteTable.route(of: request)
        var response = Response(status: 204)
        let available = HTTPMethod.allCases.filter { $0 != .trace && $0 != .connect }
        let allowed =
            route.traits.contains(.isServer) ? MethodSet(available) : admission.allowed(route, request.realm, for: request)
        response.add("Allow", allowed.allow)
        if allowed.contains(.query) { response.add("Accept-Query", constant: "application/json, application/ejson") }
        if allowed.contains(.patch) { response.add("Accept-Patch", constant: route.patchTypes) }
        if case .ready(let database)? = request.realm {
            response.add("Realm-Version", database.current.tokenText)
        }
        origins.addPreflight(to: &response, request, allowed)
        return response
    }

    // MARK: - End

    /// Does to an answer what is done to all of them. Called once for each, on the thread that made it.
    package func finish(_ response: consuming Response, for request: Request) -> Response {
        finisher.finish(response, for: request)
    }

    /// Whether the answer needs no long packing.
    package func finishesQuickly(_ response: Response, for request: Request) -> Bool {
        finisher.finishesQuickly(response, for: request)
    }

    /// Counts and logs a request whose answer left, or could not.
    package func didEnd(_ request: Request, status: Int, bytesSent: Int, bytesReceived: Int, isComplete: Bool) {
        ends.note(request, status: status, bytesSent: bytesSent, bytesReceived: bytesReceived)
    }
}
