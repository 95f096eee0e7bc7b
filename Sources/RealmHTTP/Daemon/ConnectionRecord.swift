// SPDX-License-Identifier: Apache-2.0

internal import CMicrohttpd  // its headers are where the compiler finds what sockets need
internal import Glibc
internal import RealmStorage
internal import Synchronization

/// What the server knows of one connection, from accept to close.
final class ConnectionRecord: Sendable {
    /// Why a connection over a limit gets no more than one answer.
    enum Excess: Sendable { case total, perAddress }

    /// What the connection is doing.
    enum Phase: Int {
        /// Between requests, or reading the head of one.
        case waiting
        /// Reading the body of a request.
        case body
        /// Working on a request or sending its answer.
        case busy
        /// Given up by the watch; the daemon closes it as soon as it looks.
        case timedOut
    }

    /// The number of the connection, in the order in which they came.
    let number: Int
    /// The socket. It stays open while the record is in the table.
    let descriptor: Int32
    /// The address of the client as text; empty on a Unix socket.
    let address: String
    /// Whose connections and work it counts among; see `ClientName`.
    let client: String
    /// Which limit the connection is above; nil for one that has a place.
    let excess: Excess?
    let isFromThisMachine: Bool
    private let phaseStorage = Atomic<Int>(Phase.waiting.rawValue)
    /// When the current request began or its body last grew, in nanoseconds of `Instant`; 0 is "not yet".
    private let progress = Atomic<UInt64>(0)
    /// Bytes received when the connection was last seen idle; -1 is "not looked at yet".
    private let idleBytes = Atomic<Int>(0)
    /// Since when it is between requests.
    private let idleSince: Atomic<UInt64>
    private let hasBegunRequest = Atomic<Bool>(false)
    /// The daemon's thread that this connection belongs to.
    let thread = pthread_self()
    private let readingFlag = Atomic<Bool>(false)
    private let lastStatus = Atomic<Int>(0)
    /// When the body that is being read began, and how much of it came.
    private let bodyBegin = Atomic<UInt64>(0)
    private let bodyBytes = Atomic<Int>(0)

    /// The record of a connection that has just come.
    init(number: Int, descriptor: Int32, address: String, client: String, excess: Excess?) {
        self.number = number
        self.descriptor = descriptor
        self.address = address
        self.client = client
        self.excess = excess
        isFromThisMachine = Request.isOfThisMachine(address)
        idleSince = Atomic(Instant.now().nanoseconds)
    }

    /// Enters `phase`; false when the watch gave the connection up before.
    func enter(_ phase: Phase) -> Bool {
        let previous = phaseStorage.exchange(phase.rawValue, ordering: .acquiringAndReleasing)
        guard previous == Phase.timedOut.rawValue else { return true }
        phaseStorage.store(previous, ordering: .releasing)
        return false
    }

    /// Notes that the answer was sent, and that the next request is awaited.
    func becameIdle() {
        idleBytes.store(-1, ordering: .relaxed)
        progress.store(0, ordering: .relaxed)
        idleSince.store(Instant.now().nanoseconds, ordering: .relaxed)
        _ = enter(.waiting)
    }

    /// The head of a request is there; false when the watch gave the connection up before.
    func beganBody(_ now: Instant) -> Bool {
        hasBegunRequest.store(true, ordering: .relaxed)
        bodyBegin.store(now.nanoseconds, ordering: .relaxed)
        bodyBytes.store(0, ordering: .relaxed)
        progress.store(now.nanoseconds, ordering: .relaxed)
        return enter(.body)
    }

    /// Notes how much of a body has come, by which its rate is judged.
    func noteBody(byteCount: Int, _ now: Instant) {
        bodyBytes.store(byteCount, ordering: .relaxed)
        progress.store(now.nanoseconds, ordering: .relaxed)
    }

    /// Whether the first line of a request is there, and not yet its end.
    var isReading: Bool { readingFlag.load(ordering: .relaxed) }

