// SPDX-License-Identifier: Apache-2.0

import MicroHTTP
import RealmAccess
import RealmFormats
import RealmHTTP
import RealmHosting
import RealmTestSupport
import Testing

/// A page could tell by the time of an answer whether an e-mail is in a realm: `where=email == 'x' AND …` took seconds
/// when it is, and none when not. Reading the answer was never possible; asking was.
@Suite struct OriginTests {
    private static let app = "https://app.example"
    private static let browser = (
        "User-Agent", "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 Chrome/150.0.0.0 Safari/537.36"
    )

    struct Sent: Sendable, CustomTestStringConvertible {
        let headers: [(String, String)]
        let isTaken: Bool
        /// The field that gave a page away.
        var header: String?
        init(_ isTaken: Bool, _ header: String? = nil, _ headers: (String, String)...) {
            self.headers = headers
            self.isTaken = isTaken
            self.header = header
        }
        var testDescription: String {
            headers.map { "\($0.0): \($0.1)" }.joined(separator: ", ") + (isTaken ? " is taken" : " is refused")
        }
    }

    /// `OWN` stands for the host and port of the server.
    static let sent: [Sent] = [
        Sent(true),
        Sent(true, nil, ("Sec-Fetch-Site", "none"), ("Sec-Fetch-Mode", "navigate"), ("Sec-Fetch-Dest", "document"), browser),
        Sent(true, nil, ("Sec-Fetch-Site", "same-origin"), browser),
        Sent(true, nil, ("Sec-Fetch-Site", "same-origin"), ("Origin", "http://OWN"), browser),
        Sent(true, nil, ("Sec-Fetch-Site", "same-origin"), ("Origin", "https://OWN"), browser),
        Sent(true, nil, ("Origin", "http://OWN"), browser),
        Sent(true, nil, ("Origin", "http://OWN")),
        Sent(true, nil, ("Referer", "http://OWN/console?x=1"), browser),
        Sent(true, nil, ("Sec-Fetch-Site", "cross-site"), ("Origin", app), browser),
        Sent(true, nil, ("Sec-Fetch-Site", "same-site"), ("Origin", app), browser),
        Sent(true, nil, ("Origin", app)),
        Sent(true, nil, ("Referer", app + "/page"), browser),
        Sent(true, nil, ("User-Agent", "curl/8.0"), ("Sec-Fetch-Mode", "cors")),
        Sent(true, nil, ("User-Agent", "Mozilla/5.0 (Windows NT; Windows NT 10.0; en-US) WindowsPowerShell/5.1")),
        Sent(false, "Sec-Fetch-Site", ("Sec-Fetch-Site", "cross-site")),
        Sent(false, "Sec-Fetch-Site", ("Sec-Fetch-Site", "same-site")),
        Sent(
            false, "Sec-Fetch-Site", ("Sec-Fetch-Site", "cross-site"), ("Sec-Fetch-Mode", "navigate"),
            ("Sec-Fetch-Dest", "document"), ("Sec-Fetch-User", "?1")),
        Sent(
            false, "Sec-Fetch-Site", ("Sec-Fetch-Site", "cross-site"), ("Sec-Fetch-Mode", "navigate"),
            ("Sec-Fetch-Dest", "iframe")),
        Sent(false, "Sec-Fetch-Site", ("Sec-Fetch-Site", "cross-site"), ("Sec-Purpose", "prefetch")),
        Sent(false, "Sec-Fetch-Site", ("Sec-Fetch-Site", "cross-site"), ("Referer", app + "/page")),
        Sent(false, "Sec-Fetch-Site", ("Sec-Fetch-Site", "")),
        Sent(false, "Sec-Fetch-Site", ("Sec-Fetch-Site", "Same-Origin")),
        Sent(false, "Sec-Fetch-Site", ("Sec-Fetch-Site", "something-new")),
        Sent(false, "Sec-Fetch-Site", ("Sec-Fetch-Site", "cross-site"), ("Origin", "http://OWN")),
        Sent(false, "Origin", ("Sec-Fetch-Site", "none"), ("Origin", "https://evil.example")),
        Sent(false, "Origin", ("Origin", "https://evil.example")),
        Sent(false, "Origin", ("Origin", "null")),
        Sent(false, "Origin", ("Origin", "")),
        Sent(false, "Origin", ("Origin", "https://OWN")),
        Sent(false, "Origin", ("Origin", "http://127.0.0.1")),
        Sent(false, "Origin", ("Origin", "http://localhost:1")),
        Sent(false, "Origin", ("Origin", "http://OWN.evil.example")),
        Sent(false, "Origin", ("Origin", "https://APP.example")),
        Sent(false, "Origin", ("Origin", app + ":8443")),
        Sent(false, "Origin", ("Origin", app + ", http://OWN")),
        Sent(false, "Origin", ("Origin", "chrome-extension://abcdefgh")),
        Sent(false, "Origin", ("Origin", "https://evil.example"), ("Upgrade", "websocket"), ("Connection", "Upgrade")),
        Sent(false, "Referer", ("Referer", "https://evil.example/"), browser),
        Sent(false, "Referer", ("Referer", "http://OWN@evil.example/")),
        Sent(false, "Referer", ("Referer", "http://OWN.evil.example/")),
        Sent(false, "Referer", ("Referer", "about:blank")),
        Sent(false, "Sec-Fetch-Site", browser),
        Sent(false, "Sec-Fetch-Site", browser, ("Upgrade-Insecure-Requests", "1")),
    ]

