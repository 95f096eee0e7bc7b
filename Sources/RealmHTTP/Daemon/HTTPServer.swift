// SPDX-License-Identifier: Apache-2.0

internal import CMicrohttpd
internal import Glibc
internal import RealmStorage
internal import Synchronization

/// One listener with its daemon threads, workers and watch.
///
/// `@unchecked Sendable`: `daemon` and `options` are set once in `start`, before any thread can see the server, and
/// cleared in `stop`, which one thread calls.
@safe package final class HTTPServer: @unchecked Sendable {
    package struct Configuration: Sendable {
        package var limits = Limits()
        package var daemonThreads = Threads.processorCount
        /// What requests that come by this listener are marked with.
        package var entrance = Entrance.main

        /// The main listener with the usual limits, and a thread for each processor.
        package init() {}
    }

    /// A sentence for the command line.
    package struct Failure: Error, CustomStringConvertible {
        package let description: String
    }

    /// What the server was made with.
    package let configuration: Configuration
    /// Where it listens.
    package let socket: ListeningSocket
    /// Threads for what takes longer than a daemon's thread may be away.
    package let workers: WorkerPool
    /// Tells what the server knows of itself, also when all workers have work for long.
    let attendant = WorkerPool(
        name: "attendant", WorkerPool.Size(threads: 1, threadsPerClient: 1, queue: 256, queuePerClient: 64))
    /// Room for bodies that go to files.
    let spool: SpoolRoom
    /// Write long bodies to files; as many jobs as there are connections at the most.
    let spoolers = WorkerPool(name: "spooler", WorkerPool.Size(threads: 2, threadsPerClient: 1, queue: 0, queuePerClient: 0))
    /// What admits and answers requests.
    let handler: any RequestHandler
    /// The open connections, and who they belong to.
    let connections: ConnectionTable
    /// Connections that wait for an answer or for events.
    let suspensions = SuspensionTable()
    /// Watches sleeping connections for clients that left.
    let streams: StreamWatch
    /// Memory of long answers that are being made, or that clients have not taken yet.
    let unsentBytes: ByteLedger
    /// Requests between their first line and the end of their answer.
    let inFlight = Atomic<Int>(0)
    /// Streamed answers that took too long.
    let answersCutOff = Atomic<Int>(0)
    private let draining = Atomic<Bool>(false)
    private var daemon: OpaquePointer?
    /// What the daemon was started with, which it looks at while it runs.
    private var options: UnsafeMutablePointer<realm_rest_daemon_options>?

    /// A server that answers at `socket` when it is started. It starts and closes the pool of workers, which others may share.
    package init(
        socket: ListeningSocket, configuration: Configuration, workers: WorkerPool, handler: any RequestHandler
    ) {
        self.socket = socket
        self.configuration = configuration
        self.handler = handler
        connections = ConnectionTable(configuration.limits)
        streams = StreamWatch(configuration.limits)
        unsentBytes = ByteLedger(
            limit: configuration.limits.unsentBytes, limitOfPrincipal: configuration.limits.unsentBytesPerPrincipal)
        spool = SpoolRoom(configuration.limits)
        self.workers = workers
    }

    /// Whether new requests are refused because the server stops.
    package var isDraining: Bool { draining.load(ordering: .relaxed) }
    /// Requests that have begun and whose answers have not left.
    package var requestsInFlight: Int { inFlight.load(ordering: .relaxed) }
    /// Open connections, idle ones too.
    package var connectionCount: Int { connections.count }
    /// Requests that wait for a worker.
    package var waitingJobs: Int { workers.waiting }
    /// The most sockets of clients that are open at any time.
    package static func mostSockets(_ limits: Limits) -> Int { ConnectionTable.mostSockets(limits.connections) }
    /// The same for the administrators' listener.
    package static func mostSocketsOfAdministrators(_ limits: Limits) -> Int {
        ConnectionTable.mostSockets(limits.adminConnections)
    }
    /// Endless answers that are being sent.
    package var streamCount: Int { streams.count }
    /// Clients of such answers that were gone without a word.
    package var deadClients: Int { streams.deadClients }

    /// Starts answering. The server keeps itself alive until `stop`.
    package func start() throws(Failure) {
        signal(SIGPIPE, SIG_IGN)
        // A file that would grow beyond what the process may write is an error of one write, not the end of all.
        signal(SIGXFSZ, SIG_IGN)
        let options = UnsafeMutablePointer<realm_rest_daemon_options>.allocate(capacity: 1)
        unsafe options.initialize(to: DaemonCallbacks.options(for: self))
        unsafe self.options = unsafe options
        unsafe options.pointee.listen_socket = socket.descriptor
        unsafe options.pointee.threads = UInt32(configuration.daemonThreads)
        // Each daemon thread has a share of its limit, and may have all connections. The limit itself is kept by the
        // connection table, which is asked before a connection is taken.
        unsafe options.pointee.connections = UInt32(
            clamping: HTTPServer.mostSockets(configuration.limits) * max(1, configuration.daemonThreads))
        unsafe options.pointee.idle_seconds = UInt32(configuration.limits.idleSeconds)
        unsafe options.pointee.connection_memory = HTTPServer.connectionMemory(configuration.limits)
        do throws(Threads.Failure) {
            try workers.start()
            try attendant.start()
            try streams.start()
            try connections.startWatch()
        } catch {
            closeThreads()
            throw Failure(description: error.description)
        }
        // Whoever drops a server without stopping it keeps a daemon that runs, not one that calls what is gone.
        let own = unsafe Unmanaged.passRetained(self)
        guard let daemon = unsafe realm_rest_start_daemon(options) else {
            let reason = unsafe String(cString: strerror(errno))
            unsafe own.release()
            closeThreads()
            throw Failure(description: "the HTTP daemon does not start: \(reason)")
        }
        unsafe self.daemon = unsafe daemon
    }

    /// Ends all connections and waits a little for the daemon to notice. A daemon that is told to stop while it refuses a
    /// malformed head goes on with an answer that it has not got, and the process ends.
    private func letConnectionsGo() {
        let end = Instant.now().adding(seconds: HTTPServer.secondsToLetGo)
        while connections.count > 0, Instant.now() < end {
            connections.hangUpAll()
            Threads.sleep(seconds: 0.002)
        }
    }

    private static let secondsToLetGo = 2.0

    /// Lets the threads end that were made beside those of the daemon.
    private func closeThreads() {
        connections.stopWatch()
        streams.stop()
        workers.close()
        attendant.close()
        spoolers.close()
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
        guard let daemon = unsafe daemon else { return }
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
        closeThreads()
        // A daemon must not be stopped while connections are suspended.
        suspensions.close()
        letConnectionsGo()
        // This closes the listening socket, too.
        unsafe MHD_stop_daemon(daemon)
        unsafe self.daemon = nil
        unsafe options?.deallocate()
        unsafe options = nil
        socket.removeFile()
        unsafe Unmanaged.passUnretained(self).release()
    }
}
