// SPDX-License-Identifier: Apache-2.0

internal import CMicrohttpd
internal import Glibc
internal import RealmFormats
internal import RealmPlatform
internal import RealmStorage

/// Watches the connections of endless responses, most of which are suspended: notices clients that leave, has heartbeats sent,
/// finds clients that are unreachable, and ends responses that have reached their greatest age. It also notices clients that
/// leave while they wait for a single response.
///
/// A client that closes its side counts as gone, even if it closes only its sending direction. One
/// thread does the work; a lock guards the tables. A socket stays watched no longer than it is
/// open, because `remove` and `removeWaiter` are called before it is closed.
package final class StreamWatch: Sendable {
    /// The state of a connection's unacknowledged bytes, measured some time after a heartbeat.
    struct Flight: Equatable {
        /// Bytes that were sent and not acknowledged, without those that wait in the socket because the client does not read.
        var bytesInFlight: Int
        /// All bytes that the client has acknowledged since the connection was made.
        var acknowledged: UInt64
        /// Bytes that are not acknowledged, whether they were sent or not.
        var bytesQueued = 0
        /// Whether the client's machine has responded since the last data was sent to it. A machine without memory for received
        /// data responds, too, but acknowledges none of it.
        var isAnswered: Bool

        /// Returns whether the client is unreachable: bytes were in flight, and by the next
        /// heartbeat they are neither acknowledged nor answered.
        ///
        /// - Parameter present: The state when the next heartbeat is due.
        func isLost(_ present: Flight) -> Bool {
            bytesInFlight > 0 && !present.isAnswered && present.acknowledged < acknowledged &+ UInt64(bytesInFlight)
        }
    }

    /// The state of one endless response.
    private struct Entry {
        /// The response, which is aborted when its client is gone.
        let body: EventBody
        /// The socket of its connection.
        var descriptor: Int32 { body.descriptor }
        /// The time of the next heartbeat.
        var nextHeartbeat: Instant
        /// The time at which the response reaches its greatest age.
        var end: Instant
        /// The state of the connection after the last heartbeat; nil while it has not been measured.
        var flight: Flight?
        /// Whether a heartbeat was sent after which the connection has not been measured yet.
        var isUnmeasured = false
        /// The number of acknowledged bytes when the connection last progressed.
        var progress: UInt64 = 0
        /// The time at which the connection last progressed, or had nothing to send.
        var progressTime: Instant
        /// The time at which the socket last took bytes, if it has since had no room for all that is to be sent; nil while it has
        /// room.
        var blockedSince: Instant?
        /// Whether it is watched for room in the socket.
        var isWatchedForRoom = false

        /// Returns whether the client has read nothing for too long although bytes wait for it, and notes progress.
        ///
        /// - Parameters:
        ///   - now: The current time.
        ///   - seconds: The time that a client may read nothing.
        mutating func isStalled(_ now: Instant, seconds: Double) -> Bool {
            if let blockedSince, now.seconds(since: blockedSince) > seconds { return true }
            guard isUnmeasured else { return false }
            isUnmeasured = false
            flight = StreamWatch.flight(descriptor)
            guard let flight, flight.bytesQueued > 0, flight.acknowledged == progress else {
                progress = flight?.acknowledged ?? 0
                progressTime = now
                return false
            }
            return now.seconds(since: progressTime) > seconds
        }
    }

    /// The tables, under the lock.
    private struct State {
        /// The endless responses by the numbers under which their sockets are watched.
        var entries: [UInt64: Entry] = [:]
        /// The numbers of the endless responses by their bodies.
        var numbers: [ObjectIdentifier: UInt64] = [:]
        /// The connections that wait for a single response, with the callback for a client that leaves.
        var waiters: [UInt64: (descriptor: Int32, left: @Sendable () -> Void)] = [:]
        /// The number that was given out last.
        var nextNumber: UInt64 = 0
        /// Whether the thread is to end.
        var isClosed = false
        /// The number of clients found to be unreachable.
        var deadClients = 0
    }

    private let state = RankedMutex(.streamWatch, State())
    /// The time between two heartbeats of a connection, in seconds.
    private let heartbeatSeconds: Double
    /// The age in seconds at which responses end, varied by a tenth so that they do not end at the same time.
    private let ageSeconds: Double
    /// The seconds that a client may read nothing although bytes wait for it.
    private let stallSeconds: Double
    /// The epoll descriptor that reports closed sockets.
    private let watch: Int32

    /// Makes a watch that does nothing until it is started.
    ///
    /// - Parameter limits: The limits of the server, of which heartbeat, greatest age and stalling
    ///   time apply.
    package init(_ limits: HTTPLimits) {
        ageSeconds = Double(limits.streamSeconds)
        stallSeconds = Double(limits.stallSeconds)
        heartbeatSeconds = Double(limits.heartbeat)
        watch = realm_rest_watch_new()
    }

    deinit { close(watch) }

    /// The number of endless responses that are being sent.
    var count: Int { state.withLock { $0.entries.count } }
    /// The number of clients found unreachable since the start.
    var deadClients: Int { state.withLock { $0.deadClients } }

    /// Begins to watch the client of an endless response.
    ///
    /// - Parameter body: The response; it is retained until `remove`.
    func add(_ body: EventBody) {
        let now = Instant.now()
        state.withLock { state in
            state.nextNumber += 1
            state.numbers[ObjectIdentifier(body)] = state.nextNumber
            state.entries[state.nextNumber] = Entry(
                body: body, nextHeartbeat: now.adding(seconds: heartbeatSeconds),
                end: now.adding(seconds: ageSeconds * Double.random(in: 0.9...1.1)), progressTime: now)
            // The socket forgets that it is watched when it is closed.
            _ = realm_rest_watch_add(watch, body.descriptor, state.nextNumber)
        }
    }

    /// Records that the socket of an endless response had no room for all that is to be sent. The body is woken
    /// when there is room again.
    ///
    /// - Parameters:
    ///   - body: The response.
    ///   - hasProgressed: Whether the socket has taken bytes.
    func noteBlocked(_ body: EventBody, hasProgressed: Bool) {
        let now = Instant.now()
        state.withLock { state in
            guard let number = state.numbers[ObjectIdentifier(body)], var entry = state.entries[number] else { return }
            if hasProgressed || entry.blockedSince == nil { entry.blockedSince = now }
            // The watch notifies at once when there is room already, and from then on each time after there was none.
            if !entry.isWatchedForRoom { _ = realm_rest_watch_for_room(watch, entry.descriptor, number) }
            entry.isWatchedForRoom = true
            state.entries[number] = entry
        }
    }

    /// Records that the socket of an endless response has taken all that was to be sent.
    func noteUnblocked(_ body: EventBody) {
        state.withLock { state in
            guard let number = state.numbers[ObjectIdentifier(body)] else { return }
            state.entries[number]?.blockedSince = nil
        }
    }

    /// Begins to watch a connection that waits for a single response.
    ///
    /// - Parameters:
    ///   - descriptor: The socket of the connection.
    ///   - left: Called on the thread of this watch when the client closes its side; it must be
    ///     short.
    /// - Returns: The number to pass to `removeWaiter`.
    func addWaiter(_ descriptor: Int32, _ left: @escaping @Sendable () -> Void) -> UInt64 {
        state.withLock { state in
            state.nextNumber += 1
            state.waiters[state.nextNumber] = (descriptor, left)
            _ = realm_rest_watch_add(watch, descriptor, state.nextNumber)
            return state.nextNumber
        }
    }

    /// Ends the watch over a connection that waits for a single response. It has to be called before the socket is closed.
    ///
    /// - Parameter number: The result of `addWaiter`.
    func removeWaiter(_ number: UInt64) {
        let waiter = state.withLock { state -> (descriptor: Int32, left: @Sendable () -> Void)? in
            guard let waiter = state.waiters.removeValue(forKey: number) else { return nil }
            _ = realm_rest_watch_remove(watch, waiter.descriptor)
            return waiter
        }
        withExtendedLifetime(waiter) {}
    }

    /// Starts the thread. It is called once, before anything is watched.
    ///
    /// - Throws: `Threads.Failure` when the system can make no thread.
    func start() throws(Threads.Failure) {
        try Threads.start("streams", stackBytes: 512 << 10) { [self] in run() }
    }

    /// Ends the watch over an endless response. It has to be called before the socket is closed;
    /// the socket is not used afterwards.
    ///
    /// - Parameter body: The response.
    func remove(_ body: EventBody) {
        state.withLock { state in
            guard let number = state.numbers.removeValue(forKey: ObjectIdentifier(body)),
                let entry = state.entries.removeValue(forKey: number)
            else { return }
            _ = realm_rest_watch_remove(watch, entry.descriptor)
        }
    }

    /// Closes both directions of a connection, which may be in the middle of sending.
    ///
    /// - Parameter body: The response that is being sent on it.
    func breakConnection(of body: EventBody) {
        state.withLock { state in
            guard let number = state.numbers[ObjectIdentifier(body)], let entry = state.entries[number] else { return }
            shutdown(entry.descriptor, Int32(SHUT_RDWR))
        }
    }

    /// Breaks the connections of all endless responses that are left when the server stops: their
    /// clients do not even read the end.
    func breakAll() {
        state.withLock { state in
            for entry in state.entries.values { shutdown(entry.descriptor, Int32(SHUT_RDWR)) }
        }
    }

    /// Ends the thread; it stops at its next turn, after a second at most.
    func stop() { state.withLock { $0.isClosed = true } }

    // MARK: - The thread

    /// The loop of the thread: waits for sockets that were closed, and sends heartbeats.
    private func run() {
        // At most ten turns per heartbeat, and at least one per second, as the end of the server
        // waits for this thread.
        let pause = max(20, min(1000, Int(heartbeatSeconds * 100)))
        var events = [realm_rest_watch_event](repeating: realm_rest_watch_event(), count: Int(realm_rest_watch_limit))
        var nextLook = Instant.now()
        while !state.withLock({ $0.isClosed }) {
            let count = unsafe Int(realm_rest_watch_wait(watch, &events, Int32(pause)))
            if count > 0 {
                dropGone(events.prefix(count).lazy.filter(\.is_closed).map(\.number))
                wakeUnblocked(events.prefix(count).lazy.filter { !$0.is_closed }.map(\.number))
            }
            let now = Instant.now()
            guard now >= nextLook else { continue }
            nextLook = now.adding(seconds: Double(pause) / 1000)
            checkEntries(now)
        }
    }

    /// Continues the responses whose sockets have room again.
    private func wakeUnblocked(_ numbers: some Sequence<UInt64>) {
        let bodies = state.withLock { state in numbers.compactMap { state.entries[$0]?.body } }
        HeldLocks.assertNone()
        EventBody.wake(bodies: bodies)
    }

    /// Ends the responses of clients that have left.
    private func dropGone(_ numbers: some Sequence<UInt64>) {
        let (bodies, waiters) = state.withLock { state in
            (numbers.compactMap { state.entries[$0]?.body }, numbers.compactMap { state.waiters[$0]?.left })
        }
        HeldLocks.assertNone()
        for left in waiters { left() }
        for body in bodies { body.end(.left) }
        EventBody.wake(bodies: bodies)
    }

    /// Sends the heartbeats that are due, measures the connections after earlier ones, and ends the
    /// responses of clients that are unreachable or read nothing.
    private func checkEntries(_ now: Instant) {
        var due: [EventBody] = []
        var old: [EventBody] = []
        var dead: [EventBody] = []
        var stalled: [EventBody] = []
        state.withLock { state in
            for number in state.entries.keys {
                guard var entry = state.entries[number] else { continue }
                if entry.nextHeartbeat <= now {
                    if let flight = entry.flight, let present = StreamWatch.flight(entry.descriptor),
                        flight.isLost(present)
                    {
                        dead.append(entry.body)
                        shutdown(entry.descriptor, Int32(SHUT_RDWR))
                    } else {
                        due.append(entry.body)
                    }
                    entry.nextHeartbeat = now.adding(seconds: heartbeatSeconds)
                    entry.isUnmeasured = true
                    entry.flight = nil
                } else if entry.isStalled(now, seconds: stallSeconds) {
                    stalled.append(entry.body)
                    shutdown(entry.descriptor, Int32(SHUT_RDWR))
                }
                if entry.end <= now {
                    old.append(entry.body)
                    entry.end = .distantFuture
                }
                state.entries[number] = entry
            }
            state.deadClients += dead.count
        }
        for body in due { body.heartbeat() }
        for body in old { body.ageOut() }
        for body in dead { body.end(.dead) }
        for body in stalled { body.end(.left) }
        EventBody.wake(bodies: due + old + dead + stalled)
    }

    /// Measures a connection; nil if it is not a TCP connection.
    private static func flight(_ descriptor: Int32) -> Flight? {
        guard let info = TCPInfoPrefix.read(descriptor) else { return nil }
        var queued: Int32 = 0
        var unsent: Int32 = 0
        // 0x5411 is SIOCOUTQ, and 0x894b is SIOCOUTQNSD.
        guard unsafe ioctl(descriptor, 0x5411, &queued) == 0, unsafe ioctl(descriptor, 0x894b, &unsent) == 0 else { return nil }
        return Flight(
            bytesInFlight: Int(max(0, queued - unsent)), acknowledged: info.bytesAcknowledged, bytesQueued: Int(queued),
            isAnswered: info.millisecondsSinceAnswer <= info.millisecondsSinceSent)
    }
}