    @Test(arguments: sent)
    func `what pages of other origins send is refused, whatever they ask for`(_ sent: Sent) throws {
        let server = try TestServer(["links"]) { $0.corsOrigins = [OriginTests.app] }
        let headers = sent.headers.map { ($0.0, $0.1.replacing("OWN", with: "127.0.0.1:\(server.port)")) }
        let requests = [
            ("GET", "/v1/realms/links/objects/Person?limit=1"), ("HEAD", "/v1/realms/links"), ("GET", "/v1/realms/none"),
            ("GET", "/healthz"),
            ("GET", "/nothing"), ("QUERY", "/v1/realms/links/objects/Person"), ("POST", "/v1/realms/links/query/Person"),
            ("OPTIONS", "/v1/realms/links"), ("DELETE", "/v1/realms/links/objects/Person/1"), ("GET", "/metrics"), ("BREW", "/"),
            ("GET", "/" + String(repeating: "a", count: 9000)), ("GET", "/v1/realms/links/changes?class=Person&wait=0"),
        ]
        for (method, target) in requests {
            let body = method == "POST" || method == "QUERY" ? "{}" : nil
            let answer = try server.request(method, target, headers: headers + [("Content-Type", "application/json")], body: body)
            let isRefused = answer.status == 403 && (answer.code == "cross_origin" || method == "HEAD")
            #expect(isRefused == !sent.isTaken, "\(method) \(target.prefix(60)): \(answer.status) \(answer.text.prefix(200))")
            if isRefused, method != "HEAD" { #expect(answer.json["header"]?.text == sent.header) }
        }
    }

    @Test func `the refusal is the same whether something exists or not`() throws {
        let server = try TestServer(["links"])
        let foreign = [("Sec-Fetch-Site", "cross-site"), ("X-Request-Id", "same")]
        let first = try server.get("/v1/realms/links/objects/Person?where=name%20%3D%3D%20'x'", headers: foreign)
        for target in [
            "/v1/realms/none", "/nothing", "/v1/realms/links/objects/Person/73", "/metrics", "/admin/config", "/v1/realms/%ff",
        ] {
            let answer = try server.get(target, headers: foreign)
            #expect(answer.status == 403)
            #expect(answer.body == first.body)
            #expect(answer.headers.map(\.name) == first.headers.map(\.name))
        }
    }

    @Test func `two statements about the origin are refused`() throws {
        let server = try TestServer(["links"])
        for site in [["none", "cross-site"], ["cross-site", "none"]] {
            let answer = try server.get("/v1/realms", headers: site.map { ("Sec-Fetch-Site", $0) })
            #expect([400, 403].contains(answer.status))
        }
    }

    @Test func `every answer tells browsers to keep it from other origins`() throws {
        let server = try TestServer(["links"])
        let targets = [
            "/v1/realms", "/v1/realms/links/objects/Person?limit=1", "/v1/realms/none", "/nothing", "/healthz", "/metrics",
            "/v1/openapi.json",
            "/v1/realms/links/export", "/v1/realms/links/changes?class=Person&wait=0",
        ]
        let callers: [[(String, String)]] = [
            [], [("Sec-Fetch-Site", "none")], [("Sec-Fetch-Site", "cross-site")], [("Origin", "null")],
            [("Referer", "http://evil.example/")],
            [OriginTests.browser], [OriginTests.browser, ("Host", "evil.example")],
            [OriginTests.browser, ("X-Forwarded-For", "::1")],
        ]
        for headers in callers {
            for target in targets {
                let answer = try server.get(target, headers: headers)
                #expect(answer["Cross-Origin-Resource-Policy"] == "same-origin", "\(target)")
                // What is about documents that are shown is said to all who may show them.
                #expect(answer["Cross-Origin-Opener-Policy"] == (headers.isEmpty ? nil : "same-origin"))
                #expect((answer["Content-Security-Policy"]?.contains("frame-ancestors 'none'") == true) == !headers.isEmpty)
                #expect(answer["Referrer-Policy"] == (headers.isEmpty ? nil : "same-origin"))
                #expect(answer["X-Content-Type-Options"] == "nosniff")
                #expect(answer["Vary"] == "Accept, Accept-Encoding, Authorization, Cookie, Prefer, Origin, Sec-Fetch-Site")
                #expect(answer["Access-Control-Allow-Origin"] == nil)
            }
        }
        let stream = try HTTPClient(port: server.port)
        try stream.send(
            "GET /v1/realms/links/changes?class=Person HTTP/1.1\r\nHost: localhost\r\nAccept: text/event-stream\r\n\r\n")
        var head = ""
        while !head.contains("\r\n\r\n"), try stream.receiveSome() { head = stream.receivedText }
        #expect(head.hasPrefix("HTTP/1.1 200"))
        #expect(head.contains("Cross-Origin-Resource-Policy: same-origin\r\n"))
    }

    @Test func `so does the answer to a request that never became complete`() throws {
        let server = try TestServer(["links"]) { $0.limits.http.requestSeconds = 1 }
        let client = try HTTPClient(port: server.port)
        try client.send("POST /v1/realms/links/query/Person HTTP/1.1\r\nHost: localhost\r\nContent-Length: 9\r\n\r\n{")
        let answer = try client.readAnswer()
        #expect(answer.status == 408)
        #expect(answer["Cross-Origin-Resource-Policy"] == "same-origin")
        #expect(answer["Vary"]?.contains("Origin") == true)
    }

    @Test(arguments: [
        "app.example", "https://", "http:///", "https://app.example/", "https://app.example/page", "https://app.example?x",
        "null", "*",
        "https://*.example", "HTTPS://app.example", "https://App.example", "https://app.example:443", "http://localhost:80",
        "https://user@app.example", "https://app.example:x", "https://app.example:", "ftp://app.example", "https://app.example ",
        "",
        "https://[::1", "https://bücher.example",
    ])
    func `an origin that no browser would send is refused at the start`(_ origin: String) {
        #expect(throws: RealmServer.Failure.self) { _ = try TestServer(["links"]) { $0.corsOrigins = [origin] } }
    }

    @Test(arguments: [
        "https://app.example", "http://localhost:3000", "http://127.0.0.1", "https://[::1]:8443", "https://xn--bcher-kva.example",
    ])
    func `origins as browsers send them are taken`(_ origin: String) {
        #expect(throws: Never.self) { _ = try TestServer(["links"]) { $0.corsOrigins = [origin] } }
    }
}

/// A name that leads here by its owner's choice (DNS rebinding) is not one of ours, however it is written.
@Suite struct HostTests {
    @Test(arguments: [
        "evil.example", "localhost.", "127.0.0.1.", "localhost.evil.example", "evil.example:80", "localhost@evil.example",
        "evil.example@localhost", "localhost:80@evil.example", "localhost:80:80", "localhost:http", "localhost:123456", "[::1]x",
        "[::1", "::1",
        "[::1%25lo]:80", "[fe80::1%25eth0]", "[::ffff:127.0.0.1]", "127.1", "2130706433", "0x7f000001", "0.0.0.0", "127.0.0.2",
        "localhost, evil.example",
        "localhost evil.example", "localhost/", "http://localhost", "[localhost]", "*", "-",
    ])
    func `other hosts are refused`(_ host: String) throws {
        let server = try TestServer(["links"])
        let answer = try server.get("/v1/realms", headers: [("Host", host)])
        #expect(answer.status == 421)
        #expect(answer.code == "host_not_allowed")
        // Nor does the target help, in which proxies are told the host.
        guard !host.contains("/") else { return }
        let absolute = try server.get("http://\(host)/v1/realms")
        #expect([400, 404, 421].contains(absolute.status), "\(absolute.status)")
    }

    @Test func `the host of an absolute target counts beside the field`() throws {
        let server = try TestServer(["links"])
        #expect(try server.get("http://localhost:1/v1/realms").status == 200)
        #expect(try server.get("http://evil.example/v1/realms").code == "host_not_allowed")
        #expect(try server.get("http://localhost/v1/realms", headers: [("Host", "evil.example")]).code == "host_not_allowed")
    }

    @Test func `no host and two hosts`() throws {
        let server = try TestServer(["links"])
        for head in [
            "GET /v1/realms HTTP/1.1\r\n\r\n", "GET /v1/realms HTTP/1.1\r\nHost: localhost\r\nHost: evil.example\r\n\r\n",
        ] {
            let client = try HTTPClient(port: server.port)
            try client.send(head)
            #expect(try client.readAnswer().status == 400)
        }
    }
}
