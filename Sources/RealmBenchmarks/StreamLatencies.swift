// SPDX-License-Identifier: Apache-2.0

internal import CMicrohttpd  // its headers are where the compiler finds `MSG_NOSIGNAL`
internal import Glibc
internal import RealmEngine
internal import RealmHTTP
internal import RealmStorage

/// A client that writes over HTTP and another one that listens to a stream: how long after the answer of a write its event
/// is there.
struct StreamLatencies {
    private static let commits = 200

    private let path: String
    private let folder: ScratchFolder
    private let only: String?

    init(_ path: String, _ folder: ScratchFolder, only: String?) {
        self.path = path
        self.folder = folder
        self.only = only
    }

    func run(_ report: inout Report) throws {
        report.begin("over HTTP, from the answer of a write to the event at another client", comparedWith: "")
        let small = "\(folder.path)/streamed.realm"
        try WrittenRealm(emptyAt: small, seed: 41).database.close()
        try measure("all objects, small file", small, query: "", &report)
        let large = try folder.copy(of: path, as: "streamed-large")
        try measure("age == 77, large file", large, query: "&where=age%20%3D%3D%2077", &report)
        try measure("all objects, large file", large, query: "", &report)
    }

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
            name, .milliseconds, times.sorted()[times.count / 2],
            note: "99 of 100 within \(fixed(times.sorted()[times.count * 99 / 100], decimals: 3, width: 0)) ms")
    }

    private func post(_ realm: String, _ port: Int, _ number: Int) -> [UInt8] {
        var rows = ItemRows(UInt64(number))
        let body = rows.json(id: 1_900_000_000 + number, age: 77)
        return Array(
            ("POST /v1/realms/\(realm)/objects/Item HTTP/1.1\r\nHost: 127.0.0.1:\(port)\r\nContent-Type: application/json\r\n"
                + "Content-Length: \(body.utf8.count)\r\n\r\n\(body)").utf8)
    }

    /// A thread that reads a stream and notes when events came.
    private final class Listener: Sendable {
        private struct State {
            var times: [UInt64] = []
            var taken = 0
        }

        private let descriptor: Int32
        private let state = Monitor(State())

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
                    // Each has an id, and so has `ready`, the first of all.
                    let events = Listener.count(Array("\nid: ".utf8), in: buffer[..<count])
                    if events > 0 { state.broadcast { $0.times += Array(repeating: time, count: events) } }
                }
            }
        }

        private static func count(_ mark: [UInt8], in bytes: ArraySlice<UInt8>) -> Int {
            var rest = bytes
            var count = 0
            while let range = rest.firstRange(of: mark) {
                count += 1
                rest = rest[range.upperBound...]
            }
            return count
        }

        /// When the next event came.
        func waitForEvent() -> UInt64 {
            state.wait { state in
                guard state.taken < state.times.count else { return nil }
                state.taken += 1
                return state.times[state.taken - 1]
            } ?? 0
        }

        func close() { shutdown(descriptor, Int32(SHUT_RDWR)) }
    }
}
