// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import RealmStorage

/// All open connections: their number, their limits, and the watch over slow and idle ones.
///
/// A newcomer over a limit takes the place of a connection that does nothing, the longest idle first. Where there is
/// none, a few more are let in to be told so; the others are closed as they come.
final class ConnectionTable: Sendable {
    private struct State {
        var next = 0
        var records: [Int: ConnectionRecord] = [:]
        /// Numbers of the connections of one client.
        var perClient: [String: Set<Int>] = [:]
        /// Connections that were given up and are not closed yet.
        var leaving: Set<Int> = []
        var figures = Figures()

        /// Connections that count.
        var count: Int { records.count - leaving.count }

        /// How many connections a client has.
        func count(_ client: String) -> Int { perClient[client]?.count ?? 0 }
    }

    /// What the metrics show.
    struct Figures: Sendable {
        /// Closed as they came, because too many were open.
        var refused = 0
        /// Idle, and closed to make room.
        var displaced = 0
        /// Closed because nothing came in time.
        var timedOut = 0
    }

    /// Connections over the limits that are let in to be answered once.
    static let excess = 64
    /// Connections above the limits that one client may have, to be told why it gets no more.
    static let excessPerClient = 8
    /// Connections that were given up and are not closed yet by the daemon.
    private static func leaving(_ connections: Int) -> Int { max(64, connections / 4) }

    private let limits: Limits
    private let state = RankedMutex(.leaf, State())
    private let watchEnds = Monitor(false)

    /// A table without connections.
    init(_ limits: Limits) { self.limits = limits }

    var count: Int { state.withLock { $0.records.count } }
    /// Connections that were refused, displaced or timed out since the start.
    var figures: Figures { state.withLock { $0.figures } }

    /// The most sockets there are at any time.
    static func mostSockets(_ connections: Int) -> Int { connections + excess + leaving(connections) }

    /// Whether a client that knocks is let in; makes room for it.
    func admits(_ client: String) -> Bool {
        state.withLock { state in
            let isAdmitted = hasRoom(for: client, &state)
            if !isAdmitted { state.figures.refused += 1 }
            return isAdmitted
        }
    }

    private func hasRoom(for client: String, _ state: inout State) -> Bool {
        guard state.records.count < ConnectionTable.mostSockets(limits.connections) else { return false }
        makeRoom(for: client, &state)
        if isLimited(client), state.count(client) >= limits.connectionsPerAddress + ConnectionTable.excessPerClient {
            return false
        }
        return state.count < limits.connections + ConnectionTable.excess
    }

    /// Threads of the daemon that let clients in at the same time may have gone beyond a limit, so one is not always enough.
    private func makeRoom(for client: String, _ state: inout State) {
        if isLimited(client) {
            while state.count(client) >= limits.connectionsPerAddress, displace(state.perClient[client] ?? [], &state) {}
        }
        while state.count >= limits.connections, displace(state.records.keys, &state) {}
    }

    private func isLimited(_ client: String) -> Bool { !client.isEmpty }

    /// Gives up that one of the connections which matters least; false when all are in use.
    private func displace(_ numbers: some Sequence<Int>, _ state: inout State) -> Bool {
        guard state.leaving.count < ConnectionTable.leaving(limits.connections) else { return false }
        let now = Instant.now()
        var active: Set<Int> = []
        // Whether something has just come is a system call, so it is asked of the best alone: newcomers come by the thousand.
        while active.count < ConnectionTable.mostLooks, let record = leastNeeded(numbers, but: active, state, now) {
            guard !record.hasJustReceived, let verdict = record.giveUp(limits) else {
                active.insert(record.number)
                continue
            }
            state.figures.displaced += 1
            leave(record, verdict, &state)
            return true
        }
        return false
    }

    /// How many connections are looked at that turn out to be in use after all.
    private static let mostLooks = 16

    private func leastNeeded(
        _ numbers: some Sequence<Int>, but active: Set<Int>, _ state: borrowing State, _ now: Instant
    ) -> ConnectionRecord? {
        var best: (record: ConnectionRecord, weight: Double)?
        for number in numbers {
            guard !state.leaving.contains(number), let record = state.records[number],
                let weight = record.dispensability(now, limits), weight > best?.weight ?? 0, !active.contains(number)
            else { continue }
            best = (record, weight)
        }
        return best?.record
    }

    /// Takes a new connection in. One that is above a limit takes the place of an idle one, or is marked as excess.
    func add(descriptor: Int32, address: String, client: String) -> ConnectionRecord {
        state.withLock { state in
            state.next += 1
            // Others may have come since this one was let in.
            makeRoom(for: client, &state)
            let excess: ConnectionRecord.Excess? =
                state.count >= limits.connections
                ? .total : isLimited(client) && state.count(client) >= limits.connectionsPerAddress ? .perAddress : nil
            let record = ConnectionRecord(
                number: state.next, descriptor: descriptor, address: address, client: client, excess: excess)
            state.perClient[client, default: []].insert(state.next)
            state.records[state.next] = record
            return record
        }
    }

    /// The one connection of a daemon's thread that is in the middle of a request; nil when there are several, as nobody
    /// knows then which the library speaks of.
    func reading(on thread: pthread_t) -> ConnectionRecord? {
        state.withLock { state in
            var found: ConnectionRecord?
            for record in state.records.values where record.thread == thread && record.isReading {
                guard found == nil else { return nil }
                found = record
            }
            return found
        }
    }

    /// Forgets a connection; its socket may be closed as soon as this returns.
    func remove(_ record: ConnectionRecord) {
        state.withLock { state in
            state.records[record.number] = nil
            state.leaving.remove(record.number)
            forgetClient(of: record, &state)
        }
    }

    private func forgetClient(of record: ConnectionRecord, _ state: inout State) {
        guard var own = state.perClient.removeValue(forKey: record.client) else { return }
        own.remove(record.number)
        if !own.isEmpty { state.perClient[record.client] = own }
    }

    // MARK: - The watch

    /// Starts the thread that ends connections whose requests do not come in time.
    func startWatch() throws(Threads.Failure) {
        try Threads.start("watch", stackBytes: 512 << 10) { [self] in
            while watchEnds.wait(until: Instant.now().adding(seconds: 1), { $0 ? true : nil }) == nil { hangUpOverdue() }
        }
    }

    /// Ends that thread.
    func stopWatch() { watchEnds.broadcast { $0 = true } }

    /// Ends every connection; the daemon closes them when it notices.
    func hangUpAll() {
        state.withLock { state in for record in state.records.values { record.hangUp() } }
    }

    private func hangUpOverdue() {
        let now = Instant.now()
        // The lock is held so that no socket is closed, and its number used again, in the middle of this.
        state.withLock { state in
            for record in state.records.values {
                guard let verdict = record.verdict(now, limits) else { continue }
                state.figures.timedOut += 1
                leave(record, verdict, &state)
            }
        }
    }

    /// Ends a connection that was given up; the daemon closes it when it notices.
    private func leave(_ record: ConnectionRecord, _ verdict: ConnectionRecord.Verdict, _ state: inout State) {
        state.leaving.insert(record.number)
        forgetClient(of: record, &state)
        switch verdict {
        case .silent: record.hangUp()
        case .tooSlow(let detail, let limit):
            let problem = Problem.overLimit(.requestTimeout, detail, limit: limit)
            record.hangUp(with: LastWords.bytes(problem, RequestID()))
        }
    }
}
