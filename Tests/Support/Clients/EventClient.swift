// SPDX-License-Identifier: Apache-2.0

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

    private let socket: TestSocket
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
        port: Int, _ target: String, headers: [(String, String)] = [], receiveBuffer: Int32? = nil
    ) throws {
        socket = try TestSocket(port: port, receiveBuffer: receiveBuffer)
        var text = "GET \(target) HTTP/1.1\r\nHost: 127.0.0.1:\(port)\r\nAccept: text/event-stream\r\n"
        for (name, value) in headers { text += "\(name): \(value)\r\n" }
        try socket.send(text + "\r\n")
        try readHead()
    }

    /// Hears nothing any more and says nothing, not even that it got something: as a client whose network is gone. False where
    /// that is not possible.
    package func becomeDeaf() -> Bool { socket.becomeDeaf() }

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
        guard received[size] == 0x0d, received[size + 1] == 0x0a else {
            throw Failure(description: "no end of a line after a chunk of \(size) bytes")
        }
        body += received.prefix(size)
        received.removeFirst(size + 2)
        if size == 0 { hasEnded = true }
    }

    private func receive() throws -> Bool {
        let bytes = try socket.receive()
        received += bytes
        return !bytes.isEmpty
    }
}
