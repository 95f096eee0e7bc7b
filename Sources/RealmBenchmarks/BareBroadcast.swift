// SPDX-License-Identifier: Apache-2.0

internal import CMicrohttpd  // its headers are where the compiler finds `MSG_NOSIGNAL`
internal import Glibc
internal import RealmStorage

/// The same bytes to all who are connected, and nothing else: what no server of events can be faster than.
final class BareBroadcast {
    let port: Int
    private let listening: Int32
    private var connections: [Int32] = []

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

    /// Takes so many connections, and answers each with an event that says it is ready.
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

    /// Sends to all, half of them from each of two threads, and does not wait for anybody to read.
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

    func stop() {
        for descriptor in connections { close(descriptor) }
        close(listening)
    }
}
