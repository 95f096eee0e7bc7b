// SPDX-License-Identifier: Apache-2.0

internal import CMicrohttpd  // its headers make the system declarations used here visible
internal import Glibc
internal import RealmFormats
internal import RealmPlatform
internal import RealmStorage
internal import Synchronization

/// The record of one connection, from accept to close.
///
/// The daemon's thread of the connection makes it and reports events; the watch thread of the `ConnectionTable` reads it about
/// once a second. All mutable fields are atomic, so none of them takes a lock. A connection is ended by at most one of the two:
/// `phase` changes to `timedOut` by compare-and-exchange.
package final class ConnectionRecord: Sendable {
    /// The limit that a connection exceeds, that of the server or that of its address. Such a
    /// connection gets a single response, which states the limit.
    enum Excess: Sendable { case total, perAddress }

    /// The activity of a connection, as far as its time limits depend on it.
    enum Phase: Int {
        /// It is between requests, or the header section of one is being received.
        case waiting
        /// The body of a request is being received.
        case body
        /// A request is being worked on, or its response is being sent. The watch leaves it alone.
        case busy
        /// The watch has abandoned it. The daemon closes it at its next callback.
        case timedOut
    }

    /// The number of the connection, counted from 1 in the order of arrival.
    let number: Int
    /// The socket. It stays open as long as the record is in the `ConnectionTable`.
    let descriptor: Int32
    /// The address of the client as text; empty on a Unix socket.
    let address: String
    /// The name under which its connections and work are counted; see `ClientName`.
    let client: String
    /// The limit that the connection exceeds; nil for one that is within the limits.
    let excess: Excess?
    /// Whether the address of the client belongs to this machine, or it came by a Unix socket.
    let isFromThisMachine: Bool
    /// The listener that has accepted the connection.
    let listener: ObjectIdentifier
    /// The encryption of the connection; nil for plain HTTP.
    let tls: TLSConnection?
    /// The connections of the same thread of the daemon that are resumed to be answered.
    let resumptions: ResumptionQueue
    /// The current `Phase`.
    private let phaseStorage = Atomic<Int>(Phase.waiting.rawValue)
    /// The time at which the current request began or its body last grew, in nanoseconds of `Instant`; 0 while no request has
    /// begun.
    private let progress = Atomic<UInt64>(0)
    /// The number of received bytes when the watch last saw the connection idle; -1 until the watch has read it after a response.
    private let idleBytes = Atomic<Int>(0)
    /// Since when the connection is between requests, in nanoseconds of `Instant`.
    private let idleSince: Atomic<UInt64>
    /// Whether a complete header section was ever received. Before that, a shorter time limit applies.
    private let hasBegunRequest = Atomic<Bool>(false)
    /// The daemon's thread that serves this connection; the initializer runs on it.
    let thread = pthread_self()
    /// The memo of the handler about the connection.
    let memo: (any ConnectionMemo)?
    /// Whether the first line of a request has been received and the request is not complete.
    private let readingFlag = Atomic<Bool>(false)
    /// The status of a response that was written past the daemon; 0 if there was none.
    private let lastStatus = Atomic<Int>(0)
    /// Whether the end of the response is that of the connection, so that only a reset shows that it was cut off.
    private let endsWithConnection = Atomic<Bool>(false)
    /// The time at which the body that is being received began, in nanoseconds of `Instant`.
    private let bodyBegin = Atomic<UInt64>(0)
    /// The number of received bytes of that body.
    private let bodyBytes = Atomic<Int>(0)
    /// Returns the reason to receive no more of it.
    private let bodyRefusal = RankedMutex<(@Sendable () -> Problem?)?>(.leaf, nil)

    /// Makes the record of a connection that was just accepted. It must run on the daemon's thread of the connection.
    ///
    /// - Parameters:
    ///   - arrival: The facts about it.
    ///   - excess: The limit that it exceeds, if any.
    init(number: Int, _ arrival: ConnectionArrival, excess: Excess?) {
        self.number = number
        descriptor = arrival.descriptor
        address = arrival.address
        client = arrival.client
        listener = arrival.listener
        tls = arrival.tls
        memo = arrival.memo
        resumptions = arrival.resumptions
        self.excess = excess
        isFromThisMachine = arrival.isUnix || Request.isOfThisMachine(arrival.address)
        idleSince = Atomic(Instant.now().nanoseconds)
    }

    /// Changes the phase of the connection.
    ///
    /// - Parameter phase: The new activity.
    /// - Returns: False when the watch has abandoned the connection; the phase stays `timedOut` then, and the daemon has to close
    ///   the connection.
    func enter(_ phase: Phase) -> Bool {
        let previous = phaseStorage.exchange(phase.rawValue, ordering: .acquiringAndReleasing)
        guard previous == Phase.timedOut.rawValue else { return true }
        phaseStorage.store(previous, ordering: .releasing)
        return false
    }

    /// Records that a response was sent and that the next request is awaited.
    func becameIdle() {
        idleBytes.store(-1, ordering: .relaxed)
        setBodyRefusal(nil)
        progress.store(0, ordering: .relaxed)
        idleSince.store(Instant.now().nanoseconds, ordering: .relaxed)
        _ = enter(.waiting)
    }

    /// Records that the header section of a request is complete.
    ///
    /// - Parameter now: The arrival of the first line of the request; the time limits of the body count from it.
    /// - Returns: False when the watch has given the connection up.
    func beganBody(_ now: Instant) -> Bool {
        hasBegunRequest.store(true, ordering: .relaxed)
        bodyBegin.store(now.nanoseconds, ordering: .relaxed)
        bodyBytes.store(0, ordering: .relaxed)
        progress.store(now.nanoseconds, ordering: .relaxed)
        return enter(.body)
    }

    /// Records that more of a body was received; the watch judges the rate by it.
    ///
    /// - Parameters:
    ///   - byteCount: The number of bytes of the body received in all.
    ///   - now: The time of the last of them.
    func noteBody(byteCount: Int, _ now: Instant) {
        bodyBytes.store(byteCount, ordering: .relaxed)
        progress.store(now.nanoseconds, ordering: .relaxed)
    }

    /// Sets the function that returns the reason to receive no more of the body; nil for a body that may always continue.
    func setBodyRefusal(_ refusal: (@Sendable () -> Problem?)?) {
        let former = bodyRefusal.withLock { known in
            defer { known = refusal }
            return known
        }
        withExtendedLifetime(former) {}
    }

    /// Whether the first line of a request has been received and the request is not complete.
    var isReading: Bool { readingFlag.load(ordering: .relaxed) }

    /// Records that a request begins (true), or that it is complete or answered (false).
    func setReading(_ isReading: Bool) { readingFlag.store(isReading, ordering: .relaxed) }

    /// The status of a response that was written past the daemon; 0 if there was none.
    var statusOfFinalResponse: Int { lastStatus.load(ordering: .relaxed) }

    // MARK: - Time limits

    /// The reason to abandon a connection, which decides how it is ended.
    enum Verdict: Sendable {
        /// No request began, or the client closed its side after a response: nothing is sent.
        case silent
        /// A request began and did not progress as fast as a limit demands: it is answered with
        /// 408, whose text is `detail` and whose member `limit` is the value of that limit.
        case tooSlow(detail: String, limit: Int)
        /// The sender of a body has lost the right to its request: the response is the problem.
        case refused(Problem)

        /// Makes the verdict on a request that was not complete in time.
        ///
        /// - Parameter seconds: The time limit that it exceeded.
        static func incomplete(after seconds: Int) -> Verdict {
            .tooSlow(detail: "the request was not complete after \(seconds) seconds", limit: seconds)
        }
    }

    /// Decides whether the connection exceeds a time limit, and abandons it if it does.
    ///
    /// The watch thread calls this about once a second, with the lock of the table held. The
    /// library reports a header section only when it is complete, so its beginning is detected by
    /// the number of bytes that the kernel has received. Limits are exceeded by up to a second.
    ///
    /// - Parameters:
    ///   - now: The current time.
    ///   - limits: The limits of the server.
    /// - Returns: The reason to abandon the connection; nil when it continues.
    func verdict(_ now: Instant, _ limits: HTTPLimits) -> Verdict? {
        guard let phase = Phase(rawValue: phaseStorage.load(ordering: .acquiring)) else { return nil }
        let verdict: Verdict?
        switch phase {
        case .busy, .timedOut: return nil
        case .waiting: verdict = waitingVerdict(now, limits)
        case .body: verdict = bodyVerdict(now, limits)
        }
        // If received bytes have not been read yet, the delay is the server's and not the client's.
        guard let verdict, !hasUnreadBytes, abandon(from: phase) else { return nil }
        return verdict
    }

    /// Decides about a connection without a complete header section. Idle time after a response is
    /// limited by the daemon itself.
    private func waitingVerdict(_ now: Instant, _ limits: HTTPLimits) -> Verdict? {
        // The bytes of a handshake look like those of a request, so an encrypted connection has the time of its first request for
        // both. For a Unix socket the kernel does not report the number of received bytes.
        guard let info = TCPInfoPrefix.read(descriptor) else { return beginningVerdict(now, limits) }
        if info.isHalfClosed { return .silent }
        if tls != nil, !hasBegunRequest.load(ordering: .relaxed) { return beginningVerdict(now, limits) }
        noteReceivedBytes(info, now)
        let since = progress.load(ordering: .relaxed)
        if since > 0 {
            return isOver(since, limits.requestSeconds, now) ? .incomplete(after: limits.requestSeconds) : nil
        }
        return beginningVerdict(now, limits)
    }

    /// Decides about a connection on which no request was ever complete, by the time since it was made.
    private func beginningVerdict(_ now: Instant, _ limits: HTTPLimits) -> Verdict? {
        guard !hasBegunRequest.load(ordering: .relaxed) else { return nil }
        let seconds = excess == nil ? limits.headSeconds : min(2, limits.headSeconds)
        return isOver(idleSince.load(ordering: .relaxed), seconds, now) ? .silent : nil
    }

    /// Decides about a connection whose body is being received: by the time without progress, the
    /// time in all, and the average rate.
    private func bodyVerdict(_ now: Instant, _ limits: HTTPLimits) -> Verdict? {
        if isOver(progress.load(ordering: .relaxed), limits.requestSeconds, now) {
            return .tooSlow(
                detail: "nothing more of the body came for \(limits.requestSeconds) seconds", limit: limits.requestSeconds)
        }
        if isOver(bodyBegin.load(ordering: .relaxed), limits.bodySeconds, now) { return .incomplete(after: limits.bodySeconds) }
        return isSlowBody(now, limits, afterSeconds: limits.requestSeconds) ? slowBody(limits) : nil
    }

    /// The body that is being received, if it must be aborted: its sender's credential has ended, or its rights have changed.
    ///
    /// It must not be called under a lock.
    var refusedBody: RefusedBody? {
        guard phaseStorage.load(ordering: .acquiring) == Phase.body.rawValue else { return nil }
        let begin = bodyBegin.load(ordering: .acquiring)
        guard let problem = bodyRefusal.withLock({ $0 })?() else { return nil }
        return RefusedBody(record: self, begin: begin, problem: problem)
    }

    /// A body that must be aborted.
    struct RefusedBody: Sendable {
        let record: ConnectionRecord
        /// Its start, which identifies it among others on the connection.
        fileprivate let begin: UInt64
        /// The reason to abort it.
        let problem: Problem

        /// Abandons the connection if it still receives this body.
        ///
        /// - Returns: The way to end it; nil when it does something else by now.
        func abandon() -> Verdict? {
            guard record.bodyBegin.load(ordering: .acquiring) == begin, record.abandon(from: .body) else { return nil }
            record.lastStatus.store(problem.status, ordering: .relaxed)
            return .refused(problem)
        }
    }

    /// Makes the verdict on a body whose average rate is too low.
    private func slowBody(_ limits: HTTPLimits) -> Verdict {
        .tooSlow(detail: "the body comes more slowly than \(limits.bodyRate) bytes per second", limit: limits.bodyRate)
    }

    /// Whether the body comes more slowly than the limit `body-rate`, on average since it began;
    /// never in its first `grace` seconds.
    private func isSlowBody(_ now: Instant, _ limits: HTTPLimits, afterSeconds grace: Int) -> Bool {
        let begin = bodyBegin.load(ordering: .relaxed)
        guard isOver(begin, grace, now) else { return false }
        let seconds = now.seconds(since: Instant(nanoseconds: begin))
        return Double(bodyBytes.load(ordering: .relaxed)) < seconds * Double(limits.bodyRate)
    }

    /// Whether more than a number of seconds have passed since a time, given in nanoseconds of
    /// `Instant`. A time of 0 means that the event has not happened; the result is false then.
    private func isOver(_ since: UInt64, _ seconds: Int, _ now: Instant) -> Bool {
        since > 0 && now.seconds(since: Instant(nanoseconds: since)) > Double(seconds)
    }

    /// Rates how little harm would be done by ending this connection to make room for another one.
    ///
    /// Connections between requests have the highest rates, the longest idle most of all; bodies that hardly progress follow.
    /// The function is called for every connection when a client arrives at a full table, so it makes no system call.
    ///
    /// - Parameters:
    ///   - now: The current time.
    ///   - limits: The limits of the server.
    /// - Returns: A positive number, larger for connections that matter less; nil for one that must
    ///   not be ended.
    func dispensability(_ now: Instant, _ limits: HTTPLimits) -> Double? {
        switch Phase(rawValue: phaseStorage.load(ordering: .acquiring)) {
        case .waiting:
            let since = idleSince.load(ordering: .relaxed)
            return 1e9 + now.seconds(since: Instant(nanoseconds: since))
        case .body where isSlowBody(now, limits, afterSeconds: 1):
            return now.seconds(since: Instant(nanoseconds: progress.load(ordering: .relaxed)))
        default: return nil
        }
    }

    /// Whether the connection is between requests and bytes have arrived that the daemon has not
    /// read yet: a request is beginning. This is a system call.
    var hasJustReceived: Bool { phaseStorage.load(ordering: .acquiring) == Phase.waiting.rawValue && hasUnreadBytes }

    /// Abandons the connection to make room for another one.
    ///
    /// - Parameter limits: The limits of the server, for the text of the response.
    /// - Returns: The way to end it; nil when the daemon has begun to work on a request in the meantime.
    func abandon(_ limits: HTTPLimits) -> Verdict? {
        if abandon(from: .waiting) { return .silent }
        return abandon(from: .body) ? slowBody(limits) : nil
    }

    /// Changes the phase to `timedOut` if it is still the given one.
    private func abandon(from phase: Phase) -> Bool {
        phaseStorage.compareExchange(
            expected: phase.rawValue, desired: Phase.timedOut.rawValue, ordering: .acquiringAndReleasing
        ).exchanged
    }

    /// Whether the socket has received bytes that were not read.
    private var hasUnreadBytes: Bool {
        var count: Int32 = 0
        // 0x541b is FIONREAD.
        return unsafe ioctl(descriptor, 0x541b, &count) == 0 && count > 0
    }

    /// Detects the beginning of a header section: the kernel has received more bytes than at the last look.
    private func noteReceivedBytes(_ info: TCPInfoPrefix, _ now: Instant) {
        guard progress.load(ordering: .relaxed) == 0 else { return }
        let received = Int(truncatingIfNeeded: info.bytesReceived)
        let before = idleBytes.load(ordering: .relaxed)
        if before < 0 {
            idleBytes.store(received, ordering: .relaxed)
        } else if received != before {
            progress.store(now.nanoseconds, ordering: .relaxed)
        }
    }

    /// The seconds after the arrival of its request for which a client that closed only its sending direction is believed to wait
    /// for the response.
    private static let secondsOfHalfClosed = 1.0
    /// The event `POLLRDHUP`, which the headers show only with special definitions: the client closed its sending direction.
    private static let closedDirection = 0x2000

    /// Returns whether the client has probably left, so that no more work is needed for it.
    ///
    /// It must be called only while the connection is suspended, because its socket is certainly open then.
    ///
    /// - Parameter requestSeconds: The age of the request, in seconds.
    /// - Returns: True when the connection is broken, or when the client has closed its direction
    ///   and the request is older than a second.
    func hasLeft(requestSeconds: Double) -> Bool {
        var entry = pollfd(fd: descriptor, events: Int16(ConnectionRecord.closedDirection), revents: 0)
        guard unsafe poll(&entry, 1, 0) > 0 else { return false }
        if Int32(entry.revents) & (POLLHUP | POLLERR) != 0 { return true }
        return Int(entry.revents) & ConnectionRecord.closedDirection != 0 && requestSeconds > ConnectionRecord.secondsOfHalfClosed
    }

    /// Sends a last response on a connection whose request never became complete, and closes both directions.
    ///
    /// The daemon writes nothing while it reads a request, so these bytes cannot mix with its own. On an
    /// encrypted connection nothing is sent: this is not its thread, and plain bytes must not get there.
    ///
    /// - Parameter bytes: A complete response; empty to close without one.
    func hangUp(with bytes: [UInt8] = []) {
        if endsWithConnection.load(ordering: .relaxed) { realm_rest_reset(descriptor) }
        if tls == nil { write(bytes) }
        shutdown(descriptor, Int32(SHUT_RDWR))
    }

    /// Records that a response has begun whose end is that of the connection.
    ///
    /// - Parameter seconds: The seconds after which the connection is reset if the client reads nothing.
    /// - Returns: Whether the system resets it; not for Unix sockets.
    func beginUnframed(stallSeconds seconds: Int) -> Bool {
        guard realm_rest_reset_after(descriptor, UInt32(clamping: seconds) * 1000) != 0 else { return false }
        endsWithConnection.store(true, ordering: .relaxed)
        return true
    }

    /// Records the end of a response whose end is that of the connection.
    ///
    /// - Parameter isComplete: Whether it is whole; the connection is reset otherwise.
    func endUnframed(isComplete: Bool) {
        guard endsWithConnection.exchange(false, ordering: .relaxed), !isComplete else { return }
        realm_rest_reset(descriptor)
    }

    /// Sends a last response and closes only the sending direction. A client that is still sending a body would otherwise lose
    /// the response before it has read it. It must run on the daemon's thread of the connection.
    ///
    /// - Parameters:
    ///   - bytes: A complete response.
    ///   - inClear: Whether to send plain bytes on a connection for TLS, whose handshake has not begun.
    func sendLast(_ bytes: [UInt8], inClear: Bool = false) {
        if let tls, !inClear { tls.finish(with: bytes) } else { write(bytes) }
        shutdown(descriptor, Int32(SHUT_WR))
    }

    /// Responds, in the place of the library, to a request that the library is about to refuse. Later output of the library does
    /// not reach the client, because the sending direction is closed. Only the first call has an effect. It must run on the
    /// daemon's thread of the connection.
    ///
    /// - Parameters:
    ///   - problem: The problem with the request.
    ///   - inClear: Whether the client has sent plain HTTP on a connection for TLS, whose handshake has not begun.
    func refuse(_ problem: Problem, inClear: Bool = false) {
        guard statusOfFinalResponse == 0 else { return }
        lastStatus.store(problem.status, ordering: .relaxed)
        sendLast(FinalResponse.bytes(problem, RequestID()), inClear: inClear)
        discardReceived()
    }

    /// Reads and drops up to a MiB of received data: closing a socket with unread bytes resets the connection, and the client
    /// would lose the last response.
    private func discardReceived() {
        var buffer = [UInt8](repeating: 0, count: 64 << 10)
        for _ in 0..<16 where unsafe recv(descriptor, &buffer, buffer.count, Int32(MSG_DONTWAIT)) <= 0 { return }
    }

    /// Sends bytes without waiting. Bytes that do not fit into the buffer of the socket are lost.
    private func write(_ bytes: [UInt8]) {
        guard !bytes.isEmpty else { return }
        _ = unsafe bytes.withUnsafeBytes {
            unsafe send(descriptor, $0.baseAddress, $0.count, Int32(MSG_DONTWAIT) | Int32(MSG_NOSIGNAL))
        }
    }
}
