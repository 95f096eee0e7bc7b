// SPDX-License-Identifier: Apache-2.0

/// Which `Host` and `Origin` a request may have.
///
/// A web page can make a browser send requests to this server under a name of its own choosing; the name gives it away.
package struct HostPolicy: Sendable {
    /// Lower case, without port.
    package var hosts: Set<String>
    /// Origins that may read answers from a page, exactly as browsers send them.
    package var corsOrigins: Set<String> = []

    package init(boundAddress: String, extra: [String] = []) {
        hosts = ["localhost", "127.0.0.1", "[::1]"]
        hosts.insert(boundAddress.contains(":") ? "[\(boundAddress)]" : boundAddress)
        for host in extra { hosts.insert(host.lowercased()) }
    }

    /// Checks the `Host` field. A request of HTTP/1.0 may go without.
    package func checkHost(_ request: Request) throws(Problem) {
        guard let host = request.headers[.host], !host.isEmpty else {
            guard request.isHTTP10 else { throw .invalidHeader("Host", "a request needs a Host header field") }
            return
        }
        let name = HostPolicy.withoutPort(host)
        guard hosts.contains(name) || hosts.contains(name.lowercased()) else {
            throw Problem(.hostNotAllowed, "the host name of this request is not in the allowed list")
        }
    }

    /// Unsafe methods from a page of another origin are refused unless the origin is listed.
    package func checkOrigin(_ request: Request) throws(Problem) {
        guard let origin = request.headers[.origin], request.method?.isSafe != true else { return }
        if corsOrigins.contains(origin) { return }
        let host = request.headers[.host] ?? ""
        guard origin == "http://" + host || origin == "https://" + host else {
            throw Problem(.forbidden, "requests that change something are not taken from pages of another origin")
                .with("header", "Origin")
        }
    }

    private static func withoutPort(_ host: String) -> String {
        if host.utf8.first == UInt8(ascii: "[") {
            guard let end = host.firstIndex(of: "]") else { return host }
            return String(host[...end])
        }
        guard let colon = host.utf8.lastIndex(of: UInt8(ascii: ":")) else { return host }
        return String(host[..<colon])
    }
}
