// SPDX-License-Identifier: Apache-2.0

package import Glibc
package import SystemPackage

/// A connection to a server under test: the one place in which tests open sockets.
///
/// It blocks, waits no longer than its deadline, and is used by one thread at a time. It can also leave in all the ways in which
/// real clients do.
package final class TestSocket {
    /// What a call to the system came to.
    package enum Failure: Error, Equatable, CustomStringConvertible {
        /// The operation, and its error.
        case refused(Operation, Errno)
        /// Nothing came for as many seconds.
        case timedOut(Double)
        /// A Unix socket cannot have a name this long.
        case nameTooLong(String)

        package var description: String {
            switch self {
            case .refused(let operation, let error): "cannot \(operation.rawValue): \(error)"
            case .timedOut(let seconds): "nothing came for \(seconds) seconds"
            case .nameTooLong(let name): "too long for a socket: \(name)"
            }
        }
    }

    package enum Operation: String, Sendable { case open, bind, connect, send, receive }

    private var descriptor: Int32
    /// Whether the other side has broken the connection, seen by `receive`.
    package private(set) var wasReset = false
    private var buffer = [UInt8](repeating: 0, count: 64 << 10)

    private init(family: Int32) throws(Failure) {
        descriptor = socket(family, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        if descriptor < 0 { throw TestSocket.failure(.open) }
    }

    /// Connects to a port of 127.0.0.1. `source` is the last number of an address 127.0.0.N to come from.
    package convenience init(port: Int, source: UInt8? = nil, receiveBuffer: Int32? = nil) throws(Failure) {
        try self.init(family: AF_INET)
        if let receiveBuffer { setReceiveBuffer(receiveBuffer) }
        if let source { try unsafe call(.bind, TestSocket.address(lastNumber: source, port: 0), Glibc.bind) }
        try unsafe call(.connect, TestSocket.address(lastNumber: 1, port: port), Glibc.connect)
    }

    package convenience init(unixPath: String) throws(Failure) {
        try self.init(family: AF_UNIX)
        try unsafe call(.connect, try TestSocket.address(unixPath), Glibc.connect)
    }

    deinit { close() }

    // MARK: - Sending and receiving

    package func send(_ bytes: [UInt8]) throws(Failure) {
        var sent = 0
        while sent < bytes.count {
            let count = unsafe bytes.withUnsafeBytes {
                unsafe Glibc.send(descriptor, $0.baseAddress.map { unsafe $0 + sent }, $0.count - sent, Int32(MSG_NOSIGNAL))
            }
            guard count >= 0 || errno == EINTR else { throw TestSocket.failure(.send) }
            sent += max(count, 0)
        }
    }

    package func send(_ text: String) throws(Failure) { try send(Array(text.utf8)) }

    /// Waits for the next bytes; there are none at the end, and when the other side broke the connection.
    ///
    /// - Parameter seconds: How long; on a busy machine hundreds of tests run beside each other.
    package func receive(seconds: Double = 300) throws(Failure) -> ArraySlice<UInt8> {
        let deadline = ContinuousClock.now + .seconds(seconds)
        while true {
            var ready = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
            let rest = max((deadline - ContinuousClock.now) / .milliseconds(1), 0)
            let found = unsafe poll(&ready, 1, Int32(rest.rounded(.up)))
            if found < 0, errno == EINTR { continue }
            guard found >= 0 else { throw TestSocket.failure(.receive) }
            guard found > 0 else { throw .timedOut(seconds) }
            let count = unsafe recv(descriptor, &buffer, buffer.count, 0)
            if count >= 0 { return buffer[..<count] }
            if errno == ECONNRESET {
                wasReset = true
                return []
            }
            if errno != EINTR { throw TestSocket.failure(.receive) }
        }
    }

    /// Bytes that have come and were not read.
    package var unreadByteCount: Int {
        var count: Int32 = 0
        // FIONREAD.
        return unsafe ioctl(descriptor, 0x541b, &count) == 0 ? Int(count) : -1
    }

    /// How much the kernel keeps for this side; the other may still send what it was allowed before.
    package func setReceiveBuffer(_ byteCount: Int32) {
        var size = byteCount
        unsafe setsockopt(descriptor, SOL_SOCKET, SO_RCVBUF, &size, socklen_t(MemoryLayout<Int32>.size))
    }

    // MARK: - Ways to go

    package func close() {
        guard descriptor >= 0 else { return }
        Glibc.close(descriptor)
        descriptor = -1
    }

    /// Ends only its own side.
    package func finishSending() { shutdown(descriptor, Int32(SHUT_WR)) }

    /// Breaks the connection: the other side gets an RST.
    package func reset() {
        var linger = Glibc.linger(l_onoff: 1, l_linger: 0)
        unsafe setsockopt(descriptor, SOL_SOCKET, SO_LINGER, &linger, socklen_t(MemoryLayout<Glibc.linger>.size))
        close()
    }

    /// From now on the kernel lets no packet through to this side, so it acknowledges nothing and says nothing: what the other
    /// side sees of a machine that lost its power, or its link. False where the kernel does not allow it.
    package func becomeDeaf() -> Bool {
        // A filter of one instruction: "accept 0 bytes".
        let instruction: UInt64 = 0x06
        return unsafe withUnsafePointer(to: instruction) { pointer in
            var program = unsafe (count: UInt64(1), start: UInt64(UInt(bitPattern: UnsafeRawPointer(pointer))))
            return unsafe setsockopt(
                descriptor, SOL_SOCKET, SO_ATTACH_FILTER, &program, socklen_t(MemoryLayout.size(ofValue: program))) == 0
        }
    }

    /// Whether a client can become deaf here: on Linux it needs no rights, but a sandbox may forbid it.
    package static let canBecomeDeaf = (try? TestSocket(family: AF_INET))?.becomeDeaf() == true
}

extension TestSocket {
    // MARK: - Places

    /// A port of 127.0.0.1 that nobody listens on.
    package static func freePort() throws(Failure) -> Int {
        let socket = try TestSocket(family: AF_INET)
        try unsafe socket.call(.bind, address(lastNumber: 1, port: 0), Glibc.bind)
        var address = sockaddr_in()
        let code = unsafe withUnsafeMutableBytes(of: &address) { bytes in
            var length = socklen_t(bytes.count)
            return unsafe getsockname(socket.descriptor, bytes.baseAddress?.assumingMemoryBound(to: sockaddr.self), &length)
        }
        guard code == 0 else { throw failure(.bind) }
        return Int(UInt16(bigEndian: address.sin_port))
    }

    /// Leaves a Unix socket that nobody listens on at a path, as a server does that was killed.
    package static func leave(at path: String, mode: mode_t) throws(Failure) {
        let socket = try TestSocket(family: AF_UNIX)
        try unsafe socket.call(.bind, try address(path), Glibc.bind)
        guard unsafe chmod(path, mode) == 0 else { throw failure(.bind) }
    }

    private static func address(lastNumber: UInt8, port: Int) -> sockaddr_in {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = in_port_t(UInt16(port)).bigEndian
        address.sin_addr.s_addr = in_addr_t(0x7f00_0000 | UInt32(lastNumber)).bigEndian
        return address
    }

    private static func address(_ path: String) throws(Failure) -> sockaddr_un {
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        // A zero has to follow the name.
        guard path.utf8.count < MemoryLayout.size(ofValue: address.sun_path) else { throw .nameTooLong(path) }
        unsafe withUnsafeMutableBytes(of: &address.sun_path) { unsafe $0.copyBytes(from: path.utf8) }
        return address
    }

    /// A call that takes an address.
    private func call<Address>(
        _ operation: Operation, _ address: Address, _ body: (Int32, UnsafePointer<sockaddr>?, socklen_t) -> Int32
    ) throws(Failure) {
        let code = unsafe withUnsafeBytes(of: address) { bytes in
            unsafe body(descriptor, bytes.baseAddress?.assumingMemoryBound(to: sockaddr.self), socklen_t(bytes.count))
        }
        guard code == 0 else { throw TestSocket.failure(operation) }
    }

    /// The error of the call before.
    private static func failure(_ operation: Operation) -> Failure { .refused(operation, Errno(rawValue: errno)) }
}
