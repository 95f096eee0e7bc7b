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

    let number: Int
    let descriptor: Int32
    let address: String
    let excess: Excess?
    private let phaseStorage = Atomic<Int>(Phase.waiting.rawValue)
    /// When the current request began or its body last grew, in nanoseconds of `Instant`; 0 is "not yet".
    private let progress = Atomic<UInt64>(0)
    /// Bytes received when the connection was last seen idle; -1 is "not looked at yet".
    private let idleBytes: Atomic<Int>

    init(number: Int, descriptor: Int32, address: String, excess: Excess?) {
        self.number = number
        self.descriptor = descriptor
        self.address = address
        self.excess = excess
        idleBytes = Atomic(0)
    }

    /// Enters `phase`; false when the watch gave the connection up before.
    func enter(_ phase: Phase) -> Bool {
        let previous = phaseStorage.exchange(phase.rawValue, ordering: .acquiringAndReleasing)
        guard previous == Phase.timedOut.rawValue else { return true }
        phaseStorage.store(previous, ordering: .releasing)
        return false
    }

    func becameIdle() {
        idleBytes.store(-1, ordering: .relaxed)
        progress.store(0, ordering: .relaxed)
        _ = enter(.waiting)
    }

    func noteProgress(_ now: Instant) { progress.store(now.nanoseconds, ordering: .relaxed) }

    /// Whether the client has been too slow with a request that it began.
    ///
    /// Called by the watch about once a second. The head of a request is noticed by the count of bytes the kernel has
    /// received, because the daemon does not tell before it is complete.
    func isOverdue(_ now: Instant, requestSeconds: Int) -> Bool {
        guard let phase = Phase(rawValue: phaseStorage.load(ordering: .acquiring)) else { return false }
        switch phase {
        case .busy, .timedOut: return false
        case .waiting: noteReceivedBytes(now)
        case .body: break
        }
        let since = progress.load(ordering: .relaxed)
        guard since > 0, now.seconds(since: Instant(nanoseconds: since)) > Double(requestSeconds) else { return false }
        return phaseStorage.compareExchange(
            expected: phase.rawValue, desired: Phase.timedOut.rawValue, ordering: .acquiringAndReleasing
        ).exchanged
    }

    private func noteReceivedBytes(_ now: Instant) {
        guard progress.load(ordering: .relaxed) == 0, let received = receivedBytes() else { return }
        let before = idleBytes.load(ordering: .relaxed)
        if before < 0 {
            idleBytes.store(received, ordering: .relaxed)
        } else if received != before {
            noteProgress(now)
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
        guard poll(&entry, 1, 0) > 0 else { return false }
        if Int32(entry.revents) & (POLLHUP | POLLERR) != 0 { return true }
        return Int(entry.revents) & ConnectionRecord.closedDirection != 0 && requestSeconds > ConnectionRecord.secondsOfHalfClosed
    }

    private func receivedBytes() -> Int? {
        TCPInfoPrefix.read(descriptor).map { Int(truncatingIfNeeded: $0.bytesReceived) }
    }

    /// Sends the last words of the server on a connection whose request never became complete, and hangs up.
    ///
    /// The daemon writes nothing while it reads a request, so these bytes cannot mix with its own.
    func hangUp(with bytes: [UInt8]) {
        _ = bytes.withUnsafeBytes { send(descriptor, $0.baseAddress, $0.count, Int32(MSG_DONTWAIT) | Int32(MSG_NOSIGNAL)) }
        shutdown(descriptor, Int32(SHUT_RDWR))
    }
}

/// The part of the kernel's `struct tcp_info` up to `tcpi_bytes_received`, whose layout Linux keeps stable.
struct TCPInfoPrefix {
    var states: UInt64 = 0
    var counters: (UInt64, UInt64, UInt64, UInt64, UInt64, UInt64, UInt64, UInt64, UInt64, UInt64, UInt64, UInt64) =
        (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)
    var pacingRate: UInt64 = 0
    var maximumPacingRate: UInt64 = 0
    var bytesAcknowledged: UInt64 = 0
    var bytesReceived: UInt64 = 0

    /// Nil for what is no TCP connection.
    static func read(_ descriptor: Int32) -> TCPInfoPrefix? {
        var info = TCPInfoPrefix()
        var length = socklen_t(MemoryLayout<TCPInfoPrefix>.size)
        let failure = getsockopt(descriptor, Int32(IPPROTO_TCP), TCP_INFO, &info, &length)
        return failure == 0 && length >= socklen_t(MemoryLayout<TCPInfoPrefix>.size) ? info : nil
    }
}
