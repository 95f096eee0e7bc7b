// SPDX-License-Identifier: Apache-2.0

internal import Foundation
internal import Glibc

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
    }

    package struct Failure: Error, CustomStringConvertible {
        package let description: String
    }

    private let descriptor: Int32
    /// What `Host` says unless it is given.
    private let host: String
    fileprivate var received: [UInt8] = []

    /// `source` is the last number of an address 127.0.0.N to come from.
    package init(port: Int, timeoutSeconds: Int = 60, source: UInt8? = nil) throws {
        host = "127.0.0.1:\(port)"
        descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = in_port_t(UInt16(port)).bigEndian
        address.sin_addr.s_addr = in_addr_t(0x7f00_0001).bigEndian
        if let source { HTTPClient.bind(descriptor, to: source) }
        var timeout = timeval(tv_sec: timeoutSeconds, tv_usec: 0)
        unsafe setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &timeout, socklen_t(MemoryLayout<timeval>.size))
        let failure = unsafe withUnsafePointer(to: &address) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                unsafe connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        guard failure == 0 else { throw Failure(description: "cannot connect: errno \(errno)") }
    }

    /// Connects to a Unix socket.
    package init(unixPath: String, timeoutSeconds: Int = 60) throws {
        host = "localhost"
        descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        unsafe withUnsafeMutableBytes(of: &address.sun_path) { unsafe $0.copyBytes(from: unixPath.utf8) }
        var timeout = timeval(tv_sec: timeoutSeconds, tv_usec: 0)
        unsafe setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &timeout, socklen_t(MemoryLayout<timeval>.size))
        let failure = unsafe withUnsafePointer(to: &address) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                unsafe connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
        guard failure == 0 else { throw Failure(description: "cannot connect: errno \(errno)") }
    }

    deinit { close(descriptor) }

    private static func bind(_ descriptor: Int32, to source: UInt8) {
        var own = sockaddr_in()
        own.sin_family = sa_family_t(AF_INET)
        own.sin_addr.s_addr = in_addr_t(0x7f00_0000 | UInt32(source)).bigEndian
        unsafe withUnsafePointer(to: &own) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                _ = unsafe Glibc.bind(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
    }

    /// Says that nothing more will be sent.
    package func finishSending() { shutdown(descriptor, Int32(SHUT_WR)) }

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
        return try readAnswer(toHead: method == "HEAD")
    }

    package func send(_ bytes: [UInt8]) throws {
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = unsafe rest.withUnsafeBytes {
                unsafe Glibc.send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
            }
            guard count > 0 else { throw Failure(description: "cannot send: errno \(errno)") }
            rest = rest.dropFirst(count)
        }
    }

    package func send(_ text: String) throws { try send(Array(text.utf8)) }

    /// Reads one answer; interim answers are skipped.
    package func readAnswer(toHead: Bool = false) throws -> Answer {
        while true {
            let head = try readHead()
            let lines = head.components(separatedBy: "\r\n")
            let words = (lines.first ?? "").split(separator: " ")
            guard words.count >= 2, let status = Int(words[1]) else { throw Failure(description: "no status line: \(head)") }
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

    private func readHead() throws -> String {
        let end = Array("\r\n\r\n".utf8)
        while true {
            if let range = received.firstRange(of: end) {
                let head = String(decoding: received[..<range.lowerBound], as: UTF8.self)
                received.removeFirst(range.upperBound)
                return head
            }
            guard try receive() else { throw Failure(description: "the connection ended after \(received.count) bytes") }
        }
    }

    private func readBody(_ headers: [(name: String, value: String)], hasNone: Bool) throws -> ([UInt8], Bool) {
        func value(_ name: String) -> String? { headers.first { $0.name.lowercased() == name }?.value }
        if hasNone { return ([], true) }
        if value("transfer-encoding")?.lowercased() == "chunked" { return try readChunks() }
        guard let length = value("content-length").flatMap({ Int($0) }) else {
            while try receive() {}
            defer { received = [] }
            return (received, true)
        }
        let isComplete = try fill(length)
        let body = Array(received.prefix(length))
        received.removeFirst(body.count)
        return (body, isComplete)
    }

    private func readChunks() throws -> ([UInt8], Bool) {
        var body: [UInt8] = []
        while true {
            var lineEnd = received.firstIndex(of: 0x0a)
            while lineEnd == nil {
                guard try receive() else { return (body, false) }
                lineEnd = received.firstIndex(of: 0x0a)
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
        var buffer = [UInt8](repeating: 0, count: 64 << 10)
        let count = unsafe recv(descriptor, &buffer, buffer.count, 0)
        if count < 0 {
            if errno == ECONNRESET { return false }
            throw Failure(description: errno == EAGAIN ? "no answer in time" : "cannot receive: errno \(errno)")
        }
        received += buffer[..<count]
        return count > 0
    }
}

extension HTTPClient {
    /// What came and was not read as an answer yet.
    package var receivedText: String { String(decoding: received, as: UTF8.self) }
}
