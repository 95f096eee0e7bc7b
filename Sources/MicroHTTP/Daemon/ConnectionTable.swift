// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import RealmFormats
internal import RealmPlatform
internal import RealmStorage

/// All open connections of a listener, or of several that share their limits: their number, and the
/// watch over slow and idle ones.
///
/// A new connection over a limit displaces an idle one, the longest idle first. Where there is none, a few more connections are
/// accepted in order to respond with 429 or 503; others are closed at once. One lock guards the table; the watch is a separate
/// thread.
package final class ConnectionTable: Sendable {
    /// The contents of the table, under its lock.
    private struct State {
        /// The number of the connection that was added last.
        var next = 0
        /// The open connections by their numbers.
        var records: [Int: ConnectionRecord] = [:]
        /// The numbers of the connections of each client, without abandoned ones.
        var perClient: [ByteText: Set<Int>] = [:]
        /// The numbers of abandoned connections that the daemon has not closed yet.
        var leaving: Set<Int> = []
        /// The counts for the metrics.
        var counts = Counts()

        /// The number of connections that count towards the limits.
        var count: Int { records.count - leaving.count }

        /// Returns the number of connections of a client that count towards its limit.
        func count(_ client: String) -> Int { perClient[client]?.count ?? 0 }
    }

    /// Counts of connections since the start, for the metrics.
    package struct Counts: Sendable {
        /// Connections that were closed at once because too many were open.
        package var refused = 0
        /// Connections that were ended, while idle or hardly progressing, to make room for others.
        package var displaced = 0
        /// Connections that were ended because a request did not arrive in time, or because the client had closed its side.
        package var timedOut = 0
    }

    /// The number of connections over the limit of the server that are accepted for a single response.
    static let excess = 64
    /// The number of connections over its own limit that a client may have, to receive the reason.
    static let excessPerClient = 8
    /// Returns the permitted number of abandoned connections that are not closed yet.
    private static func leaving(_ connections: Int) -> Int { max(64, connections / 4) }

    private let limits: HTTPLimits
    /// The table. The lock is held while connections are ended, so that no socket is closed and reused in the meantime.
    private let state = RankedMutex(.leaf, State())
    private let watch = ServiceThread("watch")

    /// Makes an empty table.
    ///
    /// - Parameter limits: The limits of the listener.
    package init(_ limits: HTTPLimits) { self.limits = limits }

    /// The number of open connections, including abandoned ones.
    var count: Int { state.withLock { $0.records.count } }
    /// The numbers of connections refused, displaced or timed out since the start.
    package var counts: Counts { state.withLock { $0.counts } }

    /// Returns the greatest number of sockets that can be open at the same time.
    ///
    /// - Parameter connections: The limit of connections.
    static func mostSockets(_ connections: Int) -> Int { connections + excess + leaving(connections) }

    /// Decides whether a new connection is accepted, and displaces another one if that is needed.
    ///
    /// It is called on a thread of the daemon, before the library sets up the connection.
    ///
    /// - Returns: False when the socket has to be closed at once.
    func admits(_ client: String) -> Bool {
        state.withLock { state in
            let isAdmitted = hasRoom(for: client, &state)
            if !isAdmitted { state.counts.refused += 1 }
            return isAdmitted
        }
    }

    /// Displaces connections over the limits, and returns whether there is room for one more of this client.
    private func hasRoom(for client: String, _ state: inout State) -> Bool {
        guard state.records.count < ConnectionTable.mostSockets(limits.connections) else { return false }
        makeRoom(for: client, &state)
        if isLimited(client), state.count(client) >= limits.connectionsPerAddress + ConnectionTable.excessPerClient {
            return false
        }
        return state.count < limits.connections + ConnectionTable.excess
    }

    /// Displaces connections until the limits are kept, as far as possible. Several threads of the daemon may have accepted
    /// connections at the same time, so displacing one is not always enough.
    private func makeRoom(for client: String, _ state: inout State) {
        if isLimited(client) {
            while state.count(client) >= limits.connectionsPerAddress, displace(state.perClient[client] ?? [], &state) {}
        }
        while state.count >= limits.connections, displace(state.records.keys, &state) {}
    }

    /// Whether the limit of connections per client applies: it does not on Unix sockets, whose
    /// clients have no address, and not to trusted proxies, which pass on many clients.
    private func isLimited(_ client: String) -> Bool { !client.isEmpty }

    /// Abandons the least important one of some connections.
    ///
    /// - Parameters:
    ///   - numbers: The connections to choose from.
    ///   - state: The table, whose lock is held.
    /// - Returns: False when all of them are in use, or when too many abandoned ones are not closed yet.
    private func displace(_ numbers: some Sequence<Int>, _ state: inout State) -> Bool {
        guard state.leaving.count < ConnectionTable.leaving(limits.connections) else { return false }
        let now = Instant.now()
        var active: Set<Int> = []
        // Finding out whether bytes have just arrived takes a system call, so only the best
        // candidate is examined: new connections can arrive by the thousand.
        while active.count < ConnectionTable.mostLooks, let record = leastNeeded(numbers, but: active, state, now) {
            guard !record.hasJustReceived, let verdict = record.abandon(limits) else {
                active.insert(record.number)
                continue
            }
            state.counts.displaced += 1
            leave(record, verdict, &state)
            return true
        }
        return false
    }

    /// The number of candidates that are examined at most before nothing is displaced.
    private static let mostLooks = 16

    /// Returns the connection with the highest `dispensability`, apart from those that turned out
    /// to be in use; nil when there is none.
    ///
    /// - Complexity: O(n) for n connections.
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

    /// Adds a new connection. One over a limit displaces an idle one if possible, and is marked as excess otherwise.
    ///
    /// - Parameter arrival: The facts about it.
    /// - Returns: The record, which stays in the table until `remove`.
    func add(_ arrival: ConnectionArrival) -> ConnectionRecord {
        let client = arrival.client
        return state.withLock { state in
            state.next += 1
            // Others may have been added since this one was accepted.
            makeRoom(for: client, &state)
            let excess: ConnectionRecord.Excess? =
                state.count >= limits.connections
                ? .total : isLimited(client) && state.count(client) >= limits.connectionsPerAddress ? .perAddress : nil
            let record = ConnectionRecord(number: state.next, arrival, excess: excess)
            state.perClient[client, default: []].insert(state.next)
            state.records[state.next] = record
            return record
        }
    }

    /// Returns the one connection of a daemon's thread that is in the middle of a request.
    ///
    /// The library reports that it refuses a request without naming the connection. With this, the
    /// connection is identified where that is possible.
    ///
    /// - Parameter thread: The thread on which the library reports.
    /// - Returns: The connection; nil when there is none or when there are several.
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

    /// Removes a connection that the daemon closes. Its socket may be closed as soon as this
    /// returns, so nothing uses it afterwards.
    ///
    /// - Parameter record: The record that `add` returned.
    func remove(_ record: ConnectionRecord) {
        state.withLock { state in
            state.records[record.number] = nil
            state.leaving.remove(record.number)
            forgetClient(of: record, &state)
        }
    }

    /// Stops counting a connection for its client.
    private func forgetClient(of record: ConnectionRecord, _ state: inout State) {
        guard var own = state.perClient.removeValue(forKey: record.client) else { return }
        own.remove(record.number)
        if !own.isEmpty { state.perClient[record.client] = own }
    }

    // MARK: - The watch

    /// Starts the thread that ends connections whose requests time out or lose their rights.
    ///
    /// - Parameter everySecond: Called about once a second on this thread; it must not wait.
    /// - Throws: `Threads.Failure` when the system can make no thread.
    func startWatch(_ everySecond: @escaping @Sendable () -> Void = {}) throws(Threads.Failure) {
        try watch.start { [self] in
            while !watch.rest(until: Instant.now().adding(seconds: 1)) {
                hangUpOverdue()
                hangUpRefused()
                everySecond()
            }
        }
    }

    /// Ends the watch thread; it stops at its next turn.
    func stopWatch() { watch.stop() }

    /// Breaks every connection of a listener, at its end. The daemon closes them when it notices.
    ///
    /// - Returns: The number of connections.
    func hangUpAll(of listener: ObjectIdentifier) -> Int {
        state.withLock { state in
            var count = 0
            for record in state.records.values where record.listener == listener {
                record.hangUp()
                count += 1
            }
            return count
        }
    }

    /// Ends the connections that exceed a time limit.
    private func hangUpOverdue() {
        let now = Instant.now()
        // The lock is held so that no socket is closed, and its number used again, during this
        // loop.
        state.withLock { state in
            for record in state.records.values {
                guard let verdict = record.verdict(now, limits) else { continue }
                state.counts.timedOut += 1
                leave(record, verdict, &state)
            }
        }
    }

    /// Ends connections that receive bodies whose senders have lost the right to send them, and releases the stored part and the
    /// place of the connection.
    private func hangUpRefused() {
        let records = state.withLock { Array($0.records.values) }
        let refused = records.compactMap(\.refusedBody)
        guard !refused.isEmpty else { return }
        state.withLock { state in
            for body in refused where state.records[body.record.number] === body.record {
                guard let verdict = body.abandon() else { continue }
                leave(body.record, verdict, &state)
            }
        }
    }

    /// Ends an abandoned connection, with the reason if a request had begun. The daemon closes the socket when it notices.
    private func leave(_ record: ConnectionRecord, _ verdict: ConnectionRecord.Verdict, _ state: inout State) {
        state.leaving.insert(record.number)
        forgetClient(of: record, &state)
        switch verdict {
        case .silent: record.hangUp()
        case .tooSlow(let detail, let limit):
            let problem = Problem.overLimit(.requestTimeout, detail, limit: limit)
            record.hangUp(with: FinalResponse.bytes(problem, RequestID()))
        case .refused(let problem): record.hangUp(with: FinalResponse.bytes(problem, RequestID()))
        }
    }
}
