// SPDX-License-Identifier: Apache-2.0

internal import RealmStorage

/// What is done when a request is over: it is counted and logged, and memory goes back to the system after large ones.
struct RequestEnds: Sendable {
    /// Requests by route and status.
    let metrics = RequestMetrics(routes: RouteTable.routes.map(\.pattern.label))
    private let memory: MemoryReturn
    private let workers: WorkerPool
    private let accessLog: AccessLog?

    /// The ends of the requests of a server.
    init(_ state: ServerState) {
        memory = MemoryReturn(state.alarm)
        workers = state.workers
        accessLog = state.accessLog
    }

    /// Counts and logs one request. Called on a thread of the daemon, so nothing here waits.
    func note(_ request: Request, status: Int, bytesSent: Int, bytesReceived: Int) {
        let seconds = Instant.now().seconds(since: request.arrival)
        metrics.count(
            route: request.match.index, status: status, seconds: seconds, bytesReceived: bytesReceived, bytesSent: bytesSent)
        memory.note(bytesReceived: bytesReceived, bytesSent: bytesSent, seconds: seconds, workers)
        accessLog?.write(
            AccessLog.Entry(
                id: request.id.text, method: request.methodName, route: request.match.pattern.label, status: status,
                bytes: bytesSent, seconds: seconds, principal: nil, version: request.version,
                traceparent: request.headers[.traceparent], query: request.query))
    }
}
