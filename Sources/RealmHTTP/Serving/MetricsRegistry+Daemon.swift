// SPDX-License-Identifier: Apache-2.0

internal import MicroHTTP
internal import RealmFormats
internal import RealmPlatform
internal import Synchronization
internal import RealmStorage

/// The metrics of the HTTP servers of both listeners.
extension MetricsRegistry {
    /// Adds the metrics of the main listener: requests in flight, connections, workers, unsent
    /// responses and bodies in files.
    ///
    /// The registry holds the daemon weakly: after the daemon is gone, its metrics are left out.
    ///
    /// - Parameters:
    ///   - daemon: The HTTP server whose counters are read each time `/metrics` is
    ///     requested.
    ///   - others: The further listeners for clients, which share most with the first.
    func addDaemon(_ daemon: HTTPServer, _ others: [HTTPServer]) {
        let inFlight = { @Sendable [others = others.map { Weak(server: $0) }] in
            others.reduce(0) { $0 + ($1.server?.requestsInFlight ?? 0) }
        }
        add { [weak daemon] text in
            guard let daemon else { return }
            text.single(
                "in_flight", .gauge, help: "Requests being worked on.", value: Double(daemon.requestsInFlight + inFlight()))
            text.single("connections", .gauge, help: "Open connections.", value: Double(daemon.connectionCount))
            text.single(
                "dead_clients_total", .counter, help: "Streams whose client stopped acknowledging.",
                value: Double(daemon.deadClients))
            text.single(
                "streams_waiting", .gauge, help: "Streams that wait for a thread that sends their events.",
                value: Double(daemon.waitingStreams))
            text.single(
                "answers_cut_off_total", .counter, help: "Streamed responses that took longer than answer-seconds.",
                value: Double(daemon.answersCutOff.load(ordering: .relaxed)))
            let unsent = daemon.unsentBytes.counts
            text.single(
                "unsent_bytes", .gauge, help: "Memory of long responses that clients have not received yet.",
                value: Double(unsent.bytes))
            text.single(
                "unsent_bytes_refused_total", .counter,
                help: "Responses that were refused because too many bytes wait for their clients.",
                value: Double(unsent.refusals))
            text.single("worker_queue", .gauge, help: "Requests waiting for a worker.", value: Double(daemon.waitingJobs))
            text.single(
                "worker_threads", .gauge, help: "Threads of the worker pool.", value: Double(daemon.workers.threadCount))
            let connections = daemon.connections.counts
            text.single(
                "connections_refused_total", .counter, help: "Connections closed on arrival because too many were open.",
                value: Double(connections.refused))
            text.single(
                "connections_displaced_total", .counter, help: "Idle connections closed to make room for others.",
                value: Double(connections.displaced))
            text.single(
                "connections_timed_out_total", .counter, help: "Connections closed because a request did not come in time.",
                value: Double(connections.timedOut))
            text.single("spool_files", .gauge, help: "Long bodies that are kept in files.", value: Double(daemon.spool.files))
            text.single("spool_bytes", .gauge, help: "Bytes of bodies that are kept in files.", value: Double(daemon.spool.bytes))
            text.single(
                "spool_refused_total", .counter, help: "Long bodies that were refused because there was no room for their file.",
                value: Double(daemon.spool.refused))
        }
    }

    /// A listener that is left out of the metrics when it is gone.
    private struct Weak: Sendable {
        /// The listener.
        weak let server: HTTPServer?
    }

    /// Adds the metrics of the administrators' listener, under names of their own.
    ///
    /// - Parameter daemon: The HTTP server of that listener; nil when the server has none, in which
    ///   case no metric is added.
    func addAdminDaemon(_ daemon: HTTPServer?) {
        guard let daemon else { return }
        add { [weak daemon] text in
            guard let daemon else { return }
            text.single(
                "admin_in_flight", .gauge, help: "Requests by the administrators' listener being worked on.",
                value: Double(daemon.requestsInFlight))
            text.single(
                "admin_connections", .gauge, help: "Open connections of the administrators' listener.",
                value: Double(daemon.connectionCount))
        }
    }
}
