// SPDX-License-Identifier: Apache-2.0

internal import CMicrohttpd  // its headers are where the compiler finds what sockets need
internal import Glibc
internal import RealmHTTP
internal import RealmStorage

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
