// SPDX-License-Identifier: Apache-2.0

import Foundation
@testable import MicroHTTP
import RealmAccess
import RealmFormats
import RealmHTTP
@testable import RealmHosting
import RealmPlatform
import RealmServerSupport
import RealmStorage
import RealmTestSupport
import Testing

/// Encrypted listeners: what is offered, which certificate, and what happens to those who speak otherwise.
@Suite(.enabled(if: Tool.areThere, "openssl or curl is not installed")) struct TLSTests {
    private let certificates: TestCertificates

    init() throws {
        certificates = try TestCertificates()
        try certificates.make("main", names: "DNS:main.example,DNS:localhost")
    }

    /// A server with an encrypted listener, and a plain one beside it.
    private func server(_ change: (inout ServerOptions) -> Void = { _ in }) throws -> TestServer {
        try TestServer([]) { options in
            options.isReadOnly = false
            options.memoryRealms = ["notes"]
            options.extraHosts = ["main.example", "a.example", "b.a.example"]
            options.tls = certificates.options("main")
            options.listeners = ["127.0.0.1:0", "127.0.0.1:0,plain"].compactMap { ListenAddress($0) }
            change(&options)
        }
    }

    private func plainPort(_ server: TestServer) -> Int { server.server.others[0].socket.port }

    private func metrics(_ server: TestServer) throws -> String {
        try HTTPClient.request(port: plainPort(server), "GET", "/metrics").text
    }

    // MARK: - What is offered

    @Test func `only TLS 1,2 and 1,3 are spoken`() throws {
        let server = try server()
        #expect(server.server.url.hasPrefix("https://127.0.0.1:"))
        #expect(server.server.otherURLs.first?.hasPrefix("http://127.0.0.1:") == true)
        for (version, expected) in [("-tls1_2", "TLSv1.2"), ("-tls1_3", "TLSv1.3")] {
            let seen = try Tool.handshake(port: server.port, [version])
            #expect(seen.contains(expected) && !seen.contains("(NONE)"), "\(seen)")
        }
        for version in ["-tls1", "-tls1_1"] {
            let seen = try Tool.handshake(port: server.port, [version, "-cipher", "ALL:@SECLEVEL=0"])
            #expect(seen.contains("(NONE)"), "\(version): \(seen)")
        }
    }

    @Test(arguments: [
        ("ECDHE-ECDSA-AES256-GCM-SHA384", true), ("ECDHE-ECDSA-AES128-GCM-SHA256", true), ("ECDHE-ECDSA-CHACHA20-POLY1305", true),
        ("ECDHE-ECDSA-AES128-SHA", false), ("ECDHE-ECDSA-AES256-SHA384", false), ("ECDHE-ECDSA-AES128-CCM8", false),
        ("AES128-GCM-SHA256", false), ("AES256-SHA", false), ("DHE-RSA-AES128-GCM-SHA256", false), ("aNULL", false),
        ("eNULL", false), ("PSK", false), ("3DES", false), ("CAMELLIA", false),
    ])
    func `only ciphers with authentication and forward secrecy are spoken`(_ cipher: String, _ isOffered: Bool) throws {
        let server = try server()
        let seen = try Tool.handshake(port: server.port, ["-tls1_2", "-cipher", "\(cipher):@SECLEVEL=0"])
        #expect(seen.contains("Cipher is \(cipher)") == isOffered, "\(seen)")
    }

    @Test func `nothing is compressed, resumed or negotiated again`() throws {
        let server = try server()
        let seen = try Tool.run(
            ["openssl", "s_client", "-connect", "127.0.0.1:\(server.port)", "-tls1_2", "-comp"],
            input: "R\nGET /healthz HTTP/1.0\r\n\r\n", mayFail: true)
        #expect(seen.contains("Compression: NONE"))
        #expect(!seen.contains("200 OK"), "renegotiated: \(seen.suffix(400))")
        #expect(try Tool.curl(["https://127.0.0.1:\(server.port)/healthz"]).contains("200 OK"))
    }

    @Test func `the protocol is that of HTTP 1,1, and browsers are told to stay when that is configured`() throws {
        let server = try server { $0.tls.strictSeconds = 86_400 }
        #expect(
            try Tool.run(
                ["openssl", "s_client", "-connect", "127.0.0.1:\(server.port)", "-alpn", "h2,http/1.1"],
                mayFail: true
            ).contains("ALPN protocol: http/1.1"))
        for path in ["/healthz", "/v1/realms", "/none"] {
            #expect(
                try Tool.curl(["https://127.0.0.1:\(server.port)\(path)"]).contains("Strict-Transport-Security: max-age=86400"))
            let plain = try HTTPClient.request(port: plainPort(server), "GET", path)
            #expect(plain["Strict-Transport-Security"] == nil)
        }
        let without = try self.server()
        #expect(try !Tool.curl(["https://127.0.0.1:\(without.port)/healthz"]).contains("Strict-Transport"))
    }

    @Test func `pages of the https origin are the server's own, those of the http one are not`() throws {
        let server = try server()
        let url = "https://127.0.0.1:\(server.port)/v1/realms"
        #expect(try Tool.curl(["-H", "Origin: https://127.0.0.1:\(server.port)", url]).contains(" 200 OK"))
        #expect(try Tool.curl(["-H", "Origin: http://127.0.0.1:\(server.port)", url]).contains("cross_origin"))
    }

    // MARK: - Which certificate

    @Test func `the certificate is that of the name, of a wildcard, or the first`() throws {
        try certificates.make("a", names: "DNS:a.example,DNS:*.a.example,URI:https://main.example")
        try certificates.make("other", names: "DNS:x.a.example,IP:127.0.0.1")
        let server = try server { $0.tls = certificates.options("main", more: ["a", "other"]) }
        for (name, expected) in [
            ("a.example", "CN = a"), ("A.Example", "CN = a"), ("b.a.example", "CN = a"), ("x.a.example", "CN = other"),
            ("c.b.a.example", "CN = main"), (".a.example", "CN = main"), ("main.example", "CN = main"), ("example", "CN = main"),
            (nil, "CN = main"),
        ] {
            let seen = try Tool.certificate(port: server.port, name: name)
            #expect(seen.contains(expected), "\(name ?? "none"): \(seen)")
        }
    }

    @Test func `the whole chain is sent, so that a client who knows the authority is content`() throws {
        try certificates.make("root", extra: ["keyUsage=keyCertSign"])
        try certificates.make("middle", by: "root", extra: ["basicConstraints=critical,CA:TRUE"])
        try certificates.make("leaf", names: "DNS:main.example", by: "middle", extra: ["basicConstraints=CA:FALSE"])
        let chain = try ["leaf", "middle"].map { try String(contentsOfFile: certificates.path($0 + ".pem"), encoding: .utf8) }
        try chain.joined().write(toFile: certificates.path("leaf.pem"), atomically: true, encoding: .utf8)
        let server = try server { $0.tls = certificates.options("leaf") }
        let seen = try Tool.run([
            "curl", "-s", "--cacert", certificates.path("root.pem"), "--resolve", "main.example:\(server.port):127.0.0.1",
            "https://main.example:\(server.port)/healthz",
        ])
        #expect(seen.contains("ok"), "\(seen)")
    }

    @Test func `a certificate for trials is for localhost, the addresses and the allowed hosts`() throws {
        let server = try server { options in
            options.tls = TLSOptions()
            options.tls.isSelfSigned = true
        }
        let seen = try Tool.certificate(port: server.port, name: "localhost")
        for name in [
            "DNS:localhost", "IP Address:127.0.0.1", "IP Address:0:0:0:0:0:0:0:1", "DNS:main.example", "DNS:b.a.example",
        ] {
            #expect(seen.contains(name), "\(name): \(seen)")
        }
        #expect(server.server.fingerprintOfTrial?.count == 95)
    }

    // MARK: - What is refused at the start

    @Test func `what cannot be a certificate stops the start with a sentence`() throws {
        try certificates.make("other")
        try "nothing".write(toFile: certificates.path("bad.pem"), atomically: true, encoding: .utf8)
        let cases: [(String, String, String)] = [
            ("main.pem", "other.key", "does not belong"), ("bad.pem", "main.key", "cannot be read"),
            ("main.pem", "bad.pem", "key cannot be read"), ("none.pem", "main.key", "none.pem"),
            ("main.key", "main.key", "cannot be read"), ("main.pem", "none.key", "none.key"),
        ]
        for (certificate, key, expected) in cases {
            do {
                _ = try server { options in
                    (options.tls.certificate, options.tls.key) = (certificates.path(certificate), certificates.path(key))
                }
                Issue.record("\(certificate) and \(key) were taken")
            } catch let failure as RealmServer.Failure {
                #expect(failure.description.contains(expected), "\(failure)")
            }
        }
        #expect(throws: RealmServer.Failure.self) { _ = try server { $0.tls.key = nil } }
        #expect(throws: RealmServer.Failure.self) {
            _ = try server {
                $0.tls = TLSOptions(); $0.listeners[0].isSecure = true
            }
        }
        #expect(throws: RealmServer.Failure.self) { _ = try server { $0.tls.clientAuthorities = certificates.path("bad.pem") } }
    }

    @Test func `a key that others can read and a certificate that ends are told of`() throws {
        try certificates.make("short", days: 3)
        try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: certificates.path("short.key"))
        var told: [String] = []
        var options = ServerOptions()
        (options.port, options.logFormat, options.tls) = (0, nil, certificates.options("short"))
        let server = try RealmServer(options) { told.append($0) }
        server.stop()
        #expect(told.contains { $0.contains("short.key") && $0.contains("other users") }, "\(told)")
        #expect(told.contains { $0.contains("short.pem") && $0.contains("expires in ") }, "\(told)")
    }

    // MARK: - Those who speak otherwise

    @Test func `nonsense on an encrypted port ends at once, and others are served`() throws {
        let server = try server()
        let texts = [
            "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", "get / HTTP/1.1\r\n\r\n", "\u{16}\u{3}\u{1}\u{40}\u{0}",
            "SSH-2.0-x\r\n", String(repeating: "\u{0}", count: 70_000),
        ]
        for text in texts {
            let client = try HTTPClient(port: server.port)
            try? client.send(text)
            client.finishSending()
            let begin = Instant.now()
            while (try? client.receiveSome()) == true {}
            #expect(Instant.now().seconds(since: begin) < 15)
            #expect(try Tool.curl(["https://127.0.0.1:\(server.port)/healthz"]).contains("200 OK"))
        }
    }

    @Test func `plain HTTP on an encrypted port is answered in clear that the port speaks TLS`() throws {
        let server = try server()
        for method in ["GET", "OPTIONS", "POST"] {
            let client = try HTTPClient(port: server.port)
            try client.send("\(method) /healthz HTTP/1.1\r\nHost: localhost\r\nContent-Length: 2\r\n\r\n{}")
            let answer = try client.readAnswer()
            #expect(answer.status == 400 && answer.code == "malformed_request", "\(answer.text)")
            #expect(answer.text.contains("this port speaks TLS; use https://") && answer["Connection"] == "close")
        }
        // The first byte decides, and may come late.
        let late = try HTTPClient(port: server.port)
        Threads.sleep(seconds: 0.2)
        try late.send("G")
        #expect(try late.readAnswer().status == 400)
        #expect(try !late.receiveSome())
        #expect(try Tool.curl(["https://127.0.0.1:\(server.port)/healthz"]).contains("200 OK"))
    }

    @Test func `a handshake that comes byte by byte is one, also where bytes of it are capital letters`() throws {
        let server = try server()
        for name in ["GET", "localhost"] {
            let seen = try Tool.python(port: server.port, "slow", name)
            #expect(seen.contains("HTTP/1.1 200"), "\(seen)")
        }
    }

    @Test func `a handshake that does not end, or nothing after it, is ended after the time for a head`() throws {
        let server = try server { $0.limits.http.headSeconds = 1 }
        let hello: [UInt8] = [0x16, 3, 1, 2, 0, 1, 0, 1, 0xfc, 3, 3]
        let clients = try (0..<2).map { _ in try HTTPClient(port: server.port) }
        try clients[1].send(hello)
        let begin = Instant.now()
        // One byte now and then is no progress that counts.
        let slow = try HTTPClient(port: server.port)
        var count = 0
        for byte in hello + [UInt8](repeating: 7, count: 90) {
            guard (try? slow.send([byte])) != nil else { break }
            count += 1
            Threads.sleep(seconds: 0.1)
        }
        #expect(count < 90)
        for client in clients { while (try? client.receiveSome()) == true {} }
        #expect(Instant.now().seconds(since: begin) < 10)
        let seen = try Tool.python(port: server.port, "silent")
        #expect(seen.hasPrefix("end after "), "\(seen)")
        #expect((Double(seen.split(separator: " ").last?.dropLast() ?? "") ?? 99) < 10)
        #expect(try metrics(server).contains("realm_rest_connections_timed_out_total"))
    }

    @Test func `last answers that bypass the library are encrypted too`() throws {
        let server = try server { options in
            options.limits.bodyBytes = 64 << 10
            options.limits.http.requestSeconds = 1
            options.limits.http.headSeconds = 2
        }
        for head in ["Content-Length: abc", "Transfer-Encoding: chunked\\r\\n\\r\\nzz"] {
            let seen = try Tool.python(
                port: server.port, "raw", "POST /v1/realms HTTP/1.1\\r\\nHost: localhost\\r\\n\(head)\\r\\n\\r\\n")
            #expect(seen.contains("HTTP/1.1 400") && seen.contains("malformed_request"), "\(seen)")
            #expect(!seen.contains("broken"), "\(seen)")
        }
        let long = try Tool.python(port: server.port, "long", "/v1/realms/notes/objects/Note")
        #expect(!long.contains("broken"), "\(long)")
        // What is given up by the watch is closed without an answer: that is not the thread of the connection.
        for text in [
            "GET / HTTP/1.1\\r\\nHost: loc", "POST /v1/realms HTTP/1.1\\r\\nHost: localhost\\r\\nContent-Length: 9\\r\\n\\r\\nx",
        ] {
            let seen = try Tool.python(port: server.port, "raw", text)
            #expect(seen.hasSuffix("--end\n") || seen.hasSuffix("--reset\n"), "\(seen)")
        }
        #expect(try Tool.curl(["https://127.0.0.1:\(server.port)/healthz"]).contains("200 OK"))
    }

    @Test func `long answers, bodies and many requests on a connection arrive whole`() throws {
        let scripted = try TLSTests.scripted(certificates.options("main"))
        let url = "https://127.0.0.1:\(scripted.port)"
        let numbers = try Tool.run(["curl", "-sk", "--max-time", "60", url + "/stream"])
        #expect(Array(numbers.utf8) == NumberProducer.text(count: 200_000))
        let body = String(repeating: "abcdefgh", count: 60_000)
        let file = certificates.path("body")
        try body.write(toFile: file, atomically: true, encoding: .utf8)
        #expect(try Tool.run(["curl", "-sk", "--max-time", "60", "--data-binary", "@" + file, url + "/echo"]) == body)
        let later = try Tool.run(["curl", "-sk", "--max-time", "60"] + (0..<20).map { _ in url + "/later" })
        #expect(later == String(repeating: "later", count: 20))
    }

    /// A scripted daemon with encryption.
    private static func scripted(_ options: TLSOptions) throws -> ScriptedServer {
        let store = try TLSStore(options, names: []) { _, _ in }
        return try ScriptedServer { $0.tls = store }
    }
}
