// SPDX-License-Identifier: Apache-2.0

internal import RealmFormats
internal import RealmHTTP
internal import RealmPlatform
internal import RealmStorage

/// A client that keeps a server busy: several threads with several connections, each with one request in progress at all times.
struct LoadClient {
    /// The TCP port of the server.
    let port: Int
    var threads = 2
    var connectionsPerThread = 8

    /// Measures the rate of GET requests.
    ///
    /// Connections use the targets in turn, each starting with another one.
    ///
    /// - Parameters:
    ///   - seconds: The duration of the measurement.
    /// - Returns: The number of successful responses per second; nil when a request failed.
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

    /// Measures the rate of requests that are made during the measurement.
    ///
    /// - Parameters:
    ///   - seconds: The duration of the measurement.
    ///   - make: Returns the bytes of the next request; all threads call it.
    /// - Returns: The number of successful responses per second; nil when a request failed.
    func requestsPerSecond(seconds: Double, _ make: @escaping @Sendable () -> [UInt8]) throws -> Double? {
        try rate(seconds) { _ in make }
    }

    /// Measures the rate of requests.
    ///
    /// - Parameters:
    ///   - seconds: The duration of the measurement.
    ///   - requests: Returns the function that makes the requests of a thread.
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

    /// Sends requests over one connection, one after the other.
    ///
    /// - Parameters:
    ///   - make: Returns the bytes of the next request.
    /// - Returns: Whether all of them succeeded.
    func requests(_ count: Int, _ make: () -> [UInt8]) throws -> Bool {
        var connection = try Connection(port)
        defer { connection.close() }
        for _ in 0..<count {
            connection.send(make())
            guard connection.receive() else { return false }
        }
        return true
    }

    /// Returns the body of one GET request; nil when it failed.
    ///
    /// - Parameter target: The request target.
    func body(of target: String) throws -> [UInt8]? {
        var connection = try Connection(port)
        defer { connection.close() }
        connection.send(Array("GET \(target) HTTP/1.1\r\nHost: 127.0.0.1:\(port)\r\n\r\n".utf8))
        return connection.receive() ? connection.lastBody : nil
    }

    /// The results of all threads of one measurement, added up.
    private struct Outcome: Sendable {
        /// The number of threads that still run.
        var running: Int
        /// The number of successful responses.
        var answered = 0
        /// Whether any request failed.
        var hasFailed = false
    }

    /// The error for a request that failed.
    private struct Failed: Error {}

    /// Runs one thread: keeps a request in progress on each of its connections.
    ///
    /// - Parameters:
    ///   - next: Returns the bytes of the next request.
    ///   - end: The monotonic time in nanoseconds after which no request is sent.
    /// - Returns: The number of successful responses.
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
