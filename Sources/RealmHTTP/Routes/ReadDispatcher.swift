// SPDX-License-Identifier: Apache-2.0

internal import MicroHTTP
internal import RealmAccess
internal import RealmCalls
internal import RealmEngine
internal import RealmFormats
internal import RealmHosting
internal import RealmPlatform
internal import RealmStorage

/// Answers calls that read: from the cache, by their endpoint on the daemon's thread if that is brief, or by a worker.
///
/// A read is tried on the daemon's thread first, for two milliseconds at most. If it takes longer it is aborted and restarted by
/// a worker; reads change nothing, so that only takes time.
struct ReadDispatcher: Sendable {
    /// The limits of the server, of which the time and length of a read are used here.
    let liveLimits: LiveLimits
    /// The limits in force.
    var limits: Limits { liveLimits.current }
    /// Threads for reads that are not brief.
    let workers: WorkerPool
    /// The responses that are kept for repeated requests.
    let answers: AnswerCache
    /// Ends the wait for a version that does not come in time.
    let timers: TimerQueue
    /// The reads that were too long for the daemon's threads a moment ago.
    private let longReads = LongReads()
    /// This server as a node of a cluster; nil for a single server.
    let cluster: ClusterService?

    /// Answers a call that reads.
    ///
    /// A response for a repeated request comes from the cache, unless the read concerns another
    /// version than the newest. Every response that may be kept is reported to the cache.
    ///
    /// - Parameters:
    ///   - call: The call, whose request was admitted.
    ///   - route: The route of its path.
    ///   - endpoint: The function that answers the method at that route.
    /// - Returns: The response, or the work that leads to it.
    /// - Throws: The `Problem` that is the response.
    func reply(to call: Call, _ route: Route, _ endpoint: @escaping RouteOperation.Function) throws(Problem) -> Reply {
        guard case .ready(let database)? = call.realm else { return try briefReply(to: call, route, endpoint) }
        if let other = try otherVersion(for: call, of: database, route, endpoint: endpoint) { return other }
        guard route.traits.contains(.isRepeatable) else { return try briefReply(to: call, route, endpoint) }
        let version = database.current.tokenText
        if let known = answers.answer(to: call, version: version) {
            call.versionToken = version
            return .now(known)
        }
        switch try briefReply(to: call, route, endpoint) {
        case .now(let response):
            answers.note(response, to: call)
            return .now(response)
        case .work(let work):
            return .work { [answers] in
                let response = work()
                answers.note(response, to: call)
                return response
            }
        case .attend(let work): return .attend(work)
        case .later(let begin): return .later(begin)
        }
    }

    // MARK: - Brief reads on the daemon's thread

    /// The time that a read may take on the daemon's thread, in seconds.
    private static let briefSeconds = 0.002
    /// The time that a read may take on the daemon's thread when its client has jobs at the workers already, in seconds. It is
    /// shorter, because such clients have shown that their reads are long.
    private static let briefSecondsOfBusyClients = 0.0003
    /// The longest response that is made on the daemon's thread, in bytes.
    private static let briefBytes = 256 << 10

    /// Calls the endpoint on this thread, within a time and a size after which a worker has to begin again.
    ///
    /// Most reads take well under a millisecond. Those of routes that do not read the contents of a realm are not limited.
    ///
    /// - Parameters:
    ///   - route: The route of its path.
    ///   - endpoint: The function that answers.
    /// - Returns: The response, or work that restarts the read.
    /// - Throws: The `Problem` of the endpoint, when it was not merely too slow.
    private func briefReply(
        to call: Call, _ route: Route, _ endpoint: @escaping RouteOperation.Function
    ) throws(Problem) -> Reply {
        guard route.traits.contains(.readsContents) else { return try endpoint(call) }
        if longReads.hasOne(like: call) {
            return work(call, endpoint) { [longReads] begin in longReads.note(call, begunAt: begin) }
        }
        let budget = call.request.budget
        let seconds =
            workers.isBusy(for: call.account) ? ReadDispatcher.briefSecondsOfBusyClients : ReadDispatcher.briefSeconds
        budget.handOverAt = Instant.now().adding(seconds: seconds)
        budget.byteLimit = min(limits.answerBytes, ReadDispatcher.briefBytes)
        let result = Result { () throws(Problem) in try endpoint(call) }
        let stop = budget.stop
        budget.beginAnew()
        budget.byteLimit = limits.answerBytes
        guard isTooLong(stop) else { return try result.get() }
        longReads.note(call, Instant.now())
        return work(call, endpoint) { _ in }
    }

    /// Lets a worker call an endpoint.
    ///
    /// - Parameters:
    ///   - didAnswer: Called by the worker when it has the response, with the time when it began.
    private func work(
        _ call: Call, _ endpoint: @escaping RouteOperation.Function, _ didAnswer: @escaping @Sendable (Instant) -> Void
    ) -> Reply {
        .work {
            let begin = Instant.now()
            defer { didAnswer(begin) }
            do throws(Problem) {
                try call.request.checkDeadline()
                return try ReadDispatcher.answer(of: call, endpoint)
            } catch {
                return Response(error, for: call)
            }
        }
    }

    /// Returns whether work was stopped only because it was too long for the daemon's thread.
    ///
    /// - Parameter stop: The reason why the work was stopped; nil when it was not.
    private func isTooLong(_ stop: WorkStop?) -> Bool {
        switch stop {
        case .handOver: return true
        case .tooManyBytes(let limit): return limit < limits.answerBytes
        default: return false
        }
    }

    /// Calls the endpoint on a worker and completes the work that it leaves.
    private static func answer(of call: Call, _ endpoint: RouteOperation.Function) throws(Problem) -> Response {
        switch try endpoint(call) {
        case .now(let response): return response
        case .work(let work), .attend(let work): return work()
        case .later: throw Problem(.internalError, "the read has no answer of a worker")
        }
    }
}
