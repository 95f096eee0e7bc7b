// SPDX-License-Identifier: Apache-2.0

internal import CMicrohttpd
internal import Glibc

/// A bound TCP or Unix socket that listens.
package struct ListeningSocket: Sendable {
    /// The socket, which the daemon closes when it stops.
    package let descriptor: Int32
    /// The port it really has.
    package let port: Int
    /// The address it is bound to, as text.
    package let address: String
    /// Whether only this machine can reach it.
    package let isLoopback: Bool
    /// The file of a Unix socket.
    let file: UnixSocketFile?

    /// A sentence for the command line.
    package struct Failure: Error, CustomStringConvertible {
        package let description: String
    }

    /// Binds `host` (a name or an address) and `port`; port 0 picks one.
    package init(host: String, port: Int, backlog: Int32 = 1024) throws(Failure) {
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
        var reason = "no address"
        var candidate: UnsafeMutablePointer<addrinfo>? = unsafe first
        while let entry = unsafe candidate {
            if let bound = unsafe ListeningSocket.bound(entry.pointee, backlog) {
                self = bound
                return
            }
            reason = unsafe String(cString: strerror(errno))
            unsafe candidate = unsafe entry.pointee.ai_next
        }
        throw Failure(description: "cannot listen on \(host):\(port): \(reason)")
    }

    private init(descriptor: Int32, port: Int, address: String) {
        self.descriptor = descriptor
        self.port = port
        self.address = address
        isLoopback = address.hasPrefix("127.") || address == "::1"
        file = nil
    }

    /// Binds a Unix socket at `path` that only this user can open.
    package init(unixPath path: String) throws(Failure) {
        (descriptor, file) = try UnixSocketFile.listen(at: path)
        port = 0
        address = "unix:" + path
        isLoopback = true
    }

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

    /// The daemon's threads share it, so none may block in accept.
    static func makeNonblocking(_ descriptor: Int32) {
        _ = fcntl(descriptor, F_SETFL, fcntl(descriptor, F_GETFL) | O_NONBLOCK)
    }

    /// Closes a socket that no daemon was started on.
    func close() {
        Glibc.close(descriptor)
        removeFile()
    }

    /// Removes the file of a Unix socket that is closed.
    func removeFile() { file?.remove() }

    /// `http://HOST:PORT` with brackets around IPv6 addresses, or `unix:PATH`.
    package var url: String {
        file != nil ? address : "http://" + (address.contains(":") ? "[\(address)]" : address) + ":\(port)"
    }
}
