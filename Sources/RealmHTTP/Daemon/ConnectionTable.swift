// SPDX-License-Identifier: Apache-2.0

internal import RealmStorage

/// All open connections: their number, their limits, and the watch over slow senders.
final class ConnectionTable: Sendable {
    private struct State {
        var next = 0
        var records: [Int: ConnectionRecord] = [:]
        var perAddress: [String: Int] = [:]
    }

    private let limits: Limits
    private let state = RankedMutex(.leaf, State())
    private let watchEnds = Monitor(false)

    init(_ limits: Limits) { self.limits = limits }

    var count: Int { state.withLock { $0.records.count } }

    func add(descriptor: Int32, address: String) -> ConnectionRecord {
        state.withLock { state in
            state.next += 1
            let sameAddress = state.perAddress[address, default: 0] + 1
            state.perAddress[address] = sameAddress
            let excess: ConnectionRecord.Excess? =
                state.records.count >= limits.connections
                ? .total : !address.isEmpty && sameAddress > limits.connectionsPerAddress ? .perAddress : nil
            let record = ConnectionRecord(number: state.next, descriptor: descriptor, address: address, excess: excess)
            state.records[state.next] = record
            return record
        }
    }

    /// Forgets a connection; its socket may be closed as soon as this returns.
    func remove(_ record: ConnectionRecord) {
        state.withLock { state in
            state.records[record.number] = nil
            let left = state.perAddress[record.address, default: 1] - 1
            state.perAddress[record.address] = left > 0 ? left : nil
        }
    }

    func startWatch() {
        Threads.spawn("watch", stackBytes: 512 << 10) { [self] in
            while watchEnds.wait(until: Instant.now().adding(seconds: 1), { $0 ? true : nil }) == nil { hangUpOverdue() }
        }
    }

    func stopWatch() { watchEnds.broadcast { $0 = true } }

    private func hangUpOverdue() {
        let now = Instant.now()
        // The lock is held so that no socket is closed, and its number used again, in the middle of this.
        state.withLock { state in
            for record in state.records.values where record.isOverdue(now, requestSeconds: limits.requestSeconds) {
                record.hangUp(with: ConnectionTable.timeoutAnswer(limits.requestSeconds))
            }
        }
    }

    private static func timeoutAnswer(_ seconds: Int) -> [UInt8] {
        let problem = Problem(.requestTimeout, "the request was not complete after \(seconds) seconds")
        var writer = JSONWriter()
        problem.with("limit", .integer(Int64(seconds))).write(to: &writer, requestID: RequestID())
        let head = "HTTP/1.1 408 Request Timeout\r\nContent-Type: application/problem+json\r\nCache-Control: no-store\r\n"
            + OriginPolicy.ruleLines + "Connection: close\r\nContent-Length: \(writer.buffer.count)\r\n\r\n"
        return Array(head.utf8) + writer.buffer.array
    }
}
