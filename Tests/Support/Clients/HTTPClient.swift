// SPDX-License-Identifier: Apache-2.0

internal import Foundation
internal import Glibc
package import Synchronization

/// A small blocking HTTP client over one connection: says exactly what it is told to, and shows exactly what came.
package final class HTTPClient {
    /// An answer as it was received; the body is without its chunked coding.
    package struct Answer: Sendable {
        package let status: Int
        package let headers: [(name: String, value: String)]
        package let body: [UInt8]
        /// Whether the body ended the way its framing promised.
        package let isComplete: Bool

        package subscript(name: String) -> String? {
            headers.first { $0.name.lowercased() == name.lowercased() }?.value
        }

        package var text: String { String(decoding: body, as: UTF8.self) }

        /// The body as JSON; null when it is none.
        package var json: ParsedJSON { (try? ParsedJSON(parsing: body)) ?? .null }

        /// The `code` of a problem document.
        package var code: String? { json["code"]?.text }

        /// The body of a request that has to succeed, as JSON; null when it is empty.
        ///
        /// - Parameter request: The request in words, for the failure that is thrown for any other status.
        package func document(_ request: String) throws -> ParsedJSON {
            guard status < 300 else { throw Failure(description: "\(request): \(status) \(text)") }
            return body.isEmpty ? .null : try ParsedJSON(parsing: body)
        }
    }

    /// An answer that is not what it should be; what the connection comes to is a `TestSocket.Failure`.
    package struct Failure: Error, CustomStringConvertible {
        package let description: String

        package init(description: String) { self.description = description }
    }

    private let socket: TestSocket
    /// What `Host` says unless it is given.
    private let host: String
    fileprivate var received: [UInt8] = []

    /// `source` is the last number of an address 127.0.0.N to come from.
    package init(port: Int, source: UInt8? = nil) throws {
        host = "127.0.0.1:\(port)"
        socket = try TestSocket(port: port, source: source)
    }

    /// Connects to a Unix socket.
    package init(unixPath: String) throws {
        host = "localhost"
        socket = try TestSocket(unixPath: unixPath)
    }

    /// Says that nothing more will be sent.
    package func finishSending() { socket.finishSending() }

    /// One request on a connection of its own.
    package static func request(
        port: Int, _ method: String, _ target: String, headers: [(String, String)] = [], body: [UInt8]? = nil
    ) throws -> Answer {
        try HTTPClient(port: port).request(method, target, headers: headers, body: body)
    }

    /// Sends a request and reads its answer. `Host` and `Content-Length` are added unless given.
    package func request(
        _ method: String, _ target: String, headers: [(String, String)] = [], body: [UInt8]? = nil
    ) throws -> Answer {
        var head = "\(method) \(target) HTTP/1.1\r\n"
        let names = headers.map { $0.0.lowercased() }
        if !names.contains("host") { head += "Host: \(host)\r\n" }
        for (name, value) in headers { head += "\(name): \(value)\r\n" }
        if let body, !names.contains("content-length"), !names.contains("transfer-encoding") {
            head += "Content-Length: \(body.count)\r\n"
        }
        try send(Array((head + "\r\n").utf8) + (body ?? []))
        let answer = try readAnswer(toHead: method == "HEAD")
        HTTPClient.observer.withLock { $0 }?.observe(method, target, answer)
        return answer
    }

    /// What a suite wants to see of every answer. A structure, because a lock that lends a function wraps it anew each time.
    package struct Observer: Sendable {
        /// Called with the method and the target of a request, and its answer, on the thread of the client.
        let observe: @Sendable (String, String, Answer) -> Void

        package init(_ observe: @escaping @Sendable (String, String, Answer) -> Void) { self.observe = observe }
    }

    /// The observer of all answers of this process, if a suite has set one.
    package static let observer = Mutex<Observer?>(nil)

    package func send(_ bytes: [UInt8]) throws { try socket.send(bytes) }

    package func send(_ text: String) throws { try send(Array(text.utf8)) }

    /// Reads one answer; interim answers are skipped.
    package func readAnswer(toHead: Bool = false) throws -> Answer {
        while true {
            let lines = try readHead()
            let words = (lines.first ?? "").split(separator: " ")
            guard words.count >= 2, let status = Int(words[1]) else { throw Failure(description: "no status line: \(lines)") }
            if status == 100 { continue }
            let headers = lines.dropFirst().compactMap { line -> (name: String, value: String)? in
                guard let colon = line.firstIndex(of: ":") else { return nil }
                let value = line[line.index(after: colon)...].drop { $0 == " " }
                return (name: String(line[..<colon]), value: String(value))
            }
            let (body, isComplete) = try readBody(headers, hasNone: toHead || status == 204 || status == 304)
            return Answer(status: status, headers: headers, body: body, isComplete: isComplete)
        }
    }

    /// Reads the lines up to an empty one.
    private func readHead() throws -> [String] {
        var lines: [String] = []
        var (start, next) = (0, 0)
        while true {
            while let end = HTTPClient.position(of: 0x0a, in: received, from: next) {
                next = end + 1
                guard end > start, received[end - 1] == 0x0d else { continue }
                let line = received[start..<end - 1]
                start = next
                if line.isEmpty {
                    received.removeFirst(start)
                    return lines
                }
                lines.append(String(decoding: line, as: UTF8.self))
            }
            guard try receive() else { throw Failure(description: "the connection ended after \(received.count) bytes") }
        }
    }

    /// The position of a byte from `start` on. Every answer is searched, and a loop in a debug build would take longer than the server.
    private static func position(of byte: UInt8, in bytes: [UInt8], from start: Int) -> Int? {
        unsafe bytes.withUnsafeBytes { all in
            guard start < bytes.count, let rest = unsafe all.baseAddress.map({ unsafe $0 + start }),
                let found = unsafe memchr(rest, Int32(byte), bytes.count - start)
            else { return nil }
            return unsafe start + rest.distance(to: UnsafeRawPointer(found))
        }
    }

    private func readBody(_ headers: [(name: String, value: String)], hasNone: Bool) throws -> ([UInt8], Bool) {
        func value(_ name: String) -> String? { headers.first { $0.name.lowercased() == name }?.value }
        if hasNone { return ([], true) }
        if value("transfer-encoding")?.lowercased() == "chunked" { return try readChunks() }
        guard let length = value("content-length").flatMap({ Int($0) }) else {
            while try receive() {}
            defer { received = [] }
            return (received, !socket.wasReset)
        }
        let isComplete = try fill(length)
        let body = Array(received.prefix(length))
        received.removeFirst(body.count)
        return (body, isComplete)
    }

    private func readChunks() throws -> ([UInt8], Bool) {
        var body: [UInt8] = []
        while true {
            var lineEnd = HTTPClient.position(of: 0x0a, in: received, from: 0)
            while lineEnd == nil {
                guard try receive() else { return (body, false) }
                lineEnd = HTTPClient.position(of: 0x0a, in: received, from: 0)
            }
            guard let lineEnd,
                let size = Int(
                    String(decoding: received[..<lineEnd], as: UTF8.self).trimmingCharacters(in: .whitespacesAndNewlines),
                    radix: 16)
            else { throw Failure(description: "no chunk size") }
            received.removeFirst(lineEnd + 1)
            guard try fill(size + 2) else { return (body, false) }
            body += received.prefix(size)
            received.removeFirst(size + 2)
            if size == 0 { return (body, true) }
        }
    }

    /// Waits until `count` bytes are there; false when the connection ends before.
    private func fill(_ count: Int) throws -> Bool {
        while received.count < count {
            guard try receive() else { return false }
        }
        return true
    }

    /// Whether the server has closed the connection, with nothing more to read.
    package func isClosed() throws -> Bool { try received.isEmpty && !receive() }

    /// Waits for the next bytes of an answer and keeps them; false at the end of the connection.
    package func receiveSome() throws -> Bool { try receive() }

    private func receive() throws -> Bool {
        let bytes = try socket.receive()
        received += bytes
        return !bytes.isEmpty
    }
}

extension HTTPClient {
    /// What came and was not read as an answer yet.
    package var receivedText: String { String(decoding: received, as: UTF8.self) }
}
