// SPDX-License-Identifier: Apache-2.0

import Foundation
@testable import MicroHTTP
@testable import RealmAccess
import RealmFormats
@testable import RealmHosting
import RealmPlatform
import RealmServerSupport
import RealmStorage
import RealmTestSupport
import Synchronization
import Testing

/// Certificates of clients: what is known of them, which of them count, and whom they mean.
@Suite(.enabled(if: Tool.areThere, "openssl or curl is not installed")) struct ClientCertificateTests {
    /// Answers what the certificate of the client says.
    private final class Teller: RequestHandler {
        func begin(_ request: Request) -> any RequestTask { ScriptedTask(request) { Teller.reply(to: $0) } }

        private static func reply(to request: Request) -> Reply {
            let buffer = OutputBuffer()
            if let certificate = request.clientCertificate {
                buffer.append("\(certificate.isVerified) \(certificate.subject) \(certificate.names) \(request.isSecure)")
            } else {
                buffer.append("none")
            }
            return .now(Response(type: "text/plain", buffer))
        }
    }

    private let certificates: TestCertificates

    init() throws {
        certificates = try TestCertificates()
        try certificates.make("main")
        for name in ["authority", "foreign"] { try certificates.make(name) }
        let usage = ["extendedKeyUsage=clientAuth", "basicConstraints=critical,CA:FALSE"]
        try certificates.make(
            "client", subject: "/O=Example/CN=loader", names: "email:loader@example.org,URI:urn:loader,DNS:loader.example",
            by: "authority", extra: usage)
        try certificates.make("stranger", subject: "/O=Example/CN=loader", by: "foreign", extra: usage)
        try certificates.make(
            "host", subject: "/O=Example/CN=host", by: "authority",
            extra: ["extendedKeyUsage=serverAuth", "basicConstraints=critical,CA:FALSE"])
        try certificates.make("own", subject: "/O=Example/CN=loader")
    }

    private func withServer(asks: Bool = true, _ body: (Int, TLSStore) throws -> Void) throws {
        var options = certificates.options("main")
        if asks { options.clientAuthorities = certificates.path("authority.pem") }
        let store = try TLSStore(options, names: []) { _, _ in }
        var configuration = HTTPServer.Configuration()
        configuration.tls = store
        let server = HTTPServer(
            socket: try ListeningSocket(host: "127.0.0.1", port: 0), configuration: configuration,
            workers: WorkerPool(Limits()), handler: Teller())
        try server.start()
        defer { server.stop(graceSeconds: 0) }
        try body(server.socket.port, store)
    }

    private func ask(_ port: Int, _ name: String?, _ more: [String] = []) throws -> String {
        let own = name.map { ["--cert", certificates.path($0 + ".pem"), "--key", certificates.path($0 + ".key")] } ?? []
        return try Tool.run(["curl", "-sk", "--max-time", "30"] + own + more + ["https://127.0.0.1:\(port)/"], mayFail: true)
    }

    @Test(arguments: ["--tlsv1.3", "--tls-max=1.2"])
    func `a certificate of the authority is verified, others are not, and none is demanded`(_ version: String) throws {
        let version = version.split(separator: "=").map(String.init)
        try withServer { port, _ in
            let known = try ask(port, "client", version)
            #expect(known.hasPrefix("true CN=loader,O=Example "), "\(known)")
            for name in ["EMAIL:loader@example.org", "URI:urn:loader", "DNS:loader.example"] { #expect(known.contains(name)) }
            #expect(try ask(port, "stranger", version).hasPrefix("false CN=loader,O=Example"))
            #expect(try ask(port, "own", version).hasPrefix("false "))
            #expect(try ask(port, "host", version).hasPrefix("false "), "a certificate of a server is none of a client")
            #expect(try ask(port, nil, version) == "none")
        }
    }

    @Test func `nobody is asked without an authority`() throws {
        try withServer(asks: false) { port, _ in
            let seen = try ask(port, "client")
            #expect(seen == "none")
        }
    }

    // MARK: - Whom it means

    private static let now: Int64 = 1_000_000

    private func certificate(
        _ subject: String, _ names: [String] = [], expiry: Int64 = now + 10, isVerified: Bool = true
    ) -> ClientCertificate {
        ClientCertificate(subject: subject, names: names, expiry: expiry, isVerified: isVerified)
    }

    private func meaning(_ part: CertificateRule.Part, _ pattern: String, _ certificate: ClientCertificate?) -> String? {
        let rule = CertificateRule(part: part, pattern: pattern, name: "found", roles: [])
        return CertificateRule.first(of: [rule], for: certificate, now: ClientCertificateTests.now)?.name
    }

    @Test func `patterns mean what they say, and a star does not reach over a separator`() {
        let loader = certificate("CN=loader-1,O=Example", ["DNS:a.example", "EMAIL:me@example.org", "URI:spiffe://x/ns/a"])
        for pattern in ["CN=loader-1,O=Example", "CN=loader-*,O=Example", "CN=*,O=Example", "*-1,O=Ex*"] {
            #expect(meaning(.subject, pattern, loader) != nil, "\(pattern)")
        }
        for pattern in [
            "CN=loader-1", "CN=loader*", "*", "CN=*", "cn=loader-1,o=example", "O=Example", "CN=loader-1,O=Example,*", "",
        ] {
            #expect(meaning(.subject, pattern, loader) == nil, "\(pattern)")
        }
        for pattern in ["a.example", "DNS:a.example", "*.example", "*@example.org", "EMAIL:me@*.org", "spiffe://x/ns/*"] {
            #expect(meaning(.name, pattern, loader) != nil, "\(pattern)")
        }
        for pattern in ["*", "example", "*example", "spiffe://x/*", "b.example", "me@*", "URI:*"] {
            #expect(meaning(.name, pattern, loader) == nil, "\(pattern)")
        }
    }

    @Test func `who is not verified or has expired is nobody, and injected separators do not help`() {
        #expect(meaning(.subject, "CN=a", certificate("CN=a", isVerified: false)) == nil)
        #expect(meaning(.subject, "CN=a", certificate("CN=a", expiry: ClientCertificateTests.now)) == nil)
        #expect(meaning(.subject, "CN=a", nil) == nil)
        #expect(meaning(.subject, "*", certificate("")) == nil)
        #expect(meaning(.subject, "CN=*,O=Example", certificate(#"CN=x\,O=Other,O=Example"#)) == nil)
        #expect(meaning(.subject, "CN=*,O=Example", certificate("CN=x+OU=y,O=Example")) == nil)
        #expect(meaning(.name, "*.example", certificate("CN=a", ["DNS:b.a.example"])) == nil)
        let slow = String(repeating: "a*", count: 200) + "b"
        #expect(meaning(.subject, slow, certificate(String(repeating: "a", count: 1000))) == nil)
    }

    @Test func `the first entry that fits counts`() {
        let rules = [("CN=b", "one"), ("CN=*", "two"), ("CN=a", "three")].map { pattern, name in
            CertificateRule(part: .subject, pattern: pattern, name: name, roles: [name])
        }
        let found = CertificateRule.first(of: rules, for: certificate("CN=a"), now: ClientCertificateTests.now)
        #expect(found?.roles == ["two"])
    }
}
