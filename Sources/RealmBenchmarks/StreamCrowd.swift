// SPDX-License-Identifier: Apache-2.0

internal import CMicrohttpd  // watching many sockets
internal import Glibc

/// Many clients that listen, in a process of their own: a server with as many connections has no file descriptors to spare.
///
/// The process is this program, started as `RealmBenchmarks --crowd PORT`. It reads lines with targets and how often each is
/// to be opened, then `go`; says `ready` when every connection has its `ready` event; and then, each time every connection has
/// got one event more, when the last one had.
@safe final class StreamCrowd {
    private var process: pid_t = 0
    private let input: Int32
    private let output: UnsafeMutablePointer<FILE>

    /// `targets` with how many connections open each.
    init(port: Int, targets: [(target: String, count: Int)]) throws {
        var toCrowd: [Int32] = [0, 0]
        var fromCrowd: [Int32] = [0, 0]
        guard unsafe pipe(&toCrowd) == 0, unsafe pipe(&fromCrowd) == 0, let file = unsafe fdopen(fromCrowd[0], "r") else {
            throw BenchmarkError.unsuitable("no pipes")
        }
        for descriptor in toCrowd + fromCrowd { _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC) }
        input = toCrowd[1]
        unsafe output = unsafe file
        var actions = unsafe posix_spawn_file_actions_t()
        unsafe posix_spawn_file_actions_init(&actions)
        unsafe posix_spawn_file_actions_adddup2(&actions, toCrowd[0], STDIN_FILENO)
        unsafe posix_spawn_file_actions_adddup2(&actions, fromCrowd[1], STDOUT_FILENO)
        defer { unsafe posix_spawn_file_actions_destroy(&actions) }
        var arguments: [UnsafeMutablePointer<CChar>?] = unsafe ["RealmBenchmarks", "--crowd", "\(port)"].map { (text: String) in
            unsafe strdup(text)
        }
        unsafe arguments.append(nil)
        defer { for index in unsafe arguments.indices { unsafe free(arguments[index]) } }
        guard unsafe posix_spawn(&process, "/proc/self/exe", &actions, nil, &arguments, environ) == 0 else {
            throw BenchmarkError.unsuitable("the clients do not start")
        }
        close(toCrowd[0])
        close(fromCrowd[1])
        send(targets.map { "\($0.count) \($0.target)\n" }.joined() + "go\n")
    }

    private func send(_ text: String) {
        let bytes = Array(text.utf8)
        var sent = 0
        while sent < bytes.count {
            let count = unsafe bytes.withUnsafeBytes {
                unsafe write(input, $0.baseAddress.map { unsafe $0 + sent }, bytes.count - sent)
            }
            guard count > 0 else { return }
            sent += count
        }
    }

    private func line() throws -> String {
        var buffer = [CChar](repeating: 0, count: 256)
        guard unsafe fgets(&buffer, Int32(buffer.count), output) != nil else {
            throw BenchmarkError.unsuitable("the clients ended")
        }
        return String(decoding: buffer.prefix { $0 != 0 && $0 != 10 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    /// Waits until everybody listens.
    func waitUntilReady() throws {
        let answer = try line()
        guard answer == "ready" else { throw BenchmarkError.unsuitable("the clients say '\(answer)'") }
    }

    /// Waits until everybody has one event more; the monotonic time at which the last one had it, in nanoseconds.
    func waitForEvent() throws -> UInt64 {
        let answer = try line()
        guard let time = UInt64(answer) else { throw BenchmarkError.unsuitable("the clients say '\(answer)'") }
        return time
    }

    func end() {
        close(input)
        kill(process, SIGKILL)
        var status: Int32 = 0
        unsafe waitpid(process, &status, 0)
        unsafe fclose(output)
    }
}

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

    static func run(_ arguments: [String]) throws {
        guard arguments.count == 1, let port = Int(arguments[0]) else { throw BenchmarkError.unsuitable("--crowd needs a port") }
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
        // The other side hears that there is nobody any more.
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
