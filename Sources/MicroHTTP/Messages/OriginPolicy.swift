// SPDX-License-Identifier: Apache-2.0

package import RealmFormats
package import RealmPlatform
internal import RealmStorage

/// Decides which web pages may use the server: those of its own origin and of listed origins; pages
/// of all other origins are refused.
///
/// Any page can make the browser of its user send requests to this server. The page cannot read the responses, but their duration
/// reveals the content of a realm. So such requests are refused before any look-up: the refusal is the same, and takes the same
/// time, for every request. Programs other than browsers send none of these header fields and are not affected.
package struct OriginPolicy: Sendable {
    /// The listed origins, such as `https://app.example`, exactly as browsers send them.
    package var allowed: Set<ByteText> = []

    /// Allows pages of the server's own origin and of the listed ones.
    ///
    /// - Parameter allowed: Origins for which `error(in:)` returns nil.
    package init(allowed: Set<ByteText> = []) { self.allowed = allowed }

    /// Checks that a request was not caused by a page of an origin that is not allowed.
    ///
    /// The decision uses `Origin` first, then `Sec-Fetch-Site`, and `Referer` where a browser sends neither.
    ///
    /// - Parameter request: The request with its header fields.
    /// - Throws: 403 `cross_origin` with the field that decided.
    package func check(_ request: Request) throws(Problem) {
        let origin = request[.origin]
        if let origin {
            if allowed.contains(origin) { return }
            guard isOwn(origin, request) else { throw OriginPolicy.refusal("Origin") }
        }
        switch request[.fetchSite] {
        // `none` means that a person started the request: an address that was typed, or a bookmark.
        case "none", "same-origin": return
        case nil: break
        default: throw OriginPolicy.refusal("Sec-Fetch-Site")
        }
        if origin == nil { try checkWithoutStatement(request) }
    }

    /// Checks a request without `Origin` and `Sec-Fetch-Site`: that of a program, of an old
    /// browser, or of any browser when the server is neither on loopback nor reached by https.
    private func checkWithoutStatement(_ request: Request) throws(Problem) {
        if let referer = request[.referer] {
            guard let origin = OriginPolicy.origin(ofURL: referer), allowed.contains(origin) || isOwn(origin, request) else {
                throw OriginPolicy.refusal("Referer")
            }
        } else if request.headers.isFromBrowser {
            throw Problem(
                .crossOrigin,
                "this browser does not say which page a request comes from, as browsers do only on loopback and with https, "
                    + "so it may be a page of another origin; other programs are not affected"
            ).with("header", "Sec-Fetch-Site")
        }
    }

    /// Makes the 403 for a page of another origin; `header` is the field that shows it.
    private static func refusal(_ header: String) -> Problem {
        Problem(
            .crossOrigin,
            "this request comes from a page of another origin; --allow-origin lists origins whose pages may use this server, "
                + "and a person can open this address by typing it into the address bar"
        ).with("header", header)
    }

    /// Whether an origin is the one that the request was sent to.
    ///
    /// The host has been checked before. Where the server itself encrypts, only the https origin is its own. Where it speaks
    /// plain HTTP, an https origin of the same host is its own only if something in front of it terminates TLS: a proxy has
    /// left its mark, or the browser itself states that both origins are the same.
    private func isOwn(_ origin: String, _ request: Request) -> Bool {
        guard let host = request[.host]?.lowercasedASCII, !host.isEmpty else { return false }
        if request.isSecure { return origin == "https://" + host }
        if origin == "http://" + host { return true }
        guard origin == "https://" + host else { return false }
        return request.headers.forwardedBy != nil || request[.fetchSite] == "same-origin"
    }

    /// Returns `scheme://host:port` of an http or https URL; nil for any other text.
    private static func origin(ofURL url: String) -> String? {
        for scheme in ["http://", "https://"] {
            guard let rest = url.dropping(prefix: scheme) else { continue }
            return scheme + rest.prefix { $0 != "/" && $0 != "?" && $0 != "#" }
        }
        return nil
    }

    /// Returns the error in an origin that was given on the command line.
    ///
    /// - Parameter origin: A text that should have the form `scheme://host` or
    ///   `scheme://host:port`.
    /// - Returns: A sentence that states the error; nil when browsers can send exactly this origin.
    package static func defect(in origin: String) -> String? {
        guard origin == origin.lowercasedASCII, let scheme = ["http://", "https://"].first(where: { origin.hasPrefix($0) }) else {
            return "an origin begins with http:// or https:// and is written in lower case, such as https://app.example"
        }
        let authority = String(decoding: origin.utf8.dropFirst(scheme.utf8.count), as: UTF8.self)
        guard !authority.contains(where: { "/?#".contains($0) }) else {
            return
                "an origin ends with its host or port, without a path or a slash, such as \(scheme)\(authority.prefix { !"/?#".contains($0) })"
        }
        guard let host = HostPolicy.name(in: authority), !host.isEmpty, !authority.hasSuffix(":"),
            host.utf8.allSatisfy({ OriginPolicy.isHostByte($0) })
        else { return "an origin is a scheme, a host and perhaps a port, such as https://app.example:8443" }
        guard authority != host + (scheme == "http://" ? ":80" : ":443") else {
            return "browsers leave the usual port out of an origin: write \(scheme)\(host)"
        }
        return nil
    }

    /// Whether a byte may occur in the host of an origin: lower-case letters, digits and the signs
    /// of names and addresses. Browsers encode all other names with these.
    private static func isHostByte(_ byte: UInt8) -> Bool {
        switch byte {
        case 0x30...0x39, 0x61...0x7a: return true
        default: return "-._[]:".utf8.contains(byte)
        }
    }
}

