// SPDX-License-Identifier: Apache-2.0

import Foundation
@testable import MicroHTTP
import RealmAccess
import RealmFormats
import RealmHTTP
@testable import RealmHosting
import RealmTestSupport
import Testing

/// What proxies say about their clients, and what clients pretend that proxies say.
@Suite struct TrustedProxyTests {
    private static let proxies = TrustedProxies(["127.0.0.1", "10.0.0.0/8", "2001:db8::/32"].compactMap { AddressRange($0) })

    // MARK: - Addresses

    @Test(arguments: [
        ("192.0.2.1", "192.0.2.1"), ("0.0.0.0", "0.0.0.0"), ("::ffff:192.0.2.1", "192.0.2.1"), ("::FFFF:c000:201", "192.0.2.1"),
        ("::1", "0:0:0:0:0:0:0:1"), ("::", "0:0:0:0:0:0:0:0"), ("2001:DB8::7", "2001:db8:0:0:0:0:0:7"),
        ("1::", "1:0:0:0:0:0:0:0"),
        ("1:2:3:4:5:6:7:8", "1:2:3:4:5:6:7:8"), ("64:ff9b::1.2.3.4", "64:ff9b:0:0:0:0:102:304"),
        ("01.2.3.4", nil), ("1.2.3", nil), ("1.2.3.4.5", nil), ("1.2.3.256", nil), ("0x7f.1.1.1", nil), ("127.1", nil), ("", nil),
        ("1.2.3.4 ", nil), ("::1%eth0", nil), ("1::2::3", nil), (":::", nil), ("1:2:3:4:5:6:7", nil), ("1:2:3:4:5:6:7:8:9", nil),
        ("12345::", nil), ("::g", nil), ("1:2:3:4:5:6:7::8", nil), ("::1.2.3.4:5", nil), (":1:2:3:4:5:6:7", nil),
        ("+1.2.3.4", nil),
        ("١.٢.٣.٤", nil),
    ])
    func `addresses are read in their usual form alone`(_ text: String, _ expected: String?) {
        #expect(NetworkAddress(text)?.description == expected)
    }

    @Test func `ranges have the addresses that begin with the same bits`() throws {
        func has(_ range: String, _ address: String) throws -> Bool {
            try #require(AddressRange(range)).contains(try #require(NetworkAddress(address)))
        }
        #expect(try has("10.0.0.0/8", "10.255.0.1") && has("10.1.2.3", "10.1.2.3") && has("0.0.0.0/0", "255.1.1.1"))
        #expect(try has("::/0", "::1") && has("2001:db8::/33", "2001:db8:7fff::1") && has("::ffff:10.0.0.0/104", "10.9.9.9"))
        #expect(try !has("10.0.0.0/8", "11.0.0.0") && !has("10.1.2.3/32", "10.1.2.2") && !has("::/0", "10.0.0.1"))
        #expect(try !has("2001:db8::/33", "2001:db8:8000::") && !has("0.0.0.0/0", "::1") && !has("fe80::1/128", "fe80::2"))
        for wrong in [
            "", "/8", "10.0.0.0/", "10.0.0.0/33", "10.0.0.0/-1", "::/129", "10.0.0.0/8/8", "a", "10.0.0.0/+8", "10.0.0.0/0008",
            "10.0.0.0/08", "::/00",
        ] {
            #expect(AddressRange(wrong) == nil, "\(wrong)")
        }
    }

    // MARK: - The fields

    @Test(arguments: [
        ("192.0.2.1", "192.0.2.1"), ("192.0.2.1:4711", "192.0.2.1"), ("[2001:db9::1]:80", "2001:db9:0:0:0:0:0:1"),
        ("2001:db9::1", "2001:db9:0:0:0:0:0:1"), (" 192.0.2.1\t", "192.0.2.1"),
        // What is to the left of the last address that is not a proxy's may be invented.
        ("127.0.0.1, 192.0.2.1", "192.0.2.1"), ("1.1.1.1, 192.0.2.1, 10.0.0.7", "192.0.2.1"),
        ("1.1.1.1,192.0.2.1,10.0.0.7,127.0.0.1", "192.0.2.1"), ("10.0.0.1, 10.0.0.2", "10.0.0.1"),
        ("192.0.2.1" + String(repeating: ", 10.0.0.1", count: 63), "192.0.2.1"),
        ("192.0.2.1" + String(repeating: ", 10.0.0.1", count: 64), nil),
        ("garbage, 192.0.2.1", "192.0.2.1"), (",,192.0.2.1", "192.0.2.1"),
        // What stops the search before an address is found leaves the client unknown.
        ("192.0.2.1, garbage", nil), ("192.0.2.1,", nil), ("192.0.2.1, unknown, 10.0.0.1", nil), ("", nil), (",", nil),
        ("192.0.2.1 192.0.2.2", nil), ("[192.0.2.1]", nil), ("[::1", nil), ("::1]", nil), ("192.0.2.1:", nil),
        ("192.0.2.1:80:80", nil),
        ("\"192.0.2.1\"", nil), ("192.0.2.1;10.0.0.1", nil), ("localhost", nil), ("192.0.2.1\u{0}", nil),
    ])
    func `X-Forwarded-For names the last address that is not a proxy's`(_ value: String, _ expected: String?) {
        #expect(TrustedProxyTests.proxies.client(standard: nil, plain: value)?.description == expected)
    }

