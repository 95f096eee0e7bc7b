// SPDX-License-Identifier: Apache-2.0

import Foundation
import MicroHTTP
@testable import RealmAccess
import RealmFormats
import RealmHTTP
import RealmHosting
import RealmPlatform
import RealmServerSupport
import RealmStorage
import RealmTestSupport
import Testing

/// What ends when the certificate of a client does.
@Suite(.enabled(if: Tool.areThere, "openssl or curl is not installed")) struct CertificateExpiryTests {
    /// Makes a certificate of a client that holds for some seconds, which needs an authority with files of its own.
    private func makeClient(_ certificates: TestCertificates, seconds: Double) throws {
        let format = DateFormatter()
        format.locale = Locale(identifier: "en_US_POSIX")
        format.timeZone = TimeZone(secondsFromGMT: 0)
        format.dateFormat = "yyyyMMddHHmmss'Z'"
        let end = format.string(from: Date().addingTimeInterval(seconds))
        let text = """
            [ca]
            default_ca = authority
            [authority]
            database = \(certificates.path("index.txt"))
            new_certs_dir = \(certificates.folder)
            serial = \(certificates.path("serial"))
            default_md = sha256
            policy = any
            x509_extensions = client
            [any]
            commonName = supplied
            [client]
            basicConstraints = critical,CA:FALSE
            extendedKeyUsage = clientAuth
            """
        for (name, contents) in [("ca.cnf", text), ("index.txt", ""), ("serial", "1000\n")] {
            try Data(contents.utf8).write(to: URL(fileURLWithPath: certificates.path(name)))
        }
        try Tool.run([
            "openssl", "req", "-new", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-subj", "/CN=short",
            "-keyout", certificates.path("short.key"), "-out", certificates.path("short.csr"),
        ])
        try Tool.run([
            "openssl", "ca", "-batch", "-config", certificates.path("ca.cnf"), "-cert", certificates.path("authority.pem"),
            "-keyfile",
            certificates.path("authority.key"), "-in", certificates.path("short.csr"), "-out", certificates.path("short.pem"),
            "-enddate", end, "-notext",
        ])
    }

    @Test func `a stream ends when the certificate of its client expires`() throws {
        let certificates = try TestCertificates()
        for name in ["main", "authority"] { try certificates.make(name) }
        var tls = certificates.options("main")
        tls.clientAuthorities = certificates.path("authority.pem")
        let server = try KeyServer(change: { options in
            options.tls = tls
            options.certificateRules = [CertificateRule(part: .subject, pattern: "CN=short", name: "short", roles: ["admin"])]
        })
        try makeClient(certificates, seconds: 8)
        let begin = Instant.now()
        let base = "https://127.0.0.1:\(server.port)/v1/realms/notes"
        let own = ["--cert", certificates.path("short.pem"), "--key", certificates.path("short.key")]
        let note = #"{"name":"Note","properties":[{"name":"n","type":"int"}]}"#
        let schema = #"{"fromVersion":null,"toVersion":1,"steps":[{"addClass":\#(note)}]}"#
        let made = try Tool.curl(
            own + ["-X", "POST", "-H", "Content-Type: application/json", "-d", schema, base + "/migrations"])
        #expect(made.contains(" 200"), "\(made)")
        let stream = try Tool.curl(own + ["-N", "-H", "Accept: text/event-stream", base + "/changes?class=Note"])
        let seconds = Instant.now().seconds(since: begin)
        #expect(stream.contains("event: end") && stream.contains(#""reason":"unauthenticated""#), "\(stream)")
        #expect(seconds > 2 && seconds < 14, "\(seconds)")
        // The same certificate is nobody's from then on.
        let later = try Tool.curl(own + [base + "/schema"])
        #expect(later.contains(" 401") || later.isEmpty, "\(later)")
    }
}
