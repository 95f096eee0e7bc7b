// SPDX-License-Identifier: Apache-2.0

internal import MicroHTTP
internal import RealmFormats
internal import RealmPlatform
internal import Synchronization
internal import RealmStorage

/// The metrics of the HTTP servers of both listeners.
extension MetricsRegistry {
    /// Adds the metrics of the main listener: requests in flight, connections, workers, unsent responses and bodies in files.
    ///
    /// The registry holds the daemon weakly: after the daemon is gone, its metrics are left out.
    ///
    /// - Parameters:
    ///   - daemon: The HTTP server whose counters are read each time `/metrics` is
    ///     requested.
    ///   - others: The other listeners for clients, which share most with the first.
    func addDaemon(_ daemon: HTTPServer, _ others: [HTTPServer]) {
        let inFlight = { @Sendable [others = others.map { Weak(server: $0) }] in
            others.reduce(0) { $0 + ($1.server?.requestsInFlight ?? 0) }
        }
        add { [weak daemon] text in
            guard let daemon else { return }
            text.gauge("in_flight", "Requests being worked on.", daemon.requestsInFlight + inFlight())
            text.gauge("connections", "Open connections.", daemon.connectionCount)
            text.counter("dead_clients_total", "Streams whose client stopped acknowledging.", daemon.deadClients)
            text.gauge("streams_waiting", "Streams that wait for a thread that sends their events.", daemon.waitingStreams)
            text.counter(
                "answers_cut_off_total", "Streamed responses that took longer than answer-seconds.",
                daemon.answersCutOff.load(ordering: .relaxed))
            let unsent = daemon.unsentBytes.counts
            text.gauge("unsent_bytes", "Memory of long responses that clients have not received yet.", unsent.bytes)
            text.counter(
                "unsent_bytes_refused_total", "Responses that were refused because too many bytes wait for their clients.",
                unsent.refusals)
            text.gauge("worker_queue", "Requests waiting for a worker.", daemon.waitingJobs)
            text.gauge("worker_threads", "Threads of the worker pool.", daemon.workers.threadCount)
            let connections = daemon.connections.counts
            text.counter(
                "connections_refused_total", "Connections closed on arrival because too many were open.", connections.refused)
            text.counter("connections_displaced_total", "Idle connections closed to make room for others.", connections.displaced)
            text.counter(
                "connections_timed_out_total", "Connections closed because a request did not come in time.", connections.timedOut)
            text.gauge("spool_files", "Long bodies that are kept in files.", daemon.spool.files)
            text.gauge("spool_bytes", "Bytes of bodies that are kept in files.", daemon.spool.bytes)
            text.counter(
                "spool_refused_total", "Long bodies that were refused because there was no room for their file.",
                daemon.spool.refused)
        }
    }

    /// A listener that is left out of the metrics when it is gone.
    private struct Weak: Sendable {
        /// The listener.
        weak let server: HTTPServer?
    }

    /// Adds the metrics of the administrators' listener, under separate names.
    ///
    /// - Parameter daemon: The HTTP server of that listener; nil when the server has none, in which
    ///   case no metric is added.
    func addAdminDaemon(_ daemon: HTTPServer?) {
        guard let daemon else { return }
        add { [weak daemon] text in
            guard let daemon else { return }
            text.gauge("admin_in_flight", "Requests by the administrators' listener being worked on.", daemon.requestsInFlight)
            text.gauge("admin_connections", "Open connections of the administrators' listener.", daemon.connectionCount)
        }
    }
}
