// SPDX-License-Identifier: Apache-2.0

internal import MicroHTTP
internal import RealmAccess
internal import RealmCalls
internal import RealmFormats
internal import RealmPlatform
internal import RealmStorage

/// What is done when a request has ended: it is counted and logged, and memory is returned to the
/// system after large ones.
struct RequestEnds: Sendable {
    /// The numbers of requests by route and status, and the durations.
    let metrics = RequestMetrics(routes: RouteTable.routes.map(\.pattern.label))
    /// Returns memory that large requests have freed to the system.
    private let memory: MemoryReturn
    /// The workers, one of which returns unused memory to the system.
    private let workers: WorkerPool
    /// The log of requests; nil when there is none.
    private let accessLog: AccessLog?

    /// Prepares for the requests of a server.
    ///
    /// - Parameter state: The state that the server was made with.
    init(_ state: ServerState) {
        memory = MemoryReturn(state.timers)
        workers = state.workers
        accessLog = state.accessLog
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
        memory.note(bytesReceived: bytesReceived, bytesSent: bytesSent, seconds: seconds, workers)
        accessLog?.write(
            AccessLog.Entry(
                id: call.request.id.text, method: call.request.methodName, route: call.match.pattern.label, status: status,
                bytes: bytesSent, seconds: seconds, principal: call.caller.principal.logName,
                client: call.request.clientAddress.isEmpty ? nil : call.request.clientAddress, version: call.versionToken,
                traceparent: call.request.headers[.traceparent], query: call.query,
                path: status == 404 ? call.request.target.pathInLog : nil))
    }
}
