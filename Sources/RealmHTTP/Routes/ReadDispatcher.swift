// SPDX-License-Identifier: Apache-2.0

internal import RealmEngine
internal import RealmStorage

/// Answers calls that read: from what is kept, by their endpoint on this thread if that is brief, or by a worker.
struct ReadDispatcher: Sendable {
    typealias Endpoint = @Sendable (Call) throws(Problem) -> Reply

    /// The limits of the server.
    let limits: Limits
    /// Threads for reads that are not brief.
    let workers: WorkerPool
    /// Answers that were given before.
    let answers: AnswerCache
    /// Ends the wait for a version that does not come.
    let alarm: Alarm

    /// Answers a call by `endpoint`, which is that of `route` and the method of the request.
    func reply(to call: Call, _ route: Route, _ endpoint: @escaping Endpoint) throws(Problem) -> Reply {
        guard case .ready(let database)? = call.request.realm else { return try briefReply(to: call, route, endpoint) }
        if let other = try otherVersion(for: call, of: database, route, endpoint: endpoint) { return other }
        guard route.traits.contains(.isRepeatable) else { return try briefReply(to: call, route, endpoint) }
        let version = database.current.tokenText
        if let known = answers.answer(to: call.request, version: version) {
            call.request.version = version
            return .now(known)
        }
        switch try briefReply(to: call, route, endpoint) {
        case .now(let response):
            answers.note(response, to: call.request)
            return .now(response)
        case .work(let work):
            return .work { [answers] in
                let response = work()
                answers.note(response, to: call.request)
                return response
            }
        case .attend(let work): return .attend(work)
        case .later(let begin): return .later(begin)
        }
    }

    // MARK: - On the daemon's thread, but not for long

    /// What a read may take of the daemon's thread, in seconds; less for clients that have work at the workers already.
    private static let briefSeconds = 0.002
    private static let briefSecondsOfBusyClients = 0.0003
    /// The longest answer that is made there.
    private static let briefBytes = 256 << 10

    /// The answer of the endpoint of a call that reads, begun here and now: most are done in well under a millisecond.
    ///
    /// One that is not done by then, or makes a long answer, is given up and begun anew by a worker. Reads change nothing,
    /// so nobody notices.
    private func briefReply(to call: Call, _ route: Route, _ endpoint: @escaping Endpoint) throws(Problem) -> Reply {
        guard route.traits.contains(.readsContents) else { return try endpoint(call) }
        let budget = call.request.budget
        let seconds =
            workers.isBusy(for: call.request.client) ? ReadDispatcher.briefSecondsOfBusyClients : ReadDispatcher.briefSeconds
        budget.handOverAt = Instant.now().adding(seconds: seconds)
        budget.byteLimit = min(limits.answerBytes, ReadDispatcher.briefBytes)
        let result = Result { () throws(Problem) in try endpoint(call) }
        let stop = budget.stop
        budget.beginAnew()
        budget.byteLimit = limits.answerBytes
        guard isTooLong(stop) else { return try result.get() }
        return .work {
            do throws(Problem) {
                try call.request.checkDeadline()
                return try ReadDispatcher.answer(of: call, endpoint)
            } catch {
                return Response(error, for: call.request)
            }
        }
    }

    private func isTooLong(_ stop: WorkStop?) -> Bool {
        switch stop {
        case .handOver: return true
        case .tooManyBytes(let limit): return limit < limits.answerBytes
        default: return false
        }
    }

    private static func answer(of call: Call, _ endpoint: Endpoint) throws(Problem) -> Response {
        switch try endpoint(call) {
        case .now(let response): return response
        case .work(let work), .attend(let work): return work()
        case .later: throw Problem(.internalError, "the read has no answer of a worker")
        }
    }
}
