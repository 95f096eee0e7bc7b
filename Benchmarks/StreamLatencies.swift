// SPDX-License-Identifier: Apache-2.0

internal import CMicrohttpd  // its headers are where the compiler finds `MSG_NOSIGNAL`
internal import Glibc
internal import MicroHTTP
internal import RealmEngine
internal import RealmFormats
internal import RealmHTTP
internal import RealmHosting
internal import RealmPlatform
internal import RealmStorage

/// Measures the time from the response of a write until its event arrives at another client, with both over HTTP.
struct StreamLatencies {
    /// The number of measured commits, after ten that warm up.
    private static let commits = 200

    /// The path of the measured file, of which a copy is written.
    private let path: String
    /// The folder for copies and new files.
    private let folder: ScratchFolder
    /// The text that the names of measurements must contain; nil measures all.
    private let only: String?

    /// Prepares the benchmark.
    ///
    /// - Parameters:
    ///   - path: The measured file.
    ///   - folder: The folder for copies and new files.
    ///   - only: The text that the names of measurements must contain; nil measures all.
    init(_ path: String, _ folder: ScratchFolder, only: String?) {
        self.path = path
        self.folder = folder
        self.only = only
    }

    /// Measures streams of several results, with small and large files.
    ///
    /// - Parameter report: Receives the results.
    func run(_ report: inout Report) throws {
        report.begin("over HTTP, from the answer of a write to the event at another client", comparedWith: "")
        let small = "\(folder.path)/streamed.realm"
        try WrittenRealm(emptyAt: small, seed: 41).database.close()
        try measure("all objects, small file", small, query: "", &report)
        let large = try folder.copy(of: path, as: "streamed-large")
        try measure("age == 77, large file", large, query: "&where=age%20%3D%3D%2077", &report)
        try measure("all objects, large file", large, query: "", &report)
    }

    /// Measures one stream: the median and the 99th percentile of its latencies.
    ///
    /// - Parameters:
    ///   - path: The file that is served and written.
    ///   - query: The rest of the query of the stream's URL.
    ///   - report: Receives the result.
    private func measure(_ name: String, _ path: String, query: String, _ report: inout Report) throws {
        guard only.map({ name.contains($0) }) ?? true else { return }
        var options = ServerOptions()
        options.port = 0
        options.paths = [path]
        options.logFormat = nil
        let server = try RealmServer(options)
        try server.start()
        defer { server.stop(isUrgent: { true }) }
        let port = server.daemon.socket.port
        let realm = path.split(separator: "/").last.map { String($0.dropLast(6)) } ?? ""
        let listener = try Listener(port, "/v1/realms/\(realm)/changes?class=Item&initial=false" + query)
        defer { listener.close() }
        guard listener.waitForEvent() != 0 else { throw BenchmarkError.unsuitable("there is no stream") }
        var connection = try Connection(port)
        defer { connection.close() }
        var times: [Double] = []
        for number in 0..<(Self.commits + 10) {
            connection.send(post(realm, port, number + report.rowCount * 1000))
            guard connection.receive() else { throw BenchmarkError.unsuitable("a write is refused") }
            let answered = Harness.now()
            let heard = listener.waitForEvent()
            if number >= 10 { times.append(max(0, Double(heard) - Double(answered)) / 1e6) }
        }
        report.add(
            name, .milliseconds, median(times),
            note: "99 of 100 within \(fixed(times.sorted()[times.count * 99 / 100], decimals: 3, width: 0)) ms")
    }

    /// Returns the bytes of a request that creates an object.
    ///
    /// - Parameters:
    ///   - port: The TCP port of the server.
    ///   - number: Determines the key and the values of the object.
    private func post(_ realm: String, _ port: Int, _ number: Int) -> [UInt8] {
        var rows = ItemRows(UInt64(number))
        let body = rows.json(id: 1_900_000_000 + number, age: 77)
        return Array(
            ("POST /v1/realms/\(realm)/objects/Item HTTP/1.1\r\nHost: 127.0.0.1:\(port)\r\nContent-Type: application/json\r\n"
                + "Content-Length: \(body.utf8.count)\r\n\r\n\(body)").utf8)
    }

    /// Reads a stream on a separate thread, and records when events arrive.
    private final class Listener: Sendable {
        /// The times of the events that have arrived; the monitor guards them.
        private struct State {
            /// The monotonic times of all events in nanoseconds.
            var times: [UInt64] = []
            /// The number of events that were waited for.
            var taken = 0
        }

        /// The socket of the connection on which the stream arrives.
        private let descriptor: Int32
        /// The times, recorded by the thread of the listener.
        private let state = Monitor(State())

        /// Opens a stream, and starts the thread that reads it.
        ///
        /// - Parameters:
        ///   - port: The TCP port of the server.
        ///   - target: The request target of the stream.
        /// - Throws: `BenchmarkError` when no server listens.
        init(_ port: Int, _ target: String) throws {
            let descriptor = try Connection.open(port)
            self.descriptor = descriptor
            let request = Array("GET \(target) HTTP/1.1\r\nHost: 127.0.0.1\r\nAccept: text/event-stream\r\n\r\n".utf8)
            _ = unsafe send(descriptor, request, request.count, Int32(MSG_NOSIGNAL))
            try? Threads.start("listener") { [state] in
                var buffer = [UInt8](repeating: 0, count: 64 << 10)
                while true {
                    let count = unsafe recv(descriptor, &buffer, buffer.count, 0)
                    let time = Harness.now()
                    guard count > 0 else { return }
                    // Each event has an id, and so has `ready`, the first event of all.
                    let events = Listener.count(Array("\nid: ".utf8), in: buffer[..<count])
                    if events > 0 { state.broadcast { $0.times += Array(repeating: time, count: events) } }
                }
            }
        }

        /// Returns the number of occurrences of a sequence of bytes.
        private static func count(_ mark: [UInt8], in bytes: ArraySlice<UInt8>) -> Int {
            var rest = bytes
            var count = 0
            while let range = rest.firstRange(of: mark) {
                count += 1
                rest = rest[range.upperBound...]
            }
            return count
        }

        /// Waits for the next event; returns its monotonic time in nanoseconds.
        func waitForEvent() -> UInt64 {
            state.wait { state in
                guard state.taken < state.times.count else { return nil }
                state.taken += 1
                return state.times[state.taken - 1]
            } ?? 0
        }

        /// Closes the connection, which ends the thread.
        func close() { shutdown(descriptor, Int32(SHUT_RDWR)) }
    }
}
