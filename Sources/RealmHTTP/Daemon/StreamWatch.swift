// SPDX-License-Identifier: Apache-2.0

internal import CMicrohttpd
internal import Glibc
internal import RealmStorage

/// Watches over the connections of endless answers, most of which sleep: notices clients that leave, gives signs of
/// life, finds clients that are gone without a word, and ends answers that got old. Notices too who leaves while it waits
/// for an answer.
///
/// A client that closes its side, be it for sending only, counts as gone.
final class StreamWatch: Sendable {
    /// Bytes of a connection that the other side has not acknowledged, a while after a sign of life.
    struct Flight: Equatable {
        /// Sent and not acknowledged; what waits because the client does not read is not in here.
        var bytesInFlight: Int
        /// All bytes that were ever acknowledged.
        var acknowledged: UInt64
        /// Not acknowledged yet, sent or not.
        var bytesQueued = 0
        /// Whether the other side has said something since it was last sent something. One that has no memory left for
        /// what it is sent answers that too, and acknowledges none of it.
        var isAnswered: Bool

        /// Whether a client is dead that had this in flight and is found like `present` by the next sign of life.
        func isLost(_ present: Flight) -> Bool {
            bytesInFlight > 0 && !present.isAnswered && present.acknowledged < acknowledged &+ UInt64(bytesInFlight)
        }
    }

    private struct Entry {
        let body: EventBody
        let descriptor: Int32
        var nextBeat: Instant
        var end: Instant
        var flight: Flight?
        /// Whether a sign of life was given that nobody has looked after yet.
        var isUnmeasured = false
        /// What was acknowledged when it was last seen to get on, and when that was.
        var progress: UInt64 = 0
        var progressTime: Instant

        /// Whether the client has read nothing of what waits for it for so long.
        mutating func isStalled(_ now: Instant, seconds: Double) -> Bool {
            guard let flight, flight.bytesQueued > 0, flight.acknowledged == progress else {
                progress = flight?.acknowledged ?? 0
                progressTime = now
                return false
            }
            return now.seconds(since: progressTime) > seconds
        }
    }

    private struct State {
        var entries: [UInt64: Entry] = [:]
        var numbers: [ObjectIdentifier: UInt64] = [:]
        /// Those who wait for one answer, with what is done when they leave.
        var waiters: [UInt64: (descriptor: Int32, left: @Sendable () -> Void)] = [:]
        var nextNumber: UInt64 = 0
        var isClosed = false
        var deadClients = 0
    }

    private let state = RankedMutex(.streamWatch, State())
    private let beatSeconds: Double
    /// Answers end about this old, not all at once.
    private let ageSeconds: Double
    private let stallSeconds: Double
    private let watch: Int32

    /// A watch that does nothing until it is started.
    init(_ limits: Limits) {
        ageSeconds = Double(limits.streamSeconds)
        stallSeconds = Double(limits.stallSeconds)
        beatSeconds = Double(limits.heartbeat)
        watch = realm_rest_watch_new()
    }

    deinit { close(watch) }

    /// Endless answers that are being sent.
    var count: Int { state.withLock { $0.entries.count } }
    /// Clients that were found to be gone without a word, so far.
    var deadClients: Int { state.withLock { $0.deadClients } }

    /// Watches the client of an endless answer until it is removed.
    func add(_ body: EventBody, descriptor: Int32) {
        let now = Instant.now()
        state.withLock { state in
            state.nextNumber += 1
            state.numbers[ObjectIdentifier(body)] = state.nextNumber
            state.entries[state.nextNumber] = Entry(
                body: body, descriptor: descriptor, nextBeat: now.adding(seconds: beatSeconds),
                end: now.adding(seconds: ageSeconds * Double.random(in: 0.9...1.1)), progressTime: now)
            // The socket forgets that it is watched when it is closed.
            _ = realm_rest_watch_add(watch, descriptor, state.nextNumber)
        }
    }

    /// Watches a connection that waits for an answer: `left` is called once when the client closes its side.
    func addWaiter(_ descriptor: Int32, _ left: @escaping @Sendable () -> Void) -> UInt64 {
        state.withLock { state in
            state.nextNumber += 1
            state.waiters[state.nextNumber] = (descriptor, left)
            _ = realm_rest_watch_add(watch, descriptor, state.nextNumber)
            return state.nextNumber
        }
    }

    /// Called before the socket is closed.
    func removeWaiter(_ number: UInt64) {
        let waiter = state.withLock { state -> (descriptor: Int32, left: @Sendable () -> Void)? in
            guard let waiter = state.waiters.removeValue(forKey: number) else { return nil }
            _ = realm_rest_watch_remove(watch, waiter.descriptor)
            return waiter
        }
        withExtendedLifetime(waiter) {}
    }