    @Test(arguments: [
        ("for=192.0.2.1", "192.0.2.1"), ("For=\"192.0.2.1\"", "192.0.2.1"),
        ("for=\"[2001:db9::1]:4711\"", "2001:db9:0:0:0:0:0:1"),
        ("for=192.0.2.1;proto=https;by=10.0.0.1", "192.0.2.1"), ("proto=https ; FOR=192.0.2.1:80", "192.0.2.1"),
        ("for=\"19\\2.0.2.1\"", "192.0.2.1"), ("for=[2001:db9::1]", "2001:db9:0:0:0:0:0:1"),
        ("for=1.1.1.1, for=192.0.2.1, for=10.0.0.7", "192.0.2.1"),
        ("for=1.1.1.1,for=192.0.2.1;by=\"a,b;for=3.3.3.3\"", "192.0.2.1"),
        ("for=\"_x, for=3.3.3.3\", for=192.0.2.1", "192.0.2.1"), ("for=_hidden, for=192.0.2.1", "192.0.2.1"),
        // An element without an address ends the search.
        ("for=192.0.2.1, for=_hidden", nil), ("for=192.0.2.1, for=unknown", nil), ("for=192.0.2.1, proto=http", nil),
        ("for=192.0.2.1, for=_hidden, for=10.0.0.1", nil), ("for=192.0.2.1;for=192.0.2.2", nil), ("by=192.0.2.1", nil),
        // What is not of the form of the field is not read at all.
        ("for=192.0.2.1, \"", nil), ("for=\"192.0.2.1", nil), ("for=\"192.0.2.1\"x", nil), ("for = 192.0.2.1", nil),
        ("for=", nil),
        ("192.0.2.1", nil), ("for=192.0.2.1 for=192.0.2.2", nil), ("=192.0.2.1", nil), ("for=\"192.0.2.1\\", nil), ("", nil),
    ])
    func `Forwarded names the last address that is not a proxy's`(_ value: String, _ expected: String?) {
        #expect(TrustedProxyTests.proxies.client(standard: value, plain: nil)?.description == expected)
    }

    @Test func `of two fields that differ neither is believed`() {
        let proxies = TrustedProxyTests.proxies
        #expect(proxies.client(standard: "for=1.1.1.1", plain: "2.2.2.2") == nil)
        #expect(proxies.client(standard: "for=_x", plain: "2.2.2.2") == nil)
        #expect(proxies.client(standard: "for=\"2.2.2.2:1\"", plain: "2.2.2.2")?.description == "2.2.2.2")
        #expect(proxies.client(standard: nil, plain: nil) == nil)
    }

    @Test func `many and huge values cost no more than their length`() {
        let proxies = TrustedProxyTests.proxies
        let many = String(repeating: "1.1.1.1,", count: 100_000) + "192.0.2.1"
        #expect(proxies.client(standard: nil, plain: many)?.description == "192.0.2.1")
        let trusted = "192.0.2.1," + Array(repeating: "10.0.0.1", count: 100_000).joined(separator: ",")
        #expect(proxies.client(standard: nil, plain: trusted) == nil)
        #expect(proxies.client(standard: String(repeating: "for=1.1.1.1;", count: 50_000), plain: nil) == nil)
        #expect(proxies.client(standard: "for=\"" + String(repeating: "\\", count: 100_001), plain: nil) == nil)
        #expect(proxies.client(standard: nil, plain: String(repeating: ":", count: 100_000)) == nil)
        #expect(proxies.client(standard: nil, plain: String(repeating: "1", count: 100_000)) == nil)
    }

