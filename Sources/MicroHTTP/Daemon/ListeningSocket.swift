// SPDX-License-Identifier: Apache-2.0

internal import CMicrohttpd
internal import Glibc
internal import RealmFormats
internal import RealmPlatform
internal import RealmStorage

/// A TCP or Unix socket that is bound and listens. It is made before the server, so that errors are
/// reported before anything is started.
package struct ListeningSocket: Sendable {
    /// The socket. The listener that is started on it closes it.
    package let descriptor: Int32
    /// The port that the socket is bound to, also when port 0 was requested; 0 for a Unix socket.
    package let port: Int
    /// The address that the socket is bound to, as text; `unix:` and the path for a Unix socket.
    package let address: String
    /// Whether only this machine can reach the socket.
    package let isLoopback: Bool
    package let isUnix: Bool
    /// The file of a Unix socket that this process has made; nil for TCP, and for a socket that was handed over.
    let file: UnixSocketFile?

    /// The reason why a socket could not be made.
    package struct Failure: Error, CustomStringConvertible {
        /// A sentence for the command line.
        package let description: String

        /// Makes a failure of a sentence for the command line.
        package init(description: String) { self.description = description }
    }

    /// Binds a TCP socket to the first usable address of a host, and listens.
    ///
    /// - Parameters:
    ///   - host: A name or an address.
    ///   - port: The port; 0 lets the system choose one.
    ///   - backlog: The number of connections that may wait to be accepted.
    /// - Throws: `Failure` when the host has no address, or the system refuses all of them.
    package init(host: String, port: Int, backlog: Int32 = 1024) throws(Failure) {
        var reason = "no address"
        var isTaken = false
        let bound = try unsafe ListeningSocket.first(of: host, port) { entry in
            let bound = unsafe ListeningSocket.bound(entry, backlog)
            if bound == nil {
                reason = unsafe String(cString: strerror(errno))
                isTaken = errno == EADDRINUSE
            }
            return bound
        }
        if isTaken { reason += "; another server may be running there, and --port N takes another port, 0 a free one" }
        guard let bound else { throw Failure(description: "cannot listen on \(host):\(port): \(reason)") }
        self = bound
    }

    /// Returns the first address of a host, to which a socket would be bound, as text.
    ///
    /// - Throws: `Failure` when the host has no address.
    package static func address(of host: String) throws(Failure) -> String? {
        try unsafe first(of: host, 0) { entry in unsafe SocketAddress.nameAndPort(entry.ai_addr)?.0 }
    }

    /// Returns the first result of a function that is called with the addresses of a host in their order; nil when
    /// it returns none.
    private static func first<Result>(
        of host: String, _ port: Int, _ body: (addrinfo) -> Result?
    ) throws(Failure) -> Result? {
        var hints = unsafe addrinfo()
        unsafe hints.ai_family = AF_UNSPEC
        unsafe hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
        unsafe hints.ai_flags = AI_PASSIVE | AI_NUMERICSERV
        var list: UnsafeMutablePointer<addrinfo>?
        let failure = unsafe getaddrinfo(host, String(port), &hints, &list)
        guard failure == 0, let first = unsafe list else {
            throw Failure(description: unsafe "cannot resolve '\(host)': \(String(cString: gai_strerror(failure)))")
        }
        defer { unsafe freeaddrinfo(first) }
        var candidate: UnsafeMutablePointer<addrinfo>? = unsafe first
        while let entry = unsafe candidate {
            if let result = unsafe body(entry.pointee) { return result }
            unsafe candidate = unsafe entry.pointee.ai_next
        }
        return nil
    }

    /// Makes the description of a TCP socket that listens already.
    private init(descriptor: Int32, port: Int, address: String) {
        self.descriptor = descriptor
        self.port = port
        self.address = address
        isLoopback = Request.isOfThisMachine(address)
        isUnix = false
        file = nil
    }

    /// Binds a Unix socket, and listens.
    ///
    /// - Parameters:
    ///   - path: The path of the socket's file.
    ///   - access: The users that may open it; by default, only the user of this process.
    /// - Throws: `Failure` when the path is in use or not suitable.
    package init(unixPath path: String, access: SocketAccess = SocketAccess()) throws(Failure) {
        (descriptor, file) = try UnixSocketFile.listen(at: path, access: access)
        port = 0
        address = "unix:" + path
        isLoopback = true
        isUnix = true
    }

    /// Takes over a socket that listens already, which the service manager has made.
    ///
    /// - Parameter descriptor: The socket. Programs that this one starts do not get it.
    /// - Throws: `Failure` when it is none that a server can accept connections from.
    package init(handedOver descriptor: Int32) throws(Failure) {
        var isListening: Int32 = 0
        var kind: Int32 = 0
        var length = socklen_t(MemoryLayout<Int32>.size)
        guard unsafe getsockopt(descriptor, SOL_SOCKET, SO_ACCEPTCONN, &isListening, &length) == 0,
            unsafe getsockopt(descriptor, SOL_SOCKET, SO_TYPE, &kind, &length) == 0, isListening != 0,
            kind == Int32(SOCK_STREAM.rawValue), fcntl(descriptor, F_SETFD, FD_CLOEXEC) == 0
        else { throw Failure(description: "the descriptor \(descriptor) that was handed over is not a socket that listens") }
        ListeningSocket.makeNonblocking(descriptor)
        if let (address, port) = ListeningSocket.localName(descriptor) {
            self.init(descriptor: descriptor, port: port, address: address)
        } else {
            self.init(handedOverUnix: descriptor, at: UnixSocketFile.path(of: descriptor))
        }
    }

    /// Makes the description of a Unix socket that was handed over, and whose file is not this server's.
    private init(handedOverUnix descriptor: Int32, at path: String) {
        self.descriptor = descriptor
        port = 0
        address = "unix:" + path
        isLoopback = true
        isUnix = true
        file = nil
    }

    /// Binds a socket to one address; nil, with the reason in `errno`, when that fails.
    private static func bound(_ entry: addrinfo, _ backlog: Int32) -> ListeningSocket? {
        let descriptor = unsafe socket(entry.ai_family, entry.ai_socktype | Int32(SOCK_CLOEXEC.rawValue), entry.ai_protocol)
        guard descriptor >= 0 else { return nil }
        var yes: Int32 = 1
        unsafe setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &yes, socklen_t(MemoryLayout<Int32>.size))
        guard unsafe bind(descriptor, entry.ai_addr, entry.ai_addrlen) == 0, listen(descriptor, backlog) == 0,
            let (address, port) = localName(descriptor)
        else {
            let code = errno
            Glibc.close(descriptor)
            errno = code
            return nil
        }
        makeNonblocking(descriptor)
        return ListeningSocket(descriptor: descriptor, port: port, address: address)
    }

    /// Returns the address and the port that a socket is bound to.
    private static func localName(_ descriptor: Int32) -> (String, Int)? {
        var storage = sockaddr_storage()
        var length = socklen_t(MemoryLayout<sockaddr_storage>.size)
        let isKnown = unsafe withUnsafeMutablePointer(to: &storage) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { unsafe getsockname(descriptor, $0, &length) == 0 }
        }
        guard isKnown else { return nil }
        return unsafe withUnsafePointer(to: &storage) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { unsafe SocketAddress.nameAndPort($0) }
        }
    }

    /// Makes a socket non-blocking: `accept` must not block when a waiting connection was aborted, or accepted by another
    /// process.
    static func makeNonblocking(_ descriptor: Int32) {
        _ = fcntl(descriptor, F_SETFL, fcntl(descriptor, F_GETFL) | O_NONBLOCK)
    }

    /// Closes the socket, on which no thread accepts connections any more, and removes the file of a Unix socket.
    package func close() {
        Glibc.close(descriptor)
        removeFile()
    }

    /// Removes the file of a Unix socket that was closed.
    func removeFile() { file?.remove() }

    /// Returns the address for people: `http://HOST:PORT` or `https://HOST:PORT`, with brackets around an
    /// IPv6 address, or `unix:PATH`.
    package func url(isSecure: Bool) -> String {
        guard !isUnix else { return address }
        return (isSecure ? "https://" : "http://") + (address.contains(":") ? "[\(address)]" : address) + ":\(port)"
    }
}
