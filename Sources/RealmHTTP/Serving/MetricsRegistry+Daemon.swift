// SPDX-License-Identifier: Apache-2.0

internal import Synchronization

extension MetricsRegistry {
    /// What the daemon knows about itself.
    func addDaemon(_ daemon: HTTPServer) {
        add { [weak daemon] text in
            guard let daemon else { return }
            text.single("in_flight", .gauge, help: "Requests being worked on.", value: Double(daemon.requestsInFlight))
            text.single("connections", .gauge, help: "Open connections.", value: Double(daemon.connectionCount))
            text.single(
                "dead_clients_total", .counter, help: "Streams whose client was gone without a word.",
                value: Double(daemon.deadClients))
            text.single(
                "answers_cut_off_total", .counter, help: "Streamed answers that took longer than answer-seconds.",
                value: Double(daemon.answersCutOff.load(ordering: .relaxed)))
            let unsent = daemon.unsentBytes.figures
            text.single(
                "unsent_bytes", .gauge, help: "Memory of long answers that clients have not taken yet.",
                value: Double(unsent.bytes))
            text.single(
                "unsent_bytes_refused_total", .counter,
                help: "Answers that were not sent because too many wait for their clients.",
                value: Double(unsent.refusals))
            text.single("worker_queue", .gauge, help: "Requests waiting for a worker.", value: Double(daemon.waitingJobs))
            text.single(
                "worker_threads", .gauge, help: "Threads of workers that were made.", value: Double(daemon.workers.threadCount))
            let connections = daemon.connections.figures
            text.single(
                "connections_refused_total", .counter, help: "Connections closed as they came, because too many were open.",
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
                "spool_refused_total", .counter, help: "Long bodies that were refused for want of room.",
                value: Double(daemon.spool.refused))
        }
    }

    /// What the administrators' daemon knows about itself.
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
