// SPDX-License-Identifier: Apache-2.0

internal import CMicrohttpd  // its headers make the system declarations used here visible
internal import Glibc
internal import RealmStorage

/// A client for streams of events, used by the command line. Each call of `follow` opens one
/// connection; a further call continues where the last one ended.
///
/// It speaks plain HTTP over a blocking socket, and one thread uses it.
package final class EventFollower {
    /// One event of a stream.
    package struct Event {
        /// The type of the event; empty when the stream does not state one.
        package var name = ""
        /// The id of the event, which is a position to continue from; nil when it has none.
        package var id: String?
        /// The data of the event, with its lines joined.
        package var data = ""
    }

    /// Why a connection could not be used.
    package struct Failure: Error, CustomStringConvertible {
        /// A sentence for the command line.
        package let description: String
        /// Whether a later attempt may succeed, because the cause is a broken connection or a busy
        /// server.
        package let isPassing: Bool
    }

    private let host: String
    private let port: String
    /// The request target: path and query.
    private let target: String
    /// The id of the last event that had one, or the position that the stream was begun from.
    package private(set) var lastID: String?
    /// The socket; -1 before the first connection.
    private var descriptor: Int32 = -1
    /// Bytes that were received and not consumed yet.
    private var received: [UInt8] = []
    /// Whether the response has chunks.
    private var isChunked = false

    /// After how many seconds without any byte a connection counts as broken. Servers send
    /// heartbeats at least every minute, so several have been missed by then.
    private static let patienceSeconds = 200

    /// Prepares to follow a stream. Nothing is sent before `follow`.
    ///
    /// - Parameters:
    ///   - url: The address of the stream, `http://host:port/path?query`; the port may be left out.
    ///   - position: The id of the event after which to begin; nil to begin as the server decides.
    /// - Throws: `Failure` when the URL does not have this form.
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

    /// Connects, and calls a closure for each event until it returns false or the stream ends.
    ///
    /// The calling thread waits as long as the stream lasts.
    ///
    /// - Parameter handle: Called for each event in order, on the calling thread; false ends the
    ///   connection.
    /// - Throws: `Failure` when the server cannot be reached or refuses, and what `handle` throws.
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

    /// The head of the request, with the position to continue from as `Last-Event-ID`.
    private var request: String {
        var text = "GET \(target) HTTP/1.1\r\nHost: \(host):\(port)\r\nAccept: text/event-stream\r\n"
        if let lastID { text += "Last-Event-ID: \(lastID)\r\n" }
        return text + "\r\n"
    }

    /// Reads the lines of one event. Comments, which begin with a colon, are skipped.
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

    /// Connects to the first address of the host that accepts.
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
        throw Failure(description: "no server answers at \(host):\(port)", isPassing: true)
    }

    /// Sends a text; throws when the connection does not take all of it.
    private func send(_ text: String) throws(Failure) {
        let bytes = Array(text.utf8)
        guard unsafe Glibc.send(descriptor, bytes, bytes.count, Int32(MSG_NOSIGNAL)) == bytes.count else {
            throw Failure(description: "the request could not be sent", isPassing: true)
        }
    }

    /// Reads the header section of the response. Throws unless it begins a stream of events.
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
        isChunked = lines.contains { $0.lowercasedASCII == "transfer-encoding: chunked" }
        let status = Int(head.split(separator: " ").dropFirst().first ?? "") ?? 0
        guard status == 200, lines.contains(where: { $0.lowercasedASCII.hasPrefix("content-type: text/event-stream") }) else {
            throw Failure(
                description: EventFollower.reason(status, String(lines.first ?? ""), try problem(lines)),
                isPassing: status == 503 || status == 429 || status == 423)
        }
    }

    /// Returns a refusal in words: the detail of the problem with its code, or the beginning of another body.
    private static func reason(_ status: Int, _ line: String, _ body: String) -> String {
        guard status != 200 else { return "this is no stream of changes; those are at …/changes and …/subscriptions/{id}/events" }
        guard let problem = try? JSONParser.parse(body, depthLimit: 64).object, let detail = problem["detail"]?.string else {
            return "\(line): \(body.brief)"
        }
        if status == 406 { return "this is no stream of changes (\(status))" }
        return "\(status) \(problem["code"]?.string ?? ""): \(detail)"
    }

    /// Reads the problem document of a refusal, at most 64 KiB. The server may keep the connection
    /// open after it, so the stated length decides where it ends.
    private func problem(_ lines: [Substring]) throws(Failure) -> String {
        var document: [UInt8] = []
        if isChunked {
            while document.count < EventFollower.problemBytes, let chunk = try readChunk() { document += chunk }
        } else {
            let length = lines.lazy.filter { $0.lowercasedASCII.hasPrefix("content-length:") }
                .compactMap { Int($0.dropFirst("content-length:".count).filter { $0 != " " }) }.first
            let end = min(length ?? EventFollower.problemBytes, EventFollower.problemBytes)
            while received.count < end, receive() {}
            document = Array(received.prefix(end))
        }
        return String(decoding: document, as: UTF8.self)
    }

    /// The greatest length of a problem document that is read.
    private static let problemBytes = 64 << 10

    /// Returns the next piece of the body; nil at its end, or when the connection is broken.
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
        else { throw Failure(description: "the response is not divided into chunks correctly", isPassing: false) }
        received.removeFirst(lineEnd.upperBound)
        while received.count < size + 2 {
            guard receive() else { return nil }
        }
        defer { received.removeFirst(size + 2) }
        return size == 0 ? nil : Array(received.prefix(size))
    }

    /// Waits for bytes and adds them to `received`; false at the end of the connection, or when
    /// nothing came for `patienceSeconds`.
    private func receive() -> Bool {
        var buffer = [UInt8](repeating: 0, count: 64 << 10)
        let count = unsafe recv(descriptor, &buffer, buffer.count, 0)
        guard count > 0 else { return false }
        received += buffer[..<count]
        return true
    }
}
