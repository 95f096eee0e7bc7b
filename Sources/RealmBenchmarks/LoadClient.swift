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

/// One connection that waits for each answer.
struct Connection {
    private let descriptor: Int32
    private var buffer = [UInt8](repeating: 0, count: 256 << 10)
    /// Where the body of the last answer lies; only whole when it fits the buffer.
    private var bodyRange = 0..<0

    init(_ port: Int) throws { descriptor = try Connection.open(port) }

    /// A socket that is connected to a port of this machine.
    static func open(_ port: Int) throws -> Int32 {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = in_port_t(port).bigEndian
        address.sin_addr.s_addr = in_addr_t(0x7f00_0001).bigEndian
        let size = socklen_t(MemoryLayout<sockaddr_in>.size)
        let failure = unsafe withUnsafePointer(to: &address) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { unsafe connect(descriptor, $0, size) }
        }
        guard failure == 0 else { throw BenchmarkError.unsuitable("no connection to port \(port)") }
        var on: Int32 = 1
        unsafe setsockopt(descriptor, Int32(IPPROTO_TCP), TCP_NODELAY, &on, socklen_t(MemoryLayout<Int32>.size))
        return descriptor
    }

    func close() { _ = Glibc.close(descriptor) }

    var lastBody: [UInt8] { Array(buffer[bodyRange]) }

    func send(_ request: [UInt8]) {
        var sent = 0
        while sent < request.count {
            let count = unsafe request.withUnsafeBytes { bytes in
                unsafe Glibc.send(descriptor, bytes.baseAddress.map { unsafe $0 + sent }, bytes.count - sent, 0)
            }
            guard count > 0 else { return }
            sent += count
        }
    }

    /// Reads one answer to its end; false when it is no 200, 201 or 204, or the connection broke.
    mutating func receive() -> Bool {
        var filled = 0
        var head: (end: Int, length: Int?)?
        while head == nil {
            let count = read(at: filled)
            guard count > 0 else { return false }
            filled += count
            head = parseHead(filled)
            guard head != nil || filled < buffer.count else { return false }
        }
        guard let head, buffer[9] == UInt8(ascii: "2"), buffer[10] == UInt8(ascii: "0") else { return false }
        if buffer[11] == UInt8(ascii: "4") { return true }
        guard let length = head.length else { return receiveChunks(from: head.end, filled) }
        bodyRange = head.end..<min(head.end + length, buffer.count)
        var rest = length - (filled - head.end)
        while rest > 0 {
            let count = read(at: min(filled, buffer.count - (64 << 10)))
            guard count > 0 else { return false }
            filled += count
            rest -= count
        }
        return true
    }

    /// The answer ends with the chunk of no bytes. What came before is only kept as long as there is room.
    private mutating func receiveChunks(from start: Int, _ count: Int) -> Bool {
        var filled = count
        let ending = Array("0\r\n\r\n".utf8)
        while !(filled - start >= 5 && buffer[(filled - 5)..<filled].elementsEqual(ending)) {
            if filled > buffer.count - (64 << 10) {
                // Keep the last bytes, which may be part of the ending.
                for index in 0..<5 { buffer[start + index] = buffer[filled - 5 + index] }
                filled = start + 5
            }
            let count = read(at: filled)
            guard count > 0 else { return false }
            filled += count
        }
        bodyRange = start..<filled
        return true
    }

    private mutating func read(at offset: Int) -> Int {
        unsafe buffer.withUnsafeMutableBytes {
            unsafe recv(descriptor, $0.baseAddress.map { unsafe $0 + offset }, $0.count - offset, 0)
        }
    }

    /// Where the head ends and how long the body is; nil as long as the head is not whole.
    private func parseHead(_ filled: Int) -> (end: Int, length: Int?)? {
        var index = 0
        var lineStart = 0
        var length: Int?
        while index + 1 < filled {
            guard buffer[index] == 13, buffer[index + 1] == 10 else {
                index += 1
                continue
            }
            if index == lineStart { return (index + 2, length) }
            if let value = contentLength(lineStart, index) { length = value }
            index += 2
            lineStart = index
        }
        return nil
    }

    private func contentLength(_ start: Int, _ end: Int) -> Int? {
        let name: StaticString = "content-length:"
        // Most lines are something else, which is seen at once.
        let (first, ninth) = (UInt8(ascii: "c"), UInt8(ascii: "l"))
        guard end - start > name.utf8CodeUnitCount, buffer[start] | 0x20 == first, buffer[start + 8] | 0x20 == ninth
        else { return nil }
        let text = String(decoding: buffer[start..<end], as: UTF8.self)
        guard text.lowercased().hasPrefix(name.description) else { return nil }
        return Int(text.dropFirst(name.utf8CodeUnitCount).drop { $0 == " " })
    }
}