    /// Called once, before anything is watched.
    func start() throws(Threads.Failure) {
        try Threads.start("streams", stackBytes: 512 << 10) { [self] in run() }
    }

    /// Called before the socket is closed; nobody touches it after this.
    func remove(_ body: EventBody) {
        state.withLock { state in
            guard let number = state.numbers.removeValue(forKey: ObjectIdentifier(body)),
                let entry = state.entries.removeValue(forKey: number)
            else { return }
            _ = realm_rest_watch_remove(watch, entry.descriptor)
        }
    }

    /// Breaks a connection that may be in the middle of sending.
    func breakConnection(of body: EventBody) {
        state.withLock { state in
            guard let number = state.numbers[ObjectIdentifier(body)], let entry = state.entries[number] else { return }
            shutdown(entry.descriptor, Int32(SHUT_RDWR))
        }
    }

    /// Breaks what is left: clients that do not even read the end.
    func breakAll() {
        state.withLock { state in
            for entry in state.entries.values { shutdown(entry.descriptor, Int32(SHUT_RDWR)) }
        }
    }

    /// Lets the thread end.
    func stop() { state.withLock { $0.isClosed = true } }

    // MARK: - The thread

    private func run() {
        // Ten looks per sign of life at the most, and one a second at the least: the end of the server waits for this.
        let pause = max(20, min(1000, Int(beatSeconds * 100)))
        var numbers = [UInt64](repeating: 0, count: Int(realm_rest_watch_limit))
        var nextLook = Instant.now()
        while !state.withLock({ $0.isClosed }) {
            let count = unsafe realm_rest_watch_wait(watch, &numbers, Int32(pause))
            if count > 0 { dropGone(numbers.prefix(Int(count))) }
            let now = Instant.now()
            guard now >= nextLook else { continue }
            nextLook = now.adding(seconds: Double(pause) / 1000)
            look(now)
        }
    }

    private func dropGone(_ numbers: ArraySlice<UInt64>) {
        let (bodies, waiters) = state.withLock { state in
            (numbers.compactMap { state.entries[$0]?.body }, numbers.compactMap { state.waiters[$0]?.left })
        }
        HeldLocks.assertNone()
        for left in waiters { left() }
        for body in bodies { body.giveUp(.left) }
        EventBody.wake(bodies: bodies)
    }

    /// Gives signs of life where they are due, and measures what became of the ones before.
    private func look(_ now: Instant) {
        var due: [EventBody] = []
        var old: [EventBody] = []
        var dead: [EventBody] = []
        var stalled: [EventBody] = []
        state.withLock { state in
            for number in state.entries.keys {
                guard var entry = state.entries[number] else { continue }
                if entry.nextBeat <= now {
                    if let flight = entry.flight, let present = StreamWatch.flight(entry.descriptor),
                        flight.isLost(present)
                    {
                        dead.append(entry.body)
                        shutdown(entry.descriptor, Int32(SHUT_RDWR))
                    } else {
                        due.append(entry.body)
                    }
                    entry.nextBeat = now.adding(seconds: beatSeconds)
                    entry.isUnmeasured = true
                    entry.flight = nil
                } else if entry.isUnmeasured {
                    entry.isUnmeasured = false
                    entry.flight = StreamWatch.flight(entry.descriptor)
                    // The daemon has a time-out for this, but not where what waits fits into the buffers of the socket.
                    if entry.isStalled(now, seconds: stallSeconds) {
                        stalled.append(entry.body)
                        shutdown(entry.descriptor, Int32(SHUT_RDWR))
                    }
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
        for body in dead { body.giveUp(.dead) }
        for body in stalled { body.giveUp(.left) }
        EventBody.wake(bodies: due + old + dead + stalled)
    }

    /// Nil for what is no TCP connection.
    private static func flight(_ descriptor: Int32) -> Flight? {
        guard let info = TCPInfoPrefix.read(descriptor) else { return nil }
        var queued: Int32 = 0
        var unsent: Int32 = 0
        // SIOCOUTQ and SIOCOUTQNSD.
        guard unsafe ioctl(descriptor, 0x5411, &queued) == 0, unsafe ioctl(descriptor, 0x894b, &unsent) == 0 else { return nil }
        return Flight(
            bytesInFlight: Int(max(0, queued - unsent)), acknowledged: info.bytesAcknowledged, bytesQueued: Int(queued),
            isAnswered: info.millisecondsSinceAnswer <= info.millisecondsSinceSent)
    }
}
