// SPDX-License-Identifier: Apache-2.0

internal import CMicrohttpd  // its headers are where the compiler finds `MSG_NOSIGNAL`
internal import Glibc
internal import RealmPlatform
internal import RealmStorage

/// Sends the same bytes to all connections, without any server in between.
///
/// It is the lower bound for the delivery of events: no server of change streams can be faster on this machine.
/// `BroadcastBenchmarks` compares the server with it. Its methods are called on one thread.
final class BareBroadcast {
    /// The TCP port that it listens on.
    let port: Int
    /// The socket on which connections are accepted.
    private let listening: Int32
    /// The sockets of the accepted connections.
    private var connections: [Int32] = []

    /// Opens a listening socket on a free port of the loopback address.
    ///
    /// - Throws: `BenchmarkError` when the system provides no port.
    init() throws {
        let listening = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = in_addr_t(0x7f00_0001).bigEndian
        var size = socklen_t(MemoryLayout<sockaddr_in>.size)
        let failure = unsafe withUnsafeMutablePointer(to: &address) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                unsafe bind(listening, address, size) != 0 || Glibc.listen(listening, 4096) != 0
                    || getsockname(listening, address, &size) != 0
            }
        }
        guard !failure else { throw BenchmarkError.unsuitable("no port for the bare broadcast") }
        self.listening = listening
        port = Int(UInt16(bigEndian: address.sin_port))
    }

    /// Accepts connections, and answers the request of each with an event named `ready`.
    ///
    /// - Parameter count: The number of connections, which must be connected or about to be.
    func accept(_ count: Int) {
        let head = Array("HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\nevent: ready\n\n".utf8)
        var request = [UInt8](repeating: 0, count: 4096)
        for _ in 0..<count {
            let descriptor = Glibc.accept(listening, nil, nil)
            guard descriptor >= 0 else { return }
            var on: Int32 = 1
            unsafe setsockopt(descriptor, Int32(IPPROTO_TCP), TCP_NODELAY, &on, socklen_t(MemoryLayout<Int32>.size))
            _ = unsafe recv(descriptor, &request, request.count, 0)
            _ = unsafe Glibc.send(descriptor, head, head.count, Int32(MSG_NOSIGNAL))
            connections.append(descriptor)
        }
    }

    /// Sends bytes to all connections, half of them from each of two threads, without waiting for any reader.
    ///
    /// - Parameter bytes: The bytes of one event, which end with an empty line.
    func send(_ bytes: [UInt8]) {
        let connections = connections
        let left = Monitor(2)
        for half in 0..<2 {
            try? Threads.start("broadcast") {
                for index in stride(from: half, to: connections.count, by: 2) {
                    _ = unsafe Glibc.send(connections[index], bytes, bytes.count, Int32(MSG_NOSIGNAL))
                }
                left.broadcast { $0 -= 1 }
            }
        }
        _ = left.wait { $0 == 0 ? true : nil }
    }

    /// Closes all connections and the listening socket.
    func stop() {
        for descriptor in connections { close(descriptor) }
        close(listening)
    }
}
