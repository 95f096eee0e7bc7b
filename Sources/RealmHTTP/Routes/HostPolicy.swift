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

    // MARK: - Sharing with pages of other origins

    /// The origin of the page, when it is one that may read answers.
    private func listedOrigin(_ request: Request) -> String? {
        guard !corsOrigins.isEmpty, let origin = request.headers[.origin], corsOrigins.contains(origin) else { return nil }
        return origin
    }

    /// `Vary`, and for a listed origin what lets its page read the answer.
    func addSharing(to response: inout Response, _ request: Request) {
        guard !corsOrigins.isEmpty else {
            response.add("Vary", constant: "Accept, Accept-Encoding, Authorization, Prefer")
            return
        }
        response.add("Vary", constant: "Accept, Accept-Encoding, Authorization, Prefer, Origin")
        guard let origin = listedOrigin(request) else { return }
        response.add("Access-Control-Allow-Origin", origin)
        response.add(
            "Access-Control-Expose-Headers",
            constant: "ETag, Link, Location, Retry-After, Realm-Version, Realm-Count, Realm-Unsafe-Integers, Realm-Lossy, Realm-Live-Versions, Idempotency-Replayed, Preference-Applied, X-Request-Id")
    }

    /// The answer to a browser that asks before it sends the real request.
    func addPreflight(to response: inout Response, _ request: Request, _ allowed: MethodSet) {
        guard listedOrigin(request) != nil, request.headers[.accessControlRequestMethod] != nil else { return }
        response.add("Access-Control-Allow-Methods", allowed.allow)
        if let headers = request.headers[.accessControlRequestHeaders], headers.utf8.allSatisfy({ MediaType.isToken($0) || $0 == 0x2c || $0 == 0x20 }) {
            response.add("Access-Control-Allow-Headers", headers)
        }
        response.add("Access-Control-Max-Age", constant: "600")
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
