// SPDX-License-Identifier: Apache-2.0

internal import CMicrohttpd  // watching many sockets
internal import Glibc
internal import RealmPlatform
internal import RealmStorage

/// The process that acts as many clients of change streams; the counterpart of `StreamCrowd`.
///
/// It opens the connections and waits for events on one thread. Its messages to the parent
/// process are lines on standard output.
struct ListeningCrowd {
    /// One client with its connection and the events it has received.
    fileprivate struct Listener {
        /// The socket of its connection.
        let descriptor: Int32
        /// Whether it has received the event `ready`.
        var isReady = false
        /// The number of events received after `ready`.
        var events = 0
        /// Whether the bytes received last ended with a newline, which may be the first of an empty line.
        var endsWithNewline = false
    }

    /// The clients by their number.
    private var listeners: [Listener] = []
    /// The poll set of all sockets.
    private let watch = realm_rest_watch_new()
    /// The TCP port of the server.
    private let port: Int
    /// The number of clients that the present round waits for.
    private var waiting = 0
    /// The number of completed rounds.
    private var round = 0

    /// Makes a process without clients for a server on this port.
    init(port: Int) { self.port = port }

    /// Opens the streams that the lines of standard input name, until a line is `go`, and then reads events.
    ///
    /// - Parameter port: The TCP port of the server.
    /// - Throws: `BenchmarkError` when a connection is rejected. It does not return otherwise.
    static func run(_ port: Int) throws {
        var crowd = ListeningCrowd(port: port)
        while let line = readLine(), line != "go" {
            let parts = line.split(separator: " ", maxSplits: 1)
            guard parts.count == 2, let count = Int(parts[0]) else { continue }
            for _ in 0..<count { try crowd.open(String(parts[1])) }
        }
        try crowd.listen()
    }

    /// Opens one stream.
    ///
    /// - Parameter target: The request target of the stream.
    private mutating func open(_ target: String) throws {
        let request = Array("GET \(target) HTTP/1.1\r\nHost: 127.0.0.1:\(port)\r\nAccept: text/event-stream\r\n\r\n".utf8)
        let descriptor = try Connection.open(port)
        guard unsafe Glibc.send(descriptor, request, request.count, Int32(MSG_NOSIGNAL)) == request.count else {
            throw BenchmarkError.unsuitable("a client is refused")
        }
        _ = realm_rest_watch_add_readable(watch, descriptor, UInt64(listeners.count))
        listeners.append(Listener(descriptor: descriptor))
    }

    /// Reads from all streams until a connection is closed.
    private mutating func listen() throws {
        var events = [realm_rest_watch_event](repeating: realm_rest_watch_event(), count: Int(realm_rest_watch_limit))
        var buffer = [UInt8](repeating: 0, count: 64 << 10)
        waiting = listeners.count
        while true {
            let count = unsafe realm_rest_watch_wait(watch, &events, -1)
            for event in events.prefix(Int(max(0, count))) { try take(Int(event.number), &buffer) }
        }
    }

    /// Reads the available bytes of one client.
    ///
    /// When all clients have received another event, the round ends.
    ///
    /// - Parameters:
    ///   - index: The number of the client.
    ///   - buffer: Memory for the bytes.
    private mutating func take(_ index: Int, _ buffer: inout [UInt8]) throws {
        let count = unsafe recv(listeners[index].descriptor, &buffer, buffer.count, 0)
        // When the server closes a connection, this process ends, which the parent process
        // notices.
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

    /// Counts a client that has received the event of the round, and reports the time when it is the last one.
    private mutating func arrive() {
        waiting -= 1
        guard waiting == 0 else { return }
        let time = Harness.now()
        round += 1
        begin(String(time))
    }

    /// Prints a line for the parent process, and starts the next round.
    ///
    /// - Parameter text: The line.
    private mutating func begin(_ text: String) {
        waiting = listeners.count { $0.events <= round }
        let line = Array((text + "\n").utf8)
        _ = unsafe write(STDOUT_FILENO, line, line.count)
    }

    /// Returns whether bytes contain the event `ready`. Such a small piece of a stream arrives undivided.
    private static func isReadyEvent(_ bytes: ArraySlice<UInt8>) -> Bool {
        bytes.firstRange(of: Array("event: ready".utf8)) != nil
    }
}

extension ListeningCrowd.Listener {
    /// Counts the events in received bytes; each event ends with an empty line.
    fileprivate mutating func count(_ bytes: ArraySlice<UInt8>) {
        for byte in bytes {
            let isNewline = byte == 10
            if isNewline, endsWithNewline { events += 1 }
            endsWithNewline = isNewline && !endsWithNewline
        }
    }
}
