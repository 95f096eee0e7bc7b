// SPDX-License-Identifier: Apache-2.0

internal import CMicrohttpd  // its headers are where the compiler finds `timeval`
internal import Glibc

/// Follows a stream of events for the command line: one connection after another, each from where the last one ended.
package final class EventFollower {
    /// One event of a stream.
    package struct Event {
        package var name = ""
        package var id: String?
        package var data = ""
    }

    /// A sentence for the command line.
    package struct Failure: Error, CustomStringConvertible {
        package let description: String
        /// Whether it makes sense to try again.
        package let isPassing: Bool
    }

    private let host: String
    private let port: String
    private let target: String
    /// The last id that was told.
    package private(set) var lastID: String?
    private var descriptor: Int32 = -1
    private var received: [UInt8] = []
    private var isChunked = false

    /// Silence after which a connection counts as broken: several signs of life have not come.
    private static let patienceSeconds = 200

    /// `http://host:port/path?query`
    package init(url: String, from position: String?) throws(Failure) {
        let prefix = "http://"
        guard url.hasPrefix(prefix) else { throw Failure(description: "the URL has to begin with http://", isPassing: false) }
        let rest = url.dropFirst(prefix.count)
        let authority = rest.prefix { $0 != "/" && $0 != "?" }
        let path = rest.dropFirst(authority.count)
        target = path.hasPrefix("/") ? String(path) : "/" + path
        // A colon inside brackets belongs to an IPv6 address.
        let colon = authority.lastIndex(of: ":").flatMap { authority[$0...].contains("]") ? nil : $0 }
        host = String(authority[..<(colon ?? authority.endIndex)].filter { $0 != "[" && $0 != "]" })
        port = colon.map { String(authority[authority.index(after: $0)...]) } ?? "80"
        guard !host.isEmpty, UInt16(port) != nil, !target.utf8.contains(where: { $0 <= 0x20 }) else {
            throw Failure(description: "'\(url)' is no URL of a server", isPassing: false)
        }
        lastID = position
    }

    /// Connects and calls `handle` for each event until it returns false or the stream ends.
    package func follow(_ handle: (Event) throws -> Bool) throws {
        try connect()
        defer { close(descriptor) }
        try send(request)
        try readHead()
        var body: [UInt8] = []
        while let chunk = try readChunk() {
            body += chunk
            while let range = body.firstRange(of: [0x0a, 0x0a]) {
                let event = EventFollower.parse(String(decoding: body[..<range.lowerBound], as: UTF8.self))
                body.removeFirst(range.upperBound)
                if let id = event.id { lastID = id }
                guard try handle(event) else { return }
            }
        }
    }

    private var request: String {
        var text = "GET \(target) HTTP/1.1\r\nHost: \(host):\(port)\r\nAccept: text/event-stream\r\n"
        if let lastID { text += "Last-Event-ID: \(lastID)\r\n" }
        return text + "\r\n"
    }

    private static func parse(_ text: String) -> Event {
        var event = Event()
        for line in text.split(separator: "\n") {
            guard let colon = line.firstIndex(of: ":"), colon != line.startIndex else { continue }
            let value = line[line.index(after: colon)...].drop { $0 == " " }
            switch line[..<colon] {
            case "event": event.name = String(value)
            case "id": event.id = String(value)
            case "data": event.data += value
            default: break
            }
        }
        return event
    }

    // MARK: - Connection

    private func connect() throws(Failure) {
        var hints = unsafe addrinfo()
        unsafe hints.ai_family = AF_UNSPEC
        unsafe hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
        var list: UnsafeMutablePointer<addrinfo>?
        guard unsafe getaddrinfo(host, port, &hints, &list) == 0 else {
            throw Failure(description: "there is no host '\(host)'", isPassing: false)
        }
        defer { unsafe freeaddrinfo(list) }
        var candidate = unsafe list
        while let entry = unsafe candidate {
            descriptor = unsafe socket(entry.pointee.ai_family, entry.pointee.ai_socktype, entry.pointee.ai_protocol)
            var limit = timeval(tv_sec: EventFollower.patienceSeconds, tv_usec: 0)
            unsafe setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
            if unsafe Glibc.connect(descriptor, entry.pointee.ai_addr, entry.pointee.ai_addrlen) == 0 {
                received = []
                return
            }
            close(descriptor)
            unsafe candidate = unsafe entry.pointee.ai_next
        }
        throw Failure(description: "nobody answers at \(host):\(port)", isPassing: true)
    }

    private func send(_ text: String) throws(Failure) {
        let bytes = Array(text.utf8)
        guard unsafe Glibc.send(descriptor, bytes, bytes.count, Int32(MSG_NOSIGNAL)) == bytes.count else {
            throw Failure(description: "the request could not be sent", isPassing: true)
        }
    }

    private func readHead() throws(Failure) {
        var end = received.firstRange(of: Array("\r\n\r\n".utf8))
        while end == nil {
            guard receive() else { throw Failure(description: "the server closed the connection", isPassing: true) }
            end = received.firstRange(of: Array("\r\n\r\n".utf8))
        }
        guard let end else { return }
        let head = String(decoding: received[..<end.lowerBound], as: UTF8.self)
        received.removeFirst(end.upperBound)
        let lines = head.split(separator: "\r\n")
        isChunked = lines.contains { $0.lowercased() == "transfer-encoding: chunked" }
        let status = Int(head.split(separator: " ").dropFirst().first ?? "") ?? 0
        guard status == 200, lines.contains(where: { $0.lowercased().hasPrefix("content-type: text/event-stream") }) else {
            throw Failure(
                description: "\(lines.first ?? ""): \(try problem(lines))",
                isPassing: status == 503 || status == 429 || status == 423)
        }
    }

    /// The document of a problem. The connection may be kept alive behind it, so its length counts.
    private func problem(_ lines: [Substring]) throws(Failure) -> String {
        var document: [UInt8] = []
        if isChunked {
            while document.count < EventFollower.problemBytes, let chunk = try readChunk() { document += chunk }
        } else {
            let length = lines.lazy.filter { $0.lowercased().hasPrefix("content-length:") }
                .compactMap { Int($0.dropFirst("content-length:".count).filter { $0 != " " }) }.first
            let end = min(length ?? EventFollower.problemBytes, EventFollower.problemBytes)
            while received.count < end, receive() {}
            document = Array(received.prefix(end))
        }
        return String(decoding: document, as: UTF8.self)
    }

    private static let problemBytes = 64 << 10

    /// The next piece of the body; nil at its end.
    private func readChunk() throws(Failure) -> [UInt8]? {
        guard isChunked else {
            if received.isEmpty, !receive() { return nil }
            defer { received = [] }
            return received
        }
        var lineEnd = received.firstRange(of: [0x0d, 0x0a])
        while lineEnd == nil {
            guard receive() else { return nil }
            lineEnd = received.firstRange(of: [0x0d, 0x0a])
        }
        guard let lineEnd, let size = Int(String(decoding: received[..<lineEnd.lowerBound], as: UTF8.self), radix: 16),
            (0...(1 << 30)).contains(size)
        else { throw Failure(description: "the answer has no chunks", isPassing: false) }
        received.removeFirst(lineEnd.upperBound)
        while received.count < size + 2 {
            guard receive() else { return nil }
        }
        defer { received.removeFirst(size + 2) }
        return size == 0 ? nil : Array(received.prefix(size))
    }

    /// False at the end of the connection, or when nothing came for long.
    private func receive() -> Bool {
        var buffer = [UInt8](repeating: 0, count: 64 << 10)
        let count = unsafe recv(descriptor, &buffer, buffer.count, 0)
        guard count > 0 else { return false }
        received += buffer[..<count]
        return true
    }
}