// MARK: - Header fields for browsers

extension OriginPolicy {
    /// Returns the origin of the page that sent a request, if it is listed and may therefore read the response.
    private func listedOrigin(_ request: Request) -> String? {
        guard !allowed.isEmpty, let origin = request[.origin], allowed.contains(origin) else { return nil }
        return origin
    }

    /// Adds the header fields that state to browsers the origins that may read, embed or frame a response, and its caching. For a
    /// page of a listed origin the CORS fields are added, too.
    ///
    /// Clients that cannot be browsers receive only the fields that matter to caches: the others
    /// would take a measurable part of the time of a short response.
    ///
    /// - Parameters:
    ///   - response: The response that is about to be sent.
    ///   - request: The request that it answers.
    package func addRules(to response: inout Response, _ request: Request) {
        let isDocument = !response.isPage && OriginPolicy.mayBeShown(request)
        response.headers.append(contentsOf: isDocument ? OriginPolicy.rules : OriginPolicy.rulesForAll)
        guard let origin = listedOrigin(request) else { return }
        response.add("Access-Control-Allow-Origin", origin)
        response.add(
            "Access-Control-Expose-Headers",
            constant:
                "ETag, Link, Location, Retry-After, Realm-Version, Realm-Count, Realm-Unsafe-Integers, Realm-Lossy, Realm-Partial, Realm-Live-Versions, Idempotency-Replayed, Preference-Applied, Accept-Ranges, Content-Range, Content-Disposition, X-Request-Id"
        )
    }

    /// Whether the client may be a browser, which would display the response: all browsers identify themselves as such, and most
    /// send more fields that programs do not.
    private static func mayBeShown(_ request: Request) -> Bool {
        let headers = request.headers
        return headers.isFromBrowser || headers[.fetchSite] != nil || headers[.origin] != nil || headers[.referer] != nil
    }

    /// The header fields of every response.
    package static let rulesForAll: [HeaderField] = [
        HeaderField("Vary", "Accept, Accept-Encoding, Authorization, Cookie, Prefer, Origin, Sec-Fetch-Site"),
        HeaderField("X-Content-Type-Options", "nosniff"),
        HeaderField("Cross-Origin-Resource-Policy", "same-origin"),
    ]

    /// The header fields for clients that may be browsers: `rulesForAll`, and the rules for documents that are displayed.
    package static let rules: [HeaderField] =
        rulesForAll + [
            HeaderField("Cross-Origin-Opener-Policy", "same-origin"),
            HeaderField("Content-Security-Policy", "default-src 'none'; frame-ancestors 'none'"),
            HeaderField("Referrer-Policy", "same-origin"),
        ]

    /// `rules` as lines of a header section, for responses that the server writes to a socket itself; see `FinalResponse`.
    package static let ruleLines = rules.map { "\($0.name): \($0.text)\r\n" }.joined()

    /// Adds the CORS fields that answer a preflight request, by which a browser asks before it
    /// sends the actual request. Nothing is added for origins that are not listed.
    ///
    /// - Parameters:
    ///   - response: The response to an `OPTIONS` request.
    ///   - allowed: The methods that this client may use at the path.
    package func addPreflight(to response: inout Response, _ request: Request, _ allowed: MethodSet) {
        guard listedOrigin(request) != nil, request[.accessControlRequestMethod] != nil else { return }
        response.add("Access-Control-Allow-Methods", allowed.allow)
        if let headers = request[.accessControlRequestHeaders],
            headers.utf8.allSatisfy({ MediaType.isToken($0) || $0 == 0x2c || $0 == 0x20 })
        {
            response.add("Access-Control-Allow-Headers", headers)
        }
        response.add("Access-Control-Max-Age", constant: "600")
    }
}
