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
