// SPDX-License-Identifier: Apache-2.0

/// Which names clients may call this server by.
///
/// A web page can have its own name lead to this machine; the `Host` of what its browser sends gives it away. Only what
/// is written exactly like an allowed name passes: no user, no dot behind it, no zone, no text that is not a port.
package struct HostPolicy: Sendable {
    /// Lower case, without port.
    package private(set) var hosts: Set<String> = ["localhost", "127.0.0.1", "[::1]"]

    /// Allows the address that the server is bound to, the names of loopback, and the names in `extra`.
    package init(boundAddress: String, extra: [String] = []) {
        insert(boundAddress)
        for host in extra { insert(host) }
    }

    /// Allows one more name or address.
    package mutating func insert(_ host: String) {
        let isBareIPv6 = host.contains(":") && !host.hasPrefix("[")
        hosts.insert(isBareIPv6 ? "[\(host.lowercased())]" : host.lowercased())
    }

    /// Checks the `Host` field, and the name in a target of absolute form. A request of HTTP/1.0 may go without `Host`.
    package func check(_ request: Request) throws(Problem) {
        if let authority = request.target.authority, !allows(authority) { throw HostPolicy.refusal }
        guard let host = request.headers[.host], !host.isEmpty else {
            guard request.isHTTP10 else { throw .invalidHeader("Host", "a request needs a Host header field") }
            return
        }
        guard allows(host) else { throw HostPolicy.refusal }
    }

    private static var refusal: Problem {
        Problem(.hostNotAllowed, "the host name of this request is not in the allowed list, to which --allow-host adds")
    }

    private func allows(_ authority: String) -> Bool {
        guard let name = HostPolicy.name(in: authority) else { return false }
        return hosts.contains(name) || hosts.contains(name.lowercased())
    }

    /// The host in `HOST` or `HOST:PORT`; nil when something else stands behind it.
    static func name(in authority: String) -> String? {
        // Every request comes by here, and an array is looked through faster than a text.
        let bytes = Array(authority.utf8)
        var end = bytes.count
        if bytes.first == UInt8(ascii: "[") {
            guard let bracket = bytes.firstIndex(of: UInt8(ascii: "]")) else { return nil }
            end = bracket + 1
        } else if let colon = bytes.firstIndex(of: UInt8(ascii: ":")) {
            end = colon
        }
        guard end < bytes.count else { return authority }
        let port = bytes[(end + 1)...]
        guard bytes[end] == UInt8(ascii: ":"), port.count <= 5, port.allSatisfy({ (0x30...0x39).contains($0) }) else {
            return nil
        }
        return String(decoding: bytes[..<end], as: UTF8.self)
    }
}