    func setReading(_ isReading: Bool) { readingFlag.store(isReading, ordering: .relaxed) }

    /// The status that was told past the daemon; 0 as long as there was none.
    var statusOfLastWords: Int { lastStatus.load(ordering: .relaxed) }

    // MARK: - Too slow, too idle

    /// Why the watch gives a connection up.
    enum Verdict: Sendable {
        /// Nothing came, or the client closed its side after an answer: there is nobody to tell.
        case silent
        /// A request began and did not get on as fast as `limit` says.
        case tooSlow(detail: String, limit: Int)

        /// The end of a connection whose request did not come in time.
        static func incomplete(after seconds: Int) -> Verdict {
            .tooSlow(detail: "the request was not complete after \(seconds) seconds", limit: seconds)
        }
    }

    /// Whether the connection has to end, and how; it is given up then.
    ///
    /// Called by the watch about once a second. The head of a request is noticed by the count of bytes the kernel has
    /// received, because the daemon does not tell before it is complete.
    func verdict(_ now: Instant, _ limits: Limits) -> Verdict? {
        guard let phase = Phase(rawValue: phaseStorage.load(ordering: .acquiring)) else { return nil }
        let verdict: Verdict?
        switch phase {
        case .busy, .timedOut: return nil
        case .waiting: verdict = waitingVerdict(now, limits)
        case .body: verdict = bodyVerdict(now, limits)
        }
        // Bytes that nobody has read yet are the server's delay, and not the client's.
        guard let verdict, !hasUnreadBytes, giveUp(from: phase) else { return nil }
        return verdict
    }

    private func waitingVerdict(_ now: Instant, _ limits: Limits) -> Verdict? {
        guard let info = TCPInfoPrefix.read(descriptor) else { return nil }
        if info.isHalfClosed { return .silent }
        noteReceivedBytes(info, now)
        let since = progress.load(ordering: .relaxed)
        if since > 0 {
            return isOver(since, limits.requestSeconds, now) ? .incomplete(after: limits.requestSeconds) : nil
        }
        guard !hasBegunRequest.load(ordering: .relaxed) else { return nil }
        let seconds = excess == nil ? limits.headSeconds : min(2, limits.headSeconds)
        return isOver(idleSince.load(ordering: .relaxed), seconds, now) ? .silent : nil
    }

    private func bodyVerdict(_ now: Instant, _ limits: Limits) -> Verdict? {
        if isOver(progress.load(ordering: .relaxed), limits.requestSeconds, now) {
            return .tooSlow(
                detail: "nothing more of the body came for \(limits.requestSeconds) seconds", limit: limits.requestSeconds)
        }
        if isOver(bodyBegin.load(ordering: .relaxed), limits.bodySeconds, now) { return .incomplete(after: limits.bodySeconds) }
        return isSlowBody(now, limits, afterSeconds: limits.requestSeconds) ? slowBody(limits) : nil
    }

    private func slowBody(_ limits: Limits) -> Verdict {
        .tooSlow(detail: "the body comes more slowly than \(limits.bodyRate) bytes per second", limit: limits.bodyRate)
    }

    /// Whether the body comes more slowly than it has to, on average since it began.
    private func isSlowBody(_ now: Instant, _ limits: Limits, afterSeconds grace: Int) -> Bool {
        let begin = bodyBegin.load(ordering: .relaxed)
        guard isOver(begin, grace, now) else { return false }
        let seconds = now.seconds(since: Instant(nanoseconds: begin))
        return Double(bodyBytes.load(ordering: .relaxed)) < seconds * Double(limits.bodyRate)
    }

    private func isOver(_ since: UInt64, _ seconds: Int, _ now: Instant) -> Bool {
        since > 0 && now.seconds(since: Instant(nanoseconds: since)) > Double(seconds)
    }

