// SPDX-License-Identifier: Apache-2.0

internal import CMicrohttpd  // its headers make the system declarations used here visible
internal import Glibc
internal import RealmFormats
internal import RealmPlatform
internal import RealmStorage

/// Asks a server on this machine whether it is ready, for the command that container platforms use as a health check.
package enum HealthProbe {
    /// The result of probing a port.
    package enum Outcome: Equatable {
        /// The first line of a response.
        case answered(String)
        /// A server listens that speaks only TLS.
        case encrypted
        /// Something listens, and does not answer in HTTP.
        case silent
        /// Nothing listens.
        case refused
    }

    /// Sends `GET /readyz` to a port of this machine, and waits for at most two seconds.
    ///
    /// - Parameter port: The TCP port of the server, on 127.0.0.1.
    package static func ask(port: UInt16) -> Outcome {
        let socket = Glibc.socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        guard socket >= 0 else { return .refused }
        defer { close(socket) }
        var limit = timeval(tv_sec: 2, tv_usec: 0)
        for option in [SO_RCVTIMEO, SO_SNDTIMEO] {
            unsafe setsockopt(socket, SOL_SOCKET, option, &limit, socklen_t(MemoryLayout<timeval>.size))
        }
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
        let connected = unsafe withUnsafePointer(to: &address) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                unsafe connect(socket, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        let request = Array("GET /readyz HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n".utf8)
        guard connected == 0 else { return .refused }
        guard unsafe send(socket, request, request.count, Int32(MSG_NOSIGNAL)) == request.count else { return .silent }
        let answer = received(socket)
        guard answer.starts(with: "HTTP/".utf8) else { return .silent }
        if String(decoding: answer, as: UTF8.self).contains(TLSConnection.plainRefusal) { return .encrypted }
        return .answered(String(decoding: answer.prefix { $0 != 0x0d }, as: UTF8.self))
    }

    /// Returns the beginning of a response. Only a response with status 400 is read to the end, because its body may name TLS.
    private static func received(_ socket: Int32) -> [UInt8] {
        var answer: [UInt8] = []
        // The number of parts bounds the time that a port with single bytes takes.
        for _ in 0..<8 {
            var buffer = [UInt8](repeating: 0, count: 1024)
            let count = unsafe recv(socket, &buffer, buffer.count, 0)
            guard count > 0 else { break }
            answer += buffer.prefix(count)
            guard answer.starts(with: "HTTP/1.1 400 ".utf8) else { break }
        }
        return answer
    }
}
