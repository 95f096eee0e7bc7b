// SPDX-License-Identifier: Apache-2.0

internal import CMicrohttpd  // watching many sockets
internal import Glibc
internal import RealmPlatform
internal import RealmStorage

/// Many clients of change streams, in a separate process, because a server with as many connections needs its file descriptors
/// itself.
///
/// The process is this program, started as `RealmBenchmarks --crowd PORT`; see `ListeningCrowd`. It reads lines with a number
/// and a request target, and then `go`. It prints `ready` when every connection has received its `ready` event. Each time every
/// connection has received another event, it prints the time at which the last one arrived.
@safe final class StreamCrowd {
    /// The id of the process that acts as the clients.
    private var process: pid_t = 0
    /// The end of the pipe that leads to the standard input of the process.
    private let input: Int32
    /// The end of the pipe that comes from the standard output of the process.
    private let output: UnsafeMutablePointer<FILE>

    /// Starts the process and opens the streams.
    ///
    /// - Parameters:
    ///   - port: The TCP port of the server.
    ///   - targets: The request targets, with the number of connections that open each.
    /// - Throws: `BenchmarkError` when the process cannot be started.
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

    /// Sends a text to the process.
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

    /// Returns the next line of the process; throws `BenchmarkError` when it has ended.
    private func line() throws -> String {
        var buffer = [CChar](repeating: 0, count: 256)
        guard unsafe fgets(&buffer, Int32(buffer.count), output) != nil else {
            throw BenchmarkError.unsuitable("the clients ended")
        }
        return String(decoding: buffer.prefix { $0 != 0 && $0 != 10 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    /// Waits until all streams are open.
    ///
    /// - Throws: `BenchmarkError` when the process has ended or reports an error.
    func waitUntilReady() throws {
        let answer = try line()
        guard answer == "ready" else { throw BenchmarkError.unsuitable("the clients say '\(answer)'") }
    }

    /// Waits until every connection has received another event.
    ///
    /// - Returns: The monotonic time in nanoseconds at which the last connection received it.
    /// - Throws: `BenchmarkError` when the process has ended.
    func waitForEvent() throws -> UInt64 {
        let answer = try line()
        guard let time = UInt64(answer) else { throw BenchmarkError.unsuitable("the clients say '\(answer)'") }
        return time
    }

    /// Ends the process, and with it all connections.
    func end() {
        close(input)
        kill(process, SIGKILL)
        var status: Int32 = 0
        unsafe waitpid(process, &status, 0)
        unsafe fclose(output)
    }
}
