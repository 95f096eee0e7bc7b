// SPDX-License-Identifier: Apache-2.0

internal import Glibc
package import RealmFormats
internal import RealmPlatform
internal import RealmStorage
package import Synchronization

/// One listener with the threads of its daemon, its workers and its watches.
///
/// It connects libmicrohttpd with a `RequestHandler`. A process has one for all clients, and
/// perhaps another for administrators. `start` begins to serve; `stop` ends that for good.
///
/// `@unchecked Sendable`: `stage`, `threads` and `acceptor` are set in `start`, before any other thread can see the server, and
/// in `stop`, which one thread calls. Everything else is constant, atomic or has its own locks.
package final class HTTPServer: @unchecked Sendable {
    /// The configuration of a listener in addition to its socket.
    package struct Configuration: Sendable {
        /// The limits for connections, requests and responses.
        package var limits = HTTPLimits()
        /// The bounds of bodies in temporary files.
        package var spooling = SpoolRoom.Bounds()
        /// The number of threads of the daemon. Each serves a part of the connections.
        package var daemonThreads = Threads.processorCount
        /// The kind of this listener, which its requests carry.
        package var listenerKind = ListenerKind.main
        /// The certificates with which connections are encrypted; nil for plain HTTP.
        package var tls: TLSStore?
        /// The proxies whose statements about their clients are trusted.
        package var trustedProxies = TrustedProxies()

        /// Makes the configuration of the main listener: default limits, and one thread for each processor.
        package init() {}
    }

    /// The reason why a server could not be started.
    package struct Failure: Error, CustomStringConvertible {
        /// A sentence for the command line.
        package let description: String
    }

    package let configuration: Configuration
    /// The listening socket, which `stop` closes.
    package let socket: ListeningSocket
    /// The threads for work that takes longer than a thread of the daemon may be occupied.
    package let workers: WorkerPool
    /// One thread for the responses about the server itself, such as metrics, so that they are available when all workers are
    /// busy. It also checks whether certificates have changed.
    let attendant: WorkerPool
    /// The budget for long bodies in temporary files.
    package let spool: SpoolRoom
    /// The threads that write long bodies to files. Only continuations are queued, at most one per
    /// connection, so its queue needs no limit.
    let spoolers: WorkerPool
    /// The handler that admits requests and responds to them.
    let handler: any RequestHandler
    /// The open connections, by client.
    package let connections: ConnectionTable
    /// The connections that are suspended until a response, an event or a file is ready.
    let suspensions = SuspensionTable()
    /// Watches suspended connections for clients that left.
    let streams: StreamWatch
    /// Threads that send events to suspended connections.
    let senders: EventSenders
    /// The memory of long responses that are being made or that clients have not read yet, in bytes.
    package let unsentBytes: ByteLedger
    /// The number of requests between their first line and the end of their response.
    let inFlight = Atomic<Int>(0)
    /// The number of streamed responses that were cut off because they took too long.
    package let answersCutOff = Atomic<Int>(0)
    /// Whether new connections and requests are refused.
    private let draining = Atomic<Bool>(false)
    /// The lifecycle of a listener. Only a new one can be started.
    private enum Stage {
        /// It was made, and its socket listens.
        case new
        /// It answers.
        case started
        /// It has ended, or could not be started; its socket is closed.
        case ended
    }

    /// Whether the threads, the table of connections and the memory belong to this listener, rather than to the one that it was
    /// made from.
    private let isFirst: Bool
    /// Whether the attendant has been asked to check certificates and has not done so yet.
    private let isLooking = Atomic<Bool>(false)
    private var stage = Stage.new
    /// The threads of the daemon; none before `start` and after `stop`.
    private var threads: [DaemonThread] = []
    /// Gives connections to the threads of the daemon; nil before `start` and after `stop`.
    private var acceptor: ConnectionAcceptor?

    /// Makes a server that begins to serve when it is started.
    ///
    /// - Parameters:
    ///   - socket: The listening socket, which the server takes over.
    ///   - configuration: Limits and threads.
    ///   - workers: The pool for longer work. The server starts and closes it, although another
    ///     server may use it as well.
    ///   - handler: Responds to the requests.
    package init(
        socket: ListeningSocket, configuration: Configuration, workers: WorkerPool, handler: any RequestHandler
    ) {
        self.socket = socket
        self.configuration = configuration
        self.handler = handler
        connections = ConnectionTable(configuration.limits)
        streams = StreamWatch(configuration.limits)
        senders = EventSenders()
        unsentBytes = ByteLedger(
            limit: configuration.limits.unsentBytes, limitOfPrincipal: configuration.limits.unsentBytesPerPrincipal)
        spool = SpoolRoom(configuration.spooling)
        self.workers = workers
        attendant = WorkerPool(
            name: "attendant", WorkerPool.Size(threads: 1, threadsPerClient: 1, queue: 256, queuePerClient: 64))
        spoolers = WorkerPool(name: "spooler", WorkerPool.Size(threads: 2, threadsPerClient: 1, queue: 0, queuePerClient: 0))
        isFirst = true
    }

    /// Makes another listener of a server, which shares the threads, the limits and the handler of the first one. It is started
    /// after that one and stopped before it.
    ///
    /// - Parameters:
    ///   - socket: The listening socket, which the listener takes over.
    ///   - configuration: Settings of this listener. Shared limits are those of the first one.
    package init(socket: ListeningSocket, configuration: Configuration, sharing first: HTTPServer) {
        self.socket = socket
        self.configuration = configuration
        handler = first.handler
        connections = first.connections
        streams = first.streams
        senders = first.senders
        unsentBytes = first.unsentBytes
        spool = first.spool
        workers = first.workers
        attendant = first.attendant
        spoolers = first.spoolers
        isFirst = false
    }

    /// The address for people, such as `https://127.0.0.1:8443`.
    package var url: String { socket.url(isSecure: configuration.tls != nil) }

    /// Whether a peer is a proxy whose statements about its clients are trusted.
    func isTrustedProxy(_ address: String) -> Bool { configuration.trustedProxies.contains(address) }

    /// Lets the attendant check whether certificates have changed, unless it is about to. It does not wait.
    package func checkCertificates(of store: TLSStore) {
        guard !isLooking.exchange(true, ordering: .acquiringAndReleasing) else { return }
        let isQueued = attendant.submitContinuation(for: WorkerPool.server) { [self] in
            store.reloadIfChanged()
            isLooking.store(false, ordering: .releasing)
        }
        if !isQueued { isLooking.store(false, ordering: .releasing) }
    }

    /// Whether new connections and requests are refused because the server is stopping.
    package var isDraining: Bool { draining.load(ordering: .relaxed) }
    /// The number of requests that have begun and whose responses are not complete.
    package var requestsInFlight: Int { inFlight.load(ordering: .relaxed) }
    /// The number of open connections, including idle ones.
    package var connectionCount: Int { connections.count }
    /// The number of connections that were ended to make room for others.
    package var displacedConnections: Int { connections.counts.displaced }
    /// The number of jobs that wait for a worker.
    package var waitingJobs: Int { workers.waiting }
    /// The number of streams that wait for a thread that sends their events.
    package var waitingStreams: Int { senders.waiting }
    /// Returns the greatest number of client sockets that the main listener has open at the same time.
    package static func mostSockets(_ limits: HTTPLimits) -> Int { ConnectionTable.mostSockets(limits.connections) }
    /// Returns the greatest number of client sockets that the administrators' listener has open at the same time.
    package static func mostSocketsOfAdministrators(_ limits: HTTPLimits) -> Int {
        ConnectionTable.mostSockets(limits.adminConnections)
    }
    /// The number of endless responses that are being sent.
    package var streamCount: Int { streams.count }
    /// The number of clients of endless responses found unreachable since the start.
    package var deadClients: Int { streams.deadClients }

    /// Starts all threads and begins to answer. The server keeps itself alive until `stop`.
    ///
    /// - Parameter everySecond: Called about once a second by the first listener; it must not wait.
    /// - Throws: `Failure` when the system can make no thread or the daemon does not start;
    ///   everything is closed again then, the socket too. A server that was started or stopped before
    ///   cannot be started.
    package func start(everySecond: @escaping @Sendable () -> Void = {}) throws(Failure) {
        guard stage == .new else { throw Failure(description: "the HTTP daemon was started before") }
        signal(SIGPIPE, SIG_IGN)
        // A file that grows beyond the limit of the process is an error of one write and must not
        // end the process.
        signal(SIGXFSZ, SIG_IGN)
        do throws(Failure) {
            if isFirst { try startThreads(everySecond) }
            try startDaemon()
        } catch {
            stopDaemon()
            endWithoutDaemon()
            throw error
        }
        stage = .started
    }

    /// Starts the threads of the daemon, and then accepts connections.
    private func startDaemon() throws(Failure) {
        let memory = HTTPServer.connectionMemory(configuration.limits)
        for _ in 0..<max(1, configuration.daemonThreads) {
            let thread = DaemonThread(server: self)
            // The limit itself is enforced by the connection table, which is asked before a connection is set up.
            guard thread.start(connections: HTTPServer.mostSockets(configuration.limits), memory: memory) else {
                let reason = unsafe String(cString: strerror(errno))
                throw Failure(description: "the HTTP daemon does not start: \(reason)")
            }
            // A listener that is released without `stop` stays alive with its threads.
            threads.append(thread)
        }
        let acceptor = ConnectionAcceptor(socket.descriptor, threads: threads)
        try acceptor.start()
        self.acceptor = acceptor
    }

    /// Stops accepting connections, and ends the threads of the daemon, which must have no suspended ones.
    private func stopDaemon() {
        acceptor?.stop()
        acceptor = nil
        for thread in threads { thread.stop() }
        threads = []
    }

    /// Starts all threads but those of the daemon.
    private func startThreads(_ everySecond: @escaping @Sendable () -> Void) throws(Failure) {
        do throws(Threads.Failure) {
            try workers.start()
            try attendant.start()
            try streams.start()
            try senders.start(configuration.daemonThreads)
            try connections.startWatch(everySecond)
        } catch {
            throw Failure(description: error.description)
        }
    }

    /// Ends a server that has no daemon, and closes its socket.
    private func endWithoutDaemon() {
        socket.close()
        closeThreads()
        stage = .ended
    }

    /// Breaks all connections, and waits up to two seconds until the daemon has closed them.
    ///
    /// If the library is stopped while it refuses a malformed request, it continues with a response
    /// that does not exist, and the process ends.
    private func closeConnections() {
        let end = Instant.now().adding(seconds: HTTPServer.secondsToLetGo)
        while connections.hangUpAll(of: ObjectIdentifier(self)) > 0, Instant.now() < end { Threads.sleep(seconds: 0.002) }
    }

    /// The seconds that the daemon is given to close broken connections.
    private static let secondsToLetGo = 2.0

    /// Ends all threads but those of the daemon, if they are this listener's.
    private func closeThreads() {
        guard isFirst else { return }
        connections.stopWatch()
        streams.stop()
        senders.close()
        workers.close()
        attendant.close()
        spoolers.close()
    }

    /// Returns the bytes of memory that the daemon reserves for each connection, a multiple of 4096.
    ///
    /// The largest permitted header section has to fit, with the library's notes about it and the header section of the response;
    /// so has one that is slightly over the limits, so that the server itself can refuse it. The library clears this memory for
    /// every request, so it is not larger than necessary: with a quarter less, the largest permitted request gets no response.
    private static func connectionMemory(_ limits: HTTPLimits) -> Int {
        let heads = limits.targetBytes + limits.headerBytes
        return max(32 << 10, heads + heads / 2 + limits.headerFields * 96 + (8 << 10)) & ~0xfff
    }

    /// Refuses new connections and requests from now on. Requests that have begun continue.
    package func beginDraining() { draining.store(true, ordering: .relaxed) }

    /// Ends the server in steps: refuses new work, lets running requests finish, then closes
    /// everything. The calling thread waits for that.
    ///
    /// Endless responses that have not ended after half of the grace, at most after three seconds, are cut off. A server that
    /// was never started only closes its socket; one that has ended stays as it is.
    ///
    /// - Parameters:
    ///   - graceSeconds: The time that running requests may take.
    ///   - isUrgent: Called every few milliseconds; true ends the grace at once.
    package func stop(graceSeconds: Double, isUrgent: () -> Bool = { false }) {
        guard stage == .started else {
            if stage == .new { endWithoutDaemon() }
            return
        }
        // From here on new connections are closed at once.
        draining.store(true, ordering: .relaxed)
        let begin = Instant.now()
        let end = begin.adding(seconds: graceSeconds)
        // Endless responses have been asked to end. A client that has not read the end after a
        // while is cut off.
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
        closeConnections()
        stopDaemon()
        socket.close()
        stage = .ended
    }
}
