// SPDX-License-Identifier: Apache-2.0

internal import Glibc

/// A client of server-sent events: one request, and its events as they come.
package final class EventClient {
    /// What came between two empty lines.
    package struct Event: Sendable {
        package var name = ""
        package var id: String?
        package var data = ""
        /// Lines that begin with a colon.
        package var comments: [String] = []
        package var retry: String?

        package var json: ParsedJSON { (try? ParsedJSON(parsing: Array(data.utf8))) ?? .null }
    }

    package struct Failure: Error, CustomStringConvertible {
        package let description: String

        package init(description: String) { self.description = description }
    }

    private let descriptor: Int32
    private var received: [UInt8] = []
    /// The body without its chunks.
    private var body: [UInt8] = []
    private var scanned = 0
    private var hasEnded = false
    package private(set) var status = 0
    package private(set) var head = ""
    /// The id that came last.
    package private(set) var lastID: String?

    /// Sends the request and reads the head of the answer.
    package init(
        port: Int, _ target: String, headers: [(String, String)] = [], timeoutSeconds: Int = 30, receiveBuffer: Int32? = nil
    ) throws {
        descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        if var size = receiveBuffer {
            unsafe setsockopt(descriptor, SOL_SOCKET, SO_RCVBUF, &size, socklen_t(MemoryLayout<Int32>.size))
        }
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = in_port_t(UInt16(port)).bigEndian
        address.sin_addr.s_addr = in_addr_t(0x7f00_0001).bigEndian
        var timeout = timeval(tv_sec: timeoutSeconds, tv_usec: 0)
        unsafe setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &timeout, socklen_t(MemoryLayout<timeval>.size))
        let failure = unsafe withUnsafePointer(to: &address) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                unsafe connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        guard failure == 0 else { throw Failure(description: "cannot connect: errno \(errno)") }
        var text = "GET \(target) HTTP/1.1\r\nHost: 127.0.0.1:\(port)\r\nAccept: text/event-stream\r\n"
        for (name, value) in headers { text += "\(name): \(value)\r\n" }
        let bytes = Array((text + "\r\n").utf8)
        guard unsafe Glibc.send(descriptor, bytes, bytes.count, Int32(MSG_NOSIGNAL)) == bytes.count else {
            throw Failure(description: "cannot send: errno \(errno)")
        }
        try readHead()
    }

    deinit { close(descriptor) }

    /// Hears nothing any more and says nothing, not even that it got something: as a client whose network is gone. False where
    /// that is not possible.
    package func becomeDeaf() -> Bool {
        // A filter of one instruction, which lets nothing of a packet through.
        let (attachFilter, returnNothing) = (Int32(26), UInt64(6))
        return unsafe withUnsafePointer(to: returnNothing) { filter in
            var program = unsafe (count: UInt64(1), filter: filter)
            return unsafe setsockopt(
                descriptor, SOL_SOCKET, attachFilter, &program, socklen_t(MemoryLayout.size(ofValue: program))) == 0
        }
    }

    private func readHead() throws {
        let end = Array("\r\n\r\n".utf8)
        while true {
            if let range = received.firstRange(of: end) {
                head = String(decoding: received[..<range.lowerBound], as: UTF8.self)
                received.removeFirst(range.upperBound)
                status = Int(head.split(separator: " ").dropFirst().first ?? "") ?? 0
                return
            }
            guard try receive() else { throw Failure(description: "the connection ended before the head was there") }
        }
    }

    package func header(_ name: String) -> String? {
        for line in head.split(separator: "\r\n").dropFirst() {
            guard let colon = line.firstIndex(of: ":") else { continue }
            if line[..<colon].lowercased() == name.lowercased() {
                return String(line[line.index(after: colon)...].drop { $0 == " " })
            }
        }
        return nil
    }

    /// The next event or comment; nil when the stream has ended.
    package func next() throws -> Event? {
        while true {
            if let end = gap() {
                let text = String(decoding: body[..<end], as: UTF8.self)
                body.removeFirst(end + 2)
                scanned = 0
                let event = EventClient.parse(text)
                if let id = event.id { lastID = id }
                return event
            }
            guard !hasEnded else { return nil }
            try readChunk()
        }
    }

    /// Where the next empty line is; what was looked through before is not looked through again.
    private func gap() -> Int? {
        let start = max(0, scanned - 1)
        let found = unsafe body.withUnsafeBufferPointer { bytes -> Int? in
            guard bytes.count - start > 1 else { return nil }
            for index in start..<bytes.count - 1 where unsafe bytes[index] == 0x0a && bytes[index + 1] == 0x0a { return index }
            return nil
        }
        scanned = body.count
        return found
    }

    /// The next event of this name, or the end of the stream. Comments are passed over, other events are not.
    package func next(_ name: String) throws -> Event {
        while let event = try next() {
            if event.name.isEmpty { continue }
            guard event.name == name else { throw Failure(description: "\(event.name) instead of \(name): \(event.data)") }
            return event
        }
        throw Failure(description: "the stream ended without \(name)")
    }

    private static func parse(_ text: String) -> Event {
        var event = Event()
        for line in text.split(separator: "\n", omittingEmptySubsequences: true) {
            if line.hasPrefix(":") {
                event.comments.append(String(line.dropFirst().drop { $0 == " " }))
            } else if line.hasPrefix("event: ") {
                event.name = String(line.dropFirst(7))
            } else if line.hasPrefix("id: ") {
                event.id = String(line.dropFirst(4))
            } else if line.hasPrefix("data: ") {
                event.data += line.dropFirst(6)
            } else if line.hasPrefix("retry: ") {
                event.retry = String(line.dropFirst(7))
            }
        }
        return event
    }

    private func readChunk() throws {
        var lineEnd = received.firstRange(of: [0x0d, 0x0a])
        while lineEnd == nil {
            guard try receive() else {
                hasEnded = true
                return
            }
            lineEnd = received.firstRange(of: [0x0d, 0x0a])
        }
        guard let lineEnd, let size = Int(String(decoding: received[..<lineEnd.lowerBound], as: UTF8.self), radix: 16) else {
            throw Failure(description: "no chunk size: \(String(decoding: received.prefix(64), as: UTF8.self))")
        }
        received.removeFirst(lineEnd.upperBound)
        while received.count < size + 2 {
            guard try receive() else {
                hasEnded = true
                return
            }
        }
        body += received.prefix(size)
        received.removeFirst(size + 2)
        if size == 0 { hasEnded = true }
    }

    private func receive() throws -> Bool {
        var buffer = [UInt8](repeating: 0, count: 64 << 10)
        let count = unsafe recv(descriptor, &buffer, buffer.count, 0)
        if count < 0 {
            if errno == ECONNRESET { return false }
            throw Failure(description: errno == EAGAIN ? "nothing came in time" : "cannot receive: errno \(errno)")
        }
        received += buffer[..<count]
        return count > 0
    }
}
