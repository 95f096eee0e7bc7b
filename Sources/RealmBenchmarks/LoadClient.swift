// SPDX-License-Identifier: Apache-2.0

internal import CMicrohttpd  // its headers are where the compiler finds what sockets need
internal import Glibc
internal import RealmHTTP
internal import RealmStorage

/// A client that keeps a server busy: some threads, each with some connections that always have one request under way.
struct LoadClient {
    let port: Int
    var threads = 2
    var connectionsPerThread = 8

    /// Requests answered per second with status 200 over `seconds`; nil when some were not.
    ///
    /// Connections take the requests in turn, each beginning somewhere else.
    func requestsPerSecond(_ targets: [String], seconds: Double) throws -> Double? {
        let requests = targets.map { Array("GET \($0) HTTP/1.1\r\nHost: 127.0.0.1:\(port)\r\n\r\n".utf8) }
        return try rate(seconds) { thread in
            var next = thread * 31
            return {
                defer { next += 1 }
                return requests[next % requests.count]
            }
        }
    }

    /// As before with requests that `make` makes, which all threads call.
    func requestsPerSecond(seconds: Double, _ make: @escaping @Sendable () -> [UInt8]) throws -> Double? {
        try rate(seconds) { _ in make }
    }

    private func rate(_ seconds: Double, _ requests: @escaping @Sendable (Int) -> () -> [UInt8]) throws -> Double? {
        let outcome = Monitor(Outcome(running: threads))
        let begin = Harness.now()
        let end = begin + UInt64(seconds * 1e9)
        for thread in 0..<threads {
            try? Threads.start("load") { [self] in
                let answered = try? run(requests(thread), until: end)
                outcome.broadcast { state in
                    state.running -= 1
                    state.answered += answered ?? 0
                    state.hasFailed = state.hasFailed || answered == nil
                }
            }
        }
        let total = outcome.wait { $0.running == 0 ? $0 : nil }
        guard let total, !total.hasFailed else { return nil }
        return Double(total.answered) / (Double(Harness.now() - begin) / 1e9)
    }

    /// Sends `count` requests over one connection, one after the other; false when one failed.
    func requests(_ count: Int, _ make: () -> [UInt8]) throws -> Bool {
        var connection = try Connection(port)
        defer { connection.close() }
        for _ in 0..<count {
            connection.send(make())
            guard connection.receive() else { return false }
        }
        return true
    }

    /// The body of one answer with status 200, or nil.
    func body(of target: String) throws -> [UInt8]? {
        var connection = try Connection(port)
        defer { connection.close() }
        connection.send(Array("GET \(target) HTTP/1.1\r\nHost: 127.0.0.1:\(port)\r\n\r\n".utf8))
        return connection.receive() ? connection.lastBody : nil
    }

    private struct Outcome: Sendable {
        var running: Int
        var answered = 0
        var hasFailed = false
    }

    private struct Failed: Error {}

    private func run(_ next: () -> [UInt8], until end: UInt64) throws -> Int {
        var connections = try (0..<connectionsPerThread).map { _ in try Connection(port) }
        defer { for index in connections.indices { connections[index].close() } }
        var answered = 0
        for index in connections.indices { connections[index].send(next()) }
        while true {
            let isOver = Harness.now() >= end
            for index in connections.indices {
                guard connections[index].receive() else { throw Failed() }
                answered += 1
                if !isOver { connections[index].send(next()) }
            }
            if isOver { return answered }
        }
    }
}