    /// How little it would matter if this connection ended now; nil when it must not. The highest number goes first.
    ///
    /// Those between requests come first, the longest idle before others, then bodies that hardly come. This is asked about
    /// every connection for every newcomer, so it makes no system call.
    func dispensability(_ now: Instant, _ limits: Limits) -> Double? {
        switch Phase(rawValue: phaseStorage.load(ordering: .acquiring)) {
        case .waiting:
            let since = idleSince.load(ordering: .relaxed)
            return 1e9 + now.seconds(since: Instant(nanoseconds: since))
        case .body where isSlowBody(now, limits, afterSeconds: 1):
            return now.seconds(since: Instant(nanoseconds: progress.load(ordering: .relaxed)))
        default: return nil
        }
    }

    /// Whether a connection between requests has got bytes that nobody has read yet.
    var hasJustReceived: Bool { phaseStorage.load(ordering: .acquiring) == Phase.waiting.rawValue && hasUnreadBytes }

    /// Gives the connection up for others; nil when a request came in between.
    func giveUp(_ limits: Limits) -> Verdict? {
        if giveUp(from: .waiting) { return .silent }
        return giveUp(from: .body) ? slowBody(limits) : nil
    }

    private func giveUp(from phase: Phase) -> Bool {
        phaseStorage.compareExchange(
            expected: phase.rawValue, desired: Phase.timedOut.rawValue, ordering: .acquiringAndReleasing
        ).exchanged
    }

    private var hasUnreadBytes: Bool {
        var count: Int32 = 0
        // FIONREAD.
        return unsafe ioctl(descriptor, 0x541b, &count) == 0 && count > 0
    }

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

    /// A client that closed only its own direction may still read; one that waits so long is not believed to.
    private static let secondsOfHalfClosed = 1.0
    /// `POLLRDHUP`, which the headers show to few: the client closed its direction.
    private static let closedDirection = 0x2000

    /// Whether nobody is there any more to read the answer to a request that is so old.
    ///
    /// Only while the connection is suspended, so that its socket is open.
    func hasLeft(requestSeconds: Double) -> Bool {
        var entry = pollfd(fd: descriptor, events: Int16(ConnectionRecord.closedDirection), revents: 0)
        guard unsafe poll(&entry, 1, 0) > 0 else { return false }
        if Int32(entry.revents) & (POLLHUP | POLLERR) != 0 { return true }
        return Int(entry.revents) & ConnectionRecord.closedDirection != 0 && requestSeconds > ConnectionRecord.secondsOfHalfClosed
    }

    /// Sends the last words of the server on a connection whose request never became complete, and hangs up.
    ///
    /// The daemon writes nothing while it reads a request, so these bytes cannot mix with its own.
    func hangUp(with bytes: [UInt8] = []) {
        write(bytes)
        shutdown(descriptor, Int32(SHUT_RDWR))
    }

    /// The same, but goes on receiving: a client that is still sending would else lose what it has not read.
    func sendLast(_ bytes: [UInt8]) {
        write(bytes)
        shutdown(descriptor, Int32(SHUT_WR))
    }

    /// Answers, in the place of the library, a request that the library refuses with `status`. What the library sends
    /// after this does not get through.
    func refuse(_ problem: Problem) {
        guard statusOfLastWords == 0 else { return }
        lastStatus.store(problem.status, ordering: .relaxed)
        sendLast(LastWords.bytes(problem, RequestID()))
        discardReceived()
    }

    /// A socket that is closed with bytes nobody read takes its last answer away from the client.
    private func discardReceived() {
        var buffer = [UInt8](repeating: 0, count: 64 << 10)
        for _ in 0..<16 where unsafe recv(descriptor, &buffer, buffer.count, Int32(MSG_DONTWAIT)) <= 0 { return }
    }

    private func write(_ bytes: [UInt8]) {
        guard !bytes.isEmpty else { return }
        _ = unsafe bytes.withUnsafeBytes {
            unsafe send(descriptor, $0.baseAddress, $0.count, Int32(MSG_DONTWAIT) | Int32(MSG_NOSIGNAL))
        }
    }
}