    // MARK: - A server

    private static func server(_ proxies: [String], _ change: (inout ServerOptions) -> Void = { _ in }) throws -> TestServer {
        try TestServer(["links"]) { options in
            options.isInsecure = true
            options.limits.rate = 1
            options.trustedProxies.ranges = proxies.compactMap { AddressRange($0) }
            change(&options)
        }
    }

    /// How many of some requests are admitted by the limit on the rate of one client.
    private func admitted(_ server: TestServer, _ count: Int, _ headers: (Int) -> [(String, String)]) throws -> Int {
        try (0..<count).count { try server.get("/v1/realms", headers: headers($0)).status == 200 }
    }

    @Test func `each client of a trusted proxy has its own rate, and one cannot take another's`() throws {
        let server = try TrustedProxyTests.server(["127.0.0.0/8"])
        #expect(try admitted(server, 20) { [("X-Forwarded-For", "198.51.100.\($0)")] } == 20)
        // The left-most address is the client's own invention.
        #expect(try admitted(server, 40) { [("X-Forwarded-For", "198.51.100.\($0), 203.0.113.9")] } < 20)
        #expect(try admitted(server, 40) { [("Forwarded", "for=198.51.100.\($0), for=203.0.113.10")] } < 20)
        // Several lines of a field are one list.
        #expect(
            try admitted(server, 40) { [("X-Forwarded-For", "198.51.100.\($0)"), ("X-Forwarded-For", "203.0.113.11")] } < 20)
        // One subscriber of IPv6 has all addresses that begin with the same 64 bits.
        #expect(try admitted(server, 40) { [("X-Forwarded-For", "2001:db9:1:2::\($0 + 1)")] } < 20)
        #expect(try admitted(server, 20) { [("X-Forwarded-For", "2001:db9:1:\($0)::1")] } >= 19)
    }

    /// The fields by which a trusted proxy leaves the client unknown.
    private static let unknownSenders: [[(String, String)]] = [
        [("X-Forwarded-For", "203.0.113.7"), ("Forwarded", "for=unknown")],
        [("X-Forwarded-For", "203.0.113.7"), ("Forwarded", "for=198.51.100.9")],
        [("X-Forwarded-For", "203.0.113.7"), ("Forwarded", "x")], [("Forwarded", "for=_hidden")], [("Forwarded", "proto=https")],
        [("X-Forwarded-For", "127.0.0.1"), ("Forwarded", "for=10.0.0.1")],
        [("X-Forwarded-For", "unknown")], [("X-Forwarded-For", "")], [("X-Forwarded-For", "203.0.113.7,")],
        [("Via", "1.1 proxy")],
        [("X-Real-IP", "127.0.0.1")], [("X-Forwarded-Proto", "https")], [("X-Forwarded-For", "203.0.113.7, _x")],
    ]

    /// A key that is bound to the network of the proxy was accepted from everywhere, by one field of the client's own.
    @Test(arguments: TrustedProxyTests.unknownSenders)
    func `a client that cannot be told is in no network, and counts as one that is unknown`(_ headers: [(String, String)]) throws
    {
        let server = try KeyServer(change: { $0.trustedProxies.ranges = ["127.0.0.0/8"].compactMap { AddressRange($0) } })
        let inner = try server.add("inner", from: ["127.0.0.0/8", "0.0.0.0/0", "::/0"])
        let outer = try server.add("outer")
        #expect(try server.request("GET", "/v1/realms", inner).status == 200)
        let answer = try server.request("GET", "/v1/realms", inner, headers)
        #expect(answer.status == 401, "\(headers): \(answer.status)")
        #expect(try server.request("GET", "/v1/realms", outer, headers).status == 200)
    }

    @Test func `the session and the ticket of a key are good in its networks alone`() throws {
        let server = try KeyServer(change: { $0.trustedProxies.ranges = ["127.0.0.0/8"].compactMap { AddressRange($0) } })
        let admin = try server.add("admin")
        try server.makeNotes(admin)
        let inner = try server.add("inner", from: ["203.0.113.0/24"])
        let inside = [("X-Forwarded-For", "203.0.113.7")]
        let begun = try server.request("POST", "/v1/session", inner, inside)
        let cookie = [("Cookie", String((begun["Set-Cookie"] ?? "").prefix { $0 != ";" }))]
        let token = [("X-CSRF-Token", begun.json["csrfToken"]?.text ?? "")]
        let made = try server.request(
            "POST", "/v1/realms/notes/subscriptions", inner, inside, body: #"{"subscriptions":{"n":{"class":"Note"}}}"#)
        let ticket = try #require(made.json["url"]?.text)
        for (origin, isGood) in [("203.0.113.9", true), ("198.51.100.9", false), ("unknown", false)] {
            let from = [("X-Forwarded-For", origin)]
            let read = try server.request("GET", "/v1/realms/notes/schema", nil, from + cookie)
            #expect(read.status == (isGood ? 200 : 401), "\(origin): \(read.text)")
            let name = isGood ? 1 : 2
            let written = try server.request(
                "POST", "/v1/realms/notes/objects/Note", nil, from + cookie + token, body: "{\"id\":\(name)}")
            #expect(written.status == (isGood ? 201 : 401), "\(origin): \(written.text)")
            let poll = try server.request("GET", ticket, nil, from)
            #expect(poll.status == (isGood ? 200 : 401), "\(origin): \(poll.text)")
        }
    }

    @Test func `all clients that cannot be told have one rate together, apart from that of the proxy`() throws {
        let server = try TrustedProxyTests.server(["127.0.0.0/8"])
        let senders = TrustedProxyTests.unknownSenders
        #expect(try admitted(server, 40) { senders[$0 % senders.count] } < 20)
        #expect(try server.get("/v1/realms", headers: []).status != 429)
        #expect(try server.get("/v1/realms", headers: [("X-Forwarded-For", "198.51.100.1")]).status == 200)
    }

    @Test func `what others say is ignored`() throws {
        for proxies in [[], ["10.0.0.0/8"], ["::1"]] {
            let server = try TrustedProxyTests.server(proxies)
            #expect(try admitted(server, 40) { [("X-Forwarded-For", "198.51.100.\($0)")] } < 20)
            #expect(try admitted(server, 40) { [("Forwarded", "for=198.51.100.\($0)")] } == 0)
        }
    }

    @Test func `a proxy on a Unix socket is trusted by its word alone`() throws {
        let path = NSTemporaryDirectory() + "realm-rest-proxy-\(UInt32.random(in: 0...UInt32.max)).sock"
        for (includesUnix, isTrusted) in [(true, true), (false, false)] {
            let server = try TrustedProxyTests.server(["127.0.0.1"]) { options in
                options.trustedProxies.includesUnix = includesUnix
                options.listeners = [ListenAddress(.unix(path: path))]
            }
            let count = try (0..<40).count { number in
                let headers = [("X-Forwarded-For", "198.51.100.\(number)")]
                return try HTTPClient(unixPath: path).request("GET", "/v1/realms", headers: headers).status == 200
            }
            #expect(isTrusted ? count == 40 : count < 20, "\(count)")
            withExtendedLifetime(server) {}
        }
    }

    @Test func `a trusted proxy is not limited as one client in its connections`() throws {
        let server = try TrustedProxyTests.server(["127.0.0.1"]) { options in
            options.limits.http.connectionsPerAddress = 2
            options.limits.rate = 0
        }
        let clients = try (0..<8).map { _ in try HTTPClient(port: server.port) }
        for client in clients { #expect(try client.request("GET", "/v1/realms").status == 200) }
        for client in clients { #expect(try client.request("GET", "/v1/realms").status == 200) }
    }

    // MARK: - Forwarded is not loopback

    @Test(arguments: [
        "Forwarded", "X-Forwarded-For", "X-Forwarded-Host", "X-Forwarded-Proto", "X-Forwarded-Port", "X-Forwarded-Anything",
        "x-forwarded-", "X-FORWARDED-SSL", "X-Real-IP", "x-real-ip",
    ])
    func `a request with any field of a proxy is not on loopback`(_ name: String) throws {
        for proxies in [[], ["127.0.0.1"]] {
            let server = try TestServer(["links"]) { $0.trustedProxies.ranges = proxies.compactMap { AddressRange($0) } }
            for value in ["127.0.0.1", "for=127.0.0.1", "", "::1"] {
                for path in ["/v1/realms", "/admin/config", "/metrics", "/v1/realms/links/schema"] {
                    let answer = try server.get(path, headers: [(name, value)])
                    #expect(answer.status == 401, "\(name): \(value) \(path): \(answer.status)")
                }
                for path in ["/healthz", "/readyz"] { #expect(try server.get(path, headers: [(name, value)]).status == 200) }
            }
        }
    }
}
