// SPDX-License-Identifier: Apache-2.0

internal import CMicrohttpd
internal import Glibc
internal import RealmStorage
internal import Synchronization

/// One listener with its daemon threads, workers and watch.
///
/// `@unchecked Sendable`: `daemon` and `watch` are set once in `start`, before any thread can see the server, and
/// cleared in `stop`, which one thread calls.
package final class HTTPServer: @unchecked Sendable {
    package struct Configuration: Sendable {
        package var limits = Limits()
        package var daemonThreads = Threads.processorCount
        package var workerThreads = max(2, Threads.processorCount)
        /// Requests that may wait for a worker.
        package var workerQueue = 512
        /// What requests that come by this listener are marked with.
        package var entrance = Entrance.main

        package init() {}
    }

    package struct Failure: Error, CustomStringConvertible {
        package let description: String
    }

    package let configuration: Configuration
    package let socket: ListeningSocket
    package let workers: WorkerPool
    let handler: any RequestHandler
    let connections: ConnectionTable
    let suspensions = SuspensionTable()
    let streams: StreamWatch
    /// Memory of long answers that clients have not taken yet.
    let unsentBytes: ByteLedger
    /// Requests between their first line and the end of their answer.
    let inFlight = Atomic<Int>(0)
    /// Streamed answers that took too long.
    let answersCutOff = Atomic<Int>(0)
    private let draining = Atomic<Bool>(false)
    private var daemon: OpaquePointer?

    package init(socket: ListeningSocket, configuration: Configuration, handler: any RequestHandler) {
        self.socket = socket
        self.configuration = configuration
        self.handler = handler
        connections = ConnectionTable(configuration.limits)
        streams = StreamWatch(configuration.limits)
        unsentBytes = ByteLedger(limit: configuration.limits.unsentBytes)
        workers = WorkerPool(
            name: "worker", threads: configuration.workerThreads, queueLimit: configuration.workerQueue)
    }

    package var isDraining: Bool { draining.load(ordering: .relaxed) }
    package var requestsInFlight: Int { inFlight.load(ordering: .relaxed) }
    package var connectionCount: Int { connections.count }
    package var waitingJobs: Int { workers.waiting }
    /// Endless answers that are being sent.
    package var streamCount: Int { streams.count }
    /// Clients of such answers that were gone without a word.
    package var deadClients: Int { streams.deadClients }

    /// Starts answering. The server keeps itself alive until `stop`.
    package func start() throws(Failure) {
        signal(SIGPIPE, SIG_IGN)
        // A file that would grow beyond what the process may write is an error of one write, not the end of all.
        signal(SIGXFSZ, SIG_IGN)
        var options = DaemonCallbacks.options(for: self)
        options.listen_socket = socket.descriptor
        options.threads = UInt32(configuration.daemonThreads)
        // Each daemon thread has a share of the limit. The exact one is kept by the connection table, which answers the
        // first request of a connection too many; what is beyond that is closed unanswered.
        options.connections = UInt32(
            clamping: (configuration.limits.connections + 64) * max(1, configuration.daemonThreads))
        options.idle_seconds = UInt32(configuration.limits.idleSeconds)
        options.connection_memory = HTTPServer.connectionMemory(configuration.limits)
        guard let daemon = realm_rest_start_daemon(&options) else {
            throw Failure(description: "the HTTP daemon does not start: \(String(cString: strerror(errno)))")
        }
        self.daemon = daemon
        connections.startWatch()
    }

    /// The largest request head has to fit with the daemon's own notes and the head of the answer; what is a little
    /// over the limits too, so that the refusal can be ours.
    ///
    /// The daemon clears this memory for every request, so it is not more than needed: with a quarter less the largest
    /// request that is allowed gets no answer.
    private static func connectionMemory(_ limits: Limits) -> Int {
        let heads = limits.targetBytes + limits.headerBytes
        return max(32 << 10, heads + heads / 2 + limits.headerFields * 96 + (8 << 10)) & ~0xfff
    }

    /// Lets no new connections in and takes no new requests.
    package func beginDraining() { draining.store(true, ordering: .relaxed) }

    /// Ends in steps: refuse new work, let running requests finish for `graceSeconds`, then close everything.
    ///
    /// `isUrgent` is asked now and then; true ends the grace at once.
    package func stop(graceSeconds: Double, isUrgent: () -> Bool = { false }) {
        guard let daemon else { return }
        // From here on connections are turned away as they come. `MHD_quiesce_daemon` is not for this: it races with the
        // daemon's threads for the listening socket, and the loser ends the process.
        draining.store(true, ordering: .relaxed)
        let begin = Instant.now()
        let end = begin.adding(seconds: graceSeconds)
        // Endless answers have been told to end; who has not read that after a while will not.
        let patience = begin.adding(seconds: min(3, graceSeconds / 2))
        var isPatient = true
        while requestsInFlight > 0, Instant.now() < end, !isUrgent() {
            if isPatient, Instant.now() >= patience {
                isPatient = false
                streams.breakAll()
            }
            Threads.sleep(seconds: 0.005)
        }
        connections.stopWatch()
        streams.stop()
        workers.close()
        // A daemon must not be stopped while connections are suspended.
        suspensions.close()
        // This closes the listening socket, too.
        MHD_stop_daemon(daemon)
        self.daemon = nil
        socket.removeFile()
    }

    /// Raises the limit on open files and checks that the connections fit.
    ///
    /// Done before the address is announced: a server that says it listens has passed this.
    package static func raiseDescriptorLimit(for connections: Int) throws(Failure) {
        let needed = rlim_t(connections + 128)
        var limit = rlimit()
        guard getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 else { return }
        if limit.rlim_cur < limit.rlim_max {
            limit.rlim_cur = limit.rlim_max
            setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
            getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
        }
        guard limit.rlim_cur >= needed else {
            throw Failure(
                description: "\(connections) connections need \(needed) open files, but only \(limit.rlim_cur) are allowed")
        }
    }
}
