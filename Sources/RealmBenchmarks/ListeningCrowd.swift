// SPDX-License-Identifier: Apache-2.0

internal import CMicrohttpd  // watching many sockets
internal import Glibc

/// The other side of `StreamCrowd`.
struct ListeningCrowd {
    fileprivate struct Listener {
        let descriptor: Int32
        var isReady = false
        var events = 0
        var endsWithNewline = false
    }

    private var listeners: [Listener] = []
    private let watch = realm_rest_watch_new()
    private let port: Int
    private var waiting = 0
    private var round = 0

    init(port: Int) { self.port = port }

    /// Opens the streams that lines of standard input name, until a line says `go`, and then reads events.
    static func run(_ port: Int) throws {
        var crowd = ListeningCrowd(port: port)
        while let line = readLine(), line != "go" {
            let parts = line.split(separator: " ", maxSplits: 1)
            guard parts.count == 2, let count = Int(parts[0]) else { continue }
            for _ in 0..<count { try crowd.open(String(parts[1])) }
        }
        try crowd.listen()
    }

    private mutating func open(_ target: String) throws {
        let request = Array("GET \(target) HTTP/1.1\r\nHost: 127.0.0.1:\(port)\r\nAccept: text/event-stream\r\n\r\n".utf8)
        let descriptor = try Connection.open(port)
        guard unsafe Glibc.send(descriptor, request, request.count, Int32(MSG_NOSIGNAL)) == request.count else {
            throw BenchmarkError.unsuitable("a client is refused")
        }
        _ = realm_rest_watch_add_readable(watch, descriptor, UInt64(listeners.count))
        listeners.append(Listener(descriptor: descriptor))
    }

    private mutating func listen() throws {
        var numbers = [UInt64](repeating: 0, count: Int(realm_rest_watch_limit))
        var buffer = [UInt8](repeating: 0, count: 64 << 10)
        waiting = listeners.count
        while true {
            let count = unsafe realm_rest_watch_wait(watch, &numbers, -1)
            for number in numbers.prefix(Int(max(0, count))) { try take(Int(number), &buffer) }
        }
    }

    private mutating func take(_ index: Int, _ buffer: inout [UInt8]) throws {
        let count = unsafe recv(listeners[index].descriptor, &buffer, buffer.count, 0)
        // The server closed the connection, so the process ends, which the parent sees.
        guard count > 0 else { exit(0) }
        if listeners[index].isReady {
            let before = listeners[index].events
            listeners[index].count(buffer[..<count])
            if before <= round, listeners[index].events > round { arrive() }
        } else if buffer[..<count].starts(with: Array("HTTP/1.1 4".utf8)) {
            throw BenchmarkError.unsuitable("the server refuses: " + String(decoding: buffer[..<count], as: UTF8.self))
        } else if ListeningCrowd.isReadyEvent(buffer[..<count]) {
            listeners[index].isReady = true
            waiting -= 1
            if waiting == 0 { begin("ready") }
        }
    }

    private mutating func arrive() {
        waiting -= 1
        guard waiting == 0 else { return }
        let time = Harness.now()
        round += 1
        begin(String(time))
    }

    private mutating func begin(_ text: String) {
        waiting = listeners.count { $0.events <= round }
        let line = Array((text + "\n").utf8)
        _ = unsafe write(STDOUT_FILENO, line, line.count)
    }

    /// Small pieces of a stream come whole.
    private static func isReadyEvent(_ bytes: ArraySlice<UInt8>) -> Bool {
        bytes.firstRange(of: Array("event: ready".utf8)) != nil
    }
}

extension ListeningCrowd.Listener {
    /// Events end with an empty line.
    fileprivate mutating func count(_ bytes: ArraySlice<UInt8>) {
        for byte in bytes {
            let isNewline = byte == 10
            if isNewline, endsWithNewline { events += 1 }
            endsWithNewline = isNewline && !endsWithNewline
        }
    }
}
