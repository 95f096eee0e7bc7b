// SPDX-License-Identifier: Apache-2.0

import Glibc
import RealmStorage

/// A client that misbehaves: it stops reading, breaks the connection, or is gone without a word.
final class RawConnection {
    struct Failure: Error, CustomStringConvertible {
        let description: String
    }

    private(set) var descriptor: Int32
    /// Everything that was read, as far as it is kept.
    private(set) var text = ""

    init(port: Int, receiveBuffer: Int32? = nil) throws {
        descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        if let receiveBuffer { setReceiveBuffer(receiveBuffer) }
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = in_port_t(UInt16(port)).bigEndian
        address.sin_addr.s_addr = in_addr_t(0x7f00_0001).bigEndian
        let failure = unsafe withUnsafePointer(to: &address) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                unsafe connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        guard failure == 0 else {
            let number = errno
            close()
            throw Failure(description: "cannot connect: errno \(number)")
        }
    }

    /// Asks for a stream, or with `accept` for something else.
    convenience init(
        port: Int, _ target: String, accept: String = "text/event-stream", receiveBuffer: Int32? = nil
    ) throws {
        try self.init(port: port, receiveBuffer: receiveBuffer)
        try send("GET \(target) HTTP/1.1\r\nHost: 127.0.0.1:\(port)\r\nAccept: \(accept)\r\n\r\n")
    }

    deinit { close() }

    func send(_ text: String) throws {
        var rest = Array(text.utf8)[...]
        while !rest.isEmpty {
            let count = unsafe rest.withUnsafeBytes {
                unsafe Glibc.send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
            }
            guard count > 0 else { throw Failure(description: "cannot send: errno \(errno)") }
            rest = rest.dropFirst(count)
        }
    }

    /// Reads until the answer has `part` in it; false when it ends or nothing comes for `seconds`.
    func read(until part: String, seconds: Double = 60) -> Bool {
        while !text.contains(part) {
            guard let bytes = receive(seconds: seconds), !bytes.isEmpty else { return false }
            text += String(decoding: bytes, as: UTF8.self)
        }
        return true
    }

    /// Reads to the end; false when nothing comes for `seconds`.
    func readToEnd(seconds: Double = 60) -> Bool {
        while let bytes = receive(seconds: seconds) {
            if bytes.isEmpty { return true }
            text += String(decoding: bytes, as: UTF8.self)
        }
        return false
    }

    func forgetText() { text = "" }

    /// How much the kernel keeps for this side; the other may still send what it was allowed before.
    func setReceiveBuffer(_ byteCount: Int32) {
        var size = byteCount
        unsafe setsockopt(descriptor, SOL_SOCKET, SO_RCVBUF, &size, socklen_t(MemoryLayout<Int32>.size))
    }

    /// Bytes that have come and were not read.
    var unread: Int {
        var count: Int32 = 0
        // FIONREAD.
        return unsafe ioctl(descriptor, 0x541b, &count) == 0 ? Int(count) : -1
    }

    /// Empty at the end, and when the connection was broken; nil when nothing comes in time.
    private func receive(seconds: Double) -> [UInt8]? {
        var poll = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        guard unsafe Glibc.poll(&poll, 1, Int32(seconds * 1000)) > 0 else { return nil }
        var buffer = [UInt8](repeating: 0, count: 64 << 10)
        let count = unsafe recv(descriptor, &buffer, buffer.count, 0)
        return count > 0 ? Array(buffer[..<count]) : []
    }

    // MARK: - Ways to go

    func close() {
        guard descriptor >= 0 else { return }
        Glibc.close(descriptor)
        descriptor = -1
    }

    /// Ends only its own side.
    func finishSending() { shutdown(descriptor, Int32(SHUT_WR)) }

    /// Breaks the connection: the other side gets an RST.
    func reset() {
        var linger = Glibc.linger(l_onoff: 1, l_linger: 0)
        unsafe setsockopt(descriptor, SOL_SOCKET, SO_LINGER, &linger, socklen_t(MemoryLayout<Glibc.linger>.size))
        close()
    }

    /// From now on the kernel lets no packet through to this side, so it acknowledges nothing and says nothing: what the
    /// other side sees of a machine that lost its power, or its link. False where the kernel does not allow it.
    func vanish() -> Bool {
        // A filter of one instruction: "accept 0 bytes".
        let instruction: UInt64 = 0x06
        return unsafe withUnsafePointer(to: instruction) { pointer in
            var program = unsafe (count: UInt64(1), start: UInt64(UInt(bitPattern: UnsafeRawPointer(pointer))))
            return unsafe setsockopt(
                descriptor, SOL_SOCKET, SO_ATTACH_FILTER, &program, socklen_t(MemoryLayout.size(ofValue: program)))
                == 0
        }
    }

    /// Whether a client can vanish here: on Linux it needs no rights, but a sandbox may forbid it.
    static let canVanish: Bool = {
        let server = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        defer { Glibc.close(server) }
        let instruction: UInt64 = 0x06
        return unsafe withUnsafePointer(to: instruction) { pointer in
            var program = unsafe (count: UInt64(1), start: UInt64(UInt(bitPattern: UnsafeRawPointer(pointer))))
            return unsafe setsockopt(
                server, SOL_SOCKET, SO_ATTACH_FILTER, &program, socklen_t(MemoryLayout.size(ofValue: program))) == 0
        }
    }()
}
