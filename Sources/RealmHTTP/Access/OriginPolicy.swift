// SPDX-License-Identifier: Apache-2.0

/// What pages in browsers may ask: those of this server's own origin everything, those of listed origins too, others nothing.
///
/// Any page can make the browser of its visitor send requests to this server. It cannot read the answers, but the time
/// that they take tells it what is in a realm. So the requests of other pages are refused before anything is looked up:
/// the refusal is the same, and takes the same time, whatever they ask for. Programs send none of these header fields.
package struct OriginPolicy: Sendable {
    /// Listed origins, exactly as browsers send them.
    package var allowed: Set<String> = []

    /// Allows pages of the server's own origin, and those of the listed ones.
    package init(allowed: Set<String> = []) { self.allowed = allowed }

    /// Throws `cross_origin` for what a page of another origin sent.
    package func check(_ request: Request) throws(Problem) {
        let origin = request.headers[.origin]
        if let origin {
            if allowed.contains(origin) { return }
            guard isOwn(origin, request) else { throw OriginPolicy.refusal("Origin") }
        }
        switch request.headers[.fetchSite] {
        // `none` is what people do themselves: an address that was typed, a bookmark.
        case "none", "same-origin": return
        case nil: break
        default: throw OriginPolicy.refusal("Sec-Fetch-Site")
        }
        if origin == nil { try checkWithoutStatement(request) }
    }

    /// Browsers before `Sec-Fetch-Site`, and all of them when the server is neither on loopback nor behind https.
    private func checkWithoutStatement(_ request: Request) throws(Problem) {
        if let referer = request.headers[.referer] {
            guard let origin = OriginPolicy.origin(ofURL: referer), allowed.contains(origin) || isOwn(origin, request) else {
                throw OriginPolicy.refusal("Referer")
            }
        } else if request.headers.isFromBrowser {
            throw Problem(
                .crossOrigin,
                "this browser does not say which page a request comes from, as browsers do only on loopback and with https, "
                    + "so it may be a page of another origin; programs are not asked"
            ).with("header", "Sec-Fetch-Site")
        }
    }

    private static func refusal(_ header: String) -> Problem {
        Problem(
            .crossOrigin,
            "this request comes from a page of another origin; --allow-origin lists origins whose pages may use this server, "
                + "and whoever wants to see this address can type it into the address bar"
        ).with("header", header)
    }

    /// Whether an origin is the one that the request was sent to.
    ///
    /// The host was checked before. Only whoever ends TLS in front of the server makes it an https origin; a page of https
    /// on the same host is another origin otherwise.
    private func isOwn(_ origin: String, _ request: Request) -> Bool {
        guard let host = request.headers[.host]?.lowercased(), !host.isEmpty else { return false }
        if origin == "http://" + host { return true }
        guard origin == "https://" + host else { return false }
        return request.headers.forwardedBy != nil || request.headers[.fetchSite] == "same-origin"
    }

    /// `scheme://host:port` of a URL; nil for what has none.
    private static func origin(ofURL url: String) -> String? {
        for scheme in ["http://", "https://"] where url.hasPrefix(scheme) {
            return scheme + url.dropFirst(scheme.count).prefix { $0 != "/" && $0 != "?" && $0 != "#" }
        }
        return nil
    }

    /// The mistake in an origin that the command line lists; nil when it is one.
    package static func mistake(in origin: String) -> String? {
        guard origin == origin.lowercased(), let scheme = ["http://", "https://"].first(where: { origin.hasPrefix($0) }) else {
            return "an origin begins with http:// or https:// and is written in lower case, such as https://app.example"
        }
        let authority = String(origin.dropFirst(scheme.count))
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

    /// Letters, digits, and what addresses have; browsers write all other names with these.
    private static func isHostByte(_ byte: UInt8) -> Bool {
        switch byte {
        case 0x30...0x39, 0x61...0x7a: return true
        default: return "-._[]:".utf8.contains(byte)
        }
    }
}

// MARK: - What answers say to browsers

extension OriginPolicy {
    /// The origin of the page, when it is one that may read answers.
    private func listedOrigin(_ request: Request) -> String? {
        guard !allowed.isEmpty, let origin = request.headers[.origin], allowed.contains(origin) else { return nil }
        return origin
    }

    /// What answers say: who may read, embed, frame or keep hold of them, and for a listed origin that its page may read them.
    ///
    /// A program is spared the rules for documents that are shown, which would cost a short answer some hundredths of its time.
    func addRules(to response: inout Response, _ request: Request) {
        response.headers.append(contentsOf: OriginPolicy.mayBeShown(request) ? OriginPolicy.rules : OriginPolicy.rulesForAll)
        guard let origin = listedOrigin(request) else { return }
        response.add("Access-Control-Allow-Origin", origin)
        response.add(
            "Access-Control-Expose-Headers",
            constant:
                "ETag, Link, Location, Retry-After, Realm-Version, Realm-Count, Realm-Unsafe-Integers, Realm-Lossy, Realm-Live-Versions, Idempotency-Replayed, Preference-Applied, X-Request-Id"
        )
    }

    /// Whether the client may be a browser: each calls itself one, and most say more.
    private static func mayBeShown(_ request: Request) -> Bool {
        let headers = request.headers
        return headers.isFromBrowser || headers[.fetchSite] != nil || headers[.origin] != nil || headers[.referer] != nil
    }

    /// A page of a listed origin reads with CORS, to which `Cross-Origin-Resource-Policy` does not apply.
    static let rulesForAll: [HeaderField] = [
        HeaderField("Vary", "Accept, Accept-Encoding, Authorization, Prefer, Origin, Sec-Fetch-Site"),
        HeaderField("X-Content-Type-Options", "nosniff"),
        HeaderField("Cross-Origin-Resource-Policy", "same-origin"),
    ]

    /// With those for documents.
    static let rules: [HeaderField] =
        rulesForAll + [
            HeaderField("Cross-Origin-Opener-Policy", "same-origin"),
            HeaderField("Content-Security-Policy", "default-src 'none'; frame-ancestors 'none'"),
            HeaderField("Referrer-Policy", "same-origin"),
        ]

    /// The rules as lines of a head, for an answer that is not made by the daemon.
    static let ruleLines = rules.map { "\($0.name): \($0.text)\r\n" }.joined()

    /// The answer to a browser that asks before it sends the real request.
    func addPreflight(to response: inout Response, _ request: Request, _ allowed: MethodSet) {
        guard listedOrigin(request) != nil, request.headers[.accessControlRequestMethod] != nil else { return }
        response.add("Access-Control-Allow-Methods", allowed.allow)
        if let headers = request.headers[.accessControlRequestHeaders],
            headers.utf8.allSatisfy({ MediaType.isToken($0) || $0 == 0x2c || $0 == 0x20 })
        {
            response.add("Access-Control-Allow-Headers", headers)
        }
        response.add("Access-Control-Max-Age", constant: "600")
    }
}
