// SPDX-License-Identifier: Apache-2.0

internal import CMicrohttpd  // its headers are where the compiler finds what sockets need
internal import Glibc
internal import RealmFormats
internal import RealmHTTP
internal import RealmPlatform
internal import RealmStorage

/// A blocking HTTP connection to this machine that reads each response completely before the next request.
///
/// It parses only what the measurements need, so that the client takes as little time as possible.
struct Connection {
    /// The socket that is connected to the server.
    private let descriptor: Int32
    /// The bytes received last; a large body overwrites the last 64 KiB repeatedly.
    private var buffer = [UInt8](repeating: 0, count: 256 << 10)
    /// The range of the last body in `buffer`; the body is complete only if it fits.
    private var bodyRange = 0..<0

    /// Opens a connection.
    ///
    /// - Parameter port: The TCP port on the loopback address.
    /// - Throws: `BenchmarkError` when no server listens.
    init(_ port: Int) throws { descriptor = try Connection.open(port) }

    /// Returns a socket that is connected to a port of the loopback address, without delays for small packets.
    ///
    /// - Parameter port: The TCP port.
    /// - Throws: `BenchmarkError` when no server listens.
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

    /// The body of the last response.
    var lastBody: [UInt8] { Array(buffer[bodyRange]) }

    /// Sends the bytes of a request; an error appears when the response is read.
    ///
    /// - Parameter request: The complete request.
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

    /// Reads one response to its end.
    ///
    /// - Returns: False when the status is not 200, 201 or 204, or the connection was closed.
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

    /// Reads a chunked response up to its final chunk. Earlier bytes are kept only as long as there is room.
    ///
    /// - Parameters:
    ///   - start: The index in `buffer` at which the chunks begin.
    ///   - count: The number of bytes received so far.
    /// - Returns: False when the connection was closed.
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

    /// Reads available bytes to a place in the buffer; returns their number, which is 0 or less at the end.
    private mutating func read(at offset: Int) -> Int {
        unsafe buffer.withUnsafeMutableBytes {
            unsafe recv(descriptor, $0.baseAddress.map { unsafe $0 + offset }, $0.count - offset, 0)
        }
    }

    /// Returns the end of the header and the length of the body.
    ///
    /// - Parameter filled: The number of bytes received so far.
    /// - Returns: The end of the header and the length of the body, which is nil for a chunked
    ///   one; nil while the header is incomplete.
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

    /// Returns the length in a line of the header if it is `Content-Length`, otherwise nil.
    ///
    /// - Parameters:
    ///   - start: The index of the first byte of the line.
    ///   - end: The index after its last byte.
    private func contentLength(_ start: Int, _ end: Int) -> Int? {
        let name: StaticString = "content-length:"
        // Most lines are other fields, which two characters show.
        let (first, ninth) = (UInt8(ascii: "c"), UInt8(ascii: "l"))
        guard end - start > name.utf8CodeUnitCount, buffer[start] | 0x20 == first, buffer[start + 8] | 0x20 == ninth
        else { return nil }
        let text = String(decoding: buffer[start..<end], as: UTF8.self)
        guard text.lowercased().hasPrefix(name.description) else { return nil }
        return Int(text.dropFirst(name.utf8CodeUnitCount).drop { $0 == " " })
    }
}
