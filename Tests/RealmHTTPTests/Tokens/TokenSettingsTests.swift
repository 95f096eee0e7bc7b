// SPDX-License-Identifier: Apache-2.0

import Foundation
import Glibc
@testable import RealmAccess
import RealmFormats
import RealmHTTP
@testable import RealmHosting
import RealmServerSupport
import RealmTestSupport
import Testing

/// Issuers of tokens in configuration files.
@Suite struct TokenSettingsTests {
    private func configuration(_ text: String) throws -> Configuration {
        var configuration = Configuration()
        try configuration.apply(text: text, ofFile: "/etc/realm-rest/realm-rest.yaml")
        return configuration
    }

    private static let all = """
        credentials:
          jwt:
            - issuer: https://a.example/
              audience: [realm-rest, other]
              jwks: https://a.example/keys
              jwksCA: ca.pem
              roles: [viewer]
              claims: {roles: realm_access.roles, subject: preferred_username}
            - {issuer: b, audience: realm-rest, jwks: keys.json}
            - {issuer: c, audience: realm-rest, secretFile: /run/secret}
        """

    @Test func `issuers have what a file states`() throws {
        let configuration = try configuration(Self.all)
        let issuers = configuration.options.tokenIssuers
        #expect(issuers.map(\.issuer) == ["https://a.example/", "b", "c"])
        #expect(issuers[0].audiences == ["realm-rest", "other"] && issuers[1].audiences == ["realm-rest"])
        #expect(issuers[0].source == KeyAddress("https://a.example/keys").map { .url($0) })
        #expect(issuers[1].source == .file("/etc/realm-rest/keys.json") && issuers[2].source == .secretFile("/run/secret"))
        #expect(issuers[0].certificateAuthority == "/etc/realm-rest/ca.pem" && issuers[0].roles == ["viewer"])
        #expect(issuers[0].rolesPath == "realm_access.roles" && issuers[0].subjectPath == "preferred_username")
        #expect(issuers[1].rolesPath == nil && issuers[1].subjectPath == "sub" && issuers[1].roles == [])
        let line = try #require(configuration.description.first { $0.hasPrefix("credentials.jwt") })
        #expect(line.contains(#""jwks":"https://a.example/keys""#) && line.contains(#""secretFile":"/run/secret""#))
        #expect(line.hasSuffix("# file, line 3") || line.hasSuffix("# file, line 2"), "\(line)")
    }

    @Test(arguments: [
        ("credentials: {jtw: []}", 1, "there is no setting 'credentials.jtw'; did you mean 'jwt'?"),
        ("credentials: {jwt: {}}", 1, "expected a list, got an object"),
        ("credentials:\n  jwt:\n    - a", 3, "expected an object, got a string"),
        ("credentials:\n  jwt:\n    - {issuer: a, jwks: b}", 3, "'issuer' and 'audience' must be given"),
        ("credentials:\n  jwt:\n    - {issuer: a, audience: b}", 3, "one of 'jwks' and 'secretFile' must be given"),
        (
            "credentials:\n  jwt:\n    - {issuer: a, audience: b, jwks: c, secretFile: d}", 3,
            "one of 'jwks' and 'secretFile' must be given"
        ),
        (
            "credentials:\n  jwt:\n    - {issuer: a, audience: b, jwks: c, alg: none}", 3, "there is no 'alg' here"
        ),
        ("credentials:\n  jwt:\n    - {issuer: a, audience: b, jwk: c}", 3, "there is no 'jwk' here; did you mean 'jwks'?"),
        ("credentials:\n  jwt:\n    - issuer: 5\n      audience: b\n      jwks: c", 3, "expected a string, got a number"),
        (
            "credentials:\n  jwt:\n    - issuer: \"a\\nb\"\n      audience: b\n      jwks: c", 3,
            "control characters are not allowed in an issuer"
        ),
        ("credentials:\n  jwt:\n    - issuer: a\n      audience: []\n      jwks: c", 4, "expected an audience"),
        (
            "credentials:\n  jwt:\n    - issuer: a\n      audience: [5]\n      jwks: c", 4,
            "expected a string, got a number"
        ),
        ("credentials:\n  jwt:\n    - issuer: a\n      audience: ''\n      jwks: c", 4, "expected a non-empty string"),
        ("credentials:\n  jwt:\n    - issuer: a\n      audience: b\n      jwks: http://c.example/", 5, KeyAddress.rule),
        ("credentials:\n  jwt:\n    - issuer: a\n      audience: b\n      jwks: file:///etc/passwd", 5, KeyAddress.rule),
        (
            "credentials:\n  jwt:\n    - issuer: a\n      audience: b\n      jwks: c\n      jwksCA: d", 6,
            "'jwksCA' belongs to an address with https:"
        ),
        (
            "credentials:\n  jwt:\n    - issuer: a\n      audience: b\n      jwks: c\n      roles: d", 6,
            "expected a list, got a string"
        ),
        (
            "credentials:\n  jwt:\n    - issuer: a\n      audience: b\n      jwks: c\n      claims: {roles: a..b}", 6,
            "expected names with dots between them, such as realm_access.roles"
        ),
        (
            "credentials:\n  jwt:\n    - issuer: a\n      audience: b\n      jwks: c\n      claims: {role: a}", 6,
            "there is no 'role' here; did you mean 'roles'?"
        ),
        (
            "credentials:\n  jwt:\n    - {issuer: a, audience: b, jwks: c}\n    - {issuer: a, audience: d, jwks: e}", 4,
            "the issuer 'a' is stated twice"
        ),
    ])
    func `an error names file and line`(_ text: String, _ line: Int, _ reason: String) throws {
        let error = try #require(throws: ConfigurationError.self) { try configuration(text) }
        #expect(error.description == "/etc/realm-rest/realm-rest.yaml:\(line): \(reason)")
    }

    @Test func `there may be 32 issuers`() throws {
        func text(_ count: Int) -> String {
            "credentials:\n  jwt:\n" + (0..<count).map { "    - {issuer: i\($0), audience: a, jwks: k}\n" }.joined()
        }
        #expect(try configuration(text(32)).options.tokenIssuers.count == 32)
        #expect(throws: ConfigurationError.self) { try configuration(text(33)) }
    }

    @Test func `what is wrong with files is said with the line before a start`() throws {
        let folder = try KeyFolder()
        let path = folder.path + "/realm-rest.yaml"
        let cases = [
            ("jwks: missing.json", 5, "'\(folder.path)/missing.json' cannot be read"),
            ("jwks: bad.json", 5, "the keys cannot be used: it is not a set of keys"),
            ("secretFile: short", 5, "the secret in '\(folder.path)/short' has 5 bytes; at least 32 are needed"),
            ("jwks: https://a.example/\n      jwksCA: short", 6, "'\(folder.path)/short' has no certificate in PEM"),
            // A text that others know would have been the secret.
            ("secretFile: pem", 5, "'\(folder.path)/pem' has a block in PEM; expected a secret"),
            ("secretFile: set", 5, "'\(folder.path)/set' has a JSON Web Key Set; expected a secret"),
            ("secretFile: one", 5, "'\(folder.path)/one' has a JSON Web Key; expected a secret"),
            ("secretFile: list", 5, "'\(folder.path)/list' has a JSON Web Key; expected a secret"),
            ("secretFile: wide", 5, "'\(folder.path)/wide' has a block in PEM; expected a secret"),
            ("secretFile: ssh", 5, "'\(folder.path)/ssh' has a key of OpenSSH; expected a secret"),
            ("secretFile: der", 5, "'\(folder.path)/der' has a structure in DER; expected a secret"),
        ]
        let key = #"{"kty":"OKP","crv":"Ed25519","x":"11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo"}"#
        try folder.write("set", "\u{FEFF} {\"keys\": [\(key)]}\n")
        try folder.write("one", key)
        try folder.write("list", "[\(key)]")
        let text = "MCowBQYDK2VwAyEA11qYAYKxCrfVS/7TyWQHOg7hcvPapiMlrwIaaPcHURo="
        let pem = "\r\n-----BEGIN PUBLIC KEY-----\n\(text)\n-----END PUBLIC KEY-----\n"
        try folder.write("pem", pem)
        try folder.write("wide", "\u{0}" + pem.map { "\($0)\u{0}" }.joined())
        try folder.write("ssh", "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIEFuc3dlcnMgb2Ygb3RoZXJzIGFyZSBubyBzZWNyZXQ= a@b\n")
        let der = try #require(Data(base64Encoded: text))
        try der.write(to: URL(fileURLWithPath: folder.path + "/der"))
        try folder.write("bad.json", "{}")
        try folder.write("short", "12345")
        for (member, line, reason) in cases {
            try folder.write(
                "realm-rest.yaml", "credentials:\n  jwt:\n    - issuer: a\n      audience: b\n      \(member)\n")
            var configuration = Configuration()
            try configuration.apply(file: path)
            let error = #expect(throws: ConfigurationError.self) { try configuration.check() }
            #expect(error?.description.hasPrefix("\(path):\(line): \(reason)") == true, "\(error?.description ?? "")")
        }
    }

    @Test func `a secret may look like JSON or PEM as long as it is none of keys`() throws {
        let folder = try KeyFolder()
        let texts = [
            #"{"keys": "#, #"{"key": ""}"#, #"["keys", "kty"]"#, #"{"keys": ""}"#, "---BEGIN ", "{}",
        ]
        for text in texts.map({ $0 + String(repeating: " ", count: 32) }) {
            let source = IssuerSettings.Source.secretFile(try folder.write("secret", text))
            #expect(throws: Never.self, "\(text)") {
                try TokenVerifier([IssuerSettings(issuer: "a", audiences: ["b"], source: source)])
            }
        }
    }

    /// It was read once for each member of each issuer that may be to blame, and once more to be put in force.
    @Test func `a file of keys is read once for a start, and again when it has changed since the check`() throws {
        let folder = try KeyFolder()
        let vectors = try TokenVectors.kept.get()
        let clock = TestClock(vectors.now)
        let keys = try folder.write("keys.json", vectors.turns[0].jwks)
        let issuers = ["https://issuer.example/", "other"].map {
            "    - {issuer: \($0), audience: realm-rest, jwks: keys.json}\n"
        }
        let path = try folder.write("realm-rest.yaml", "credentials:\n  jwt:\n" + issuers.joined())
        let events = inotify_init1(Int32(IN_NONBLOCK))
        defer { close(events) }
        _ = unsafe inotify_add_watch(events, keys, UInt32(IN_OPEN | IN_CLOSE_NOWRITE))
        func checked() throws -> Configuration {
            var configuration = Configuration()
            try configuration.apply(file: path)
            try configuration.check()
            return configuration
        }
        let configuration = try checked()
        let verifier = try TokenVerifier(configuration.options.tokenIssuers, configuration.keySets) { clock.now }
        var read = [UInt8](repeating: 0, count: 4096)
        // An event of 16 bytes each for opening and for closing.
        #expect(unsafe Glibc.read(events, &read, read.count) == 2 * 16)
        #expect(verifier.subject(vectors.turns[0].tokens[0]) == "first-0")
        let again = try checked()
        try folder.write("keys.json", vectors.turns[1].jwks)
        try verifier.replace(with: again.options.tokenIssuers, again.keySets)
        #expect(verifier.subject(vectors.turns[1].tokens[0]) == "second-0")
        #expect(verifier.subject(vectors.turns[0].tokens[1]) == nil)
    }

    /// The text said that RS256, ES256 or EdDSA were needed, which the keys had.
    @Test(.enabled(if: ServerProcess.executable != nil, "the executable is not built"), arguments: ["jwks", "secretFile"])
    func `keys are not blamed for a crypto library that lacks their algorithms`(_ member: String) throws {
        let folder = try KeyFolder()
        let vectors = try TokenVectors.kept.get()
        try folder.write("jwks", vectors.turns[0].jwks)
        try folder.write("secretFile", vectors.secret)
        let path = try folder.write(
            "realm-rest.yaml",
            "memory: [a]\ncredentials:\n  jwt:\n    - {issuer: a, audience: b, \(member): \(folder.path)/\(member)}\n")
        // This provider reads and writes keys, and does nothing with them.
        let settings = try folder.write(
            "openssl.cnf", "openssl_conf = a\n[a]\nproviders = b\n[b]\nbase = c\n[c]\nactivate = 1\n")
        let program = try #require(ServerProcess.executable)
        let text = try Tool.run(["OPENSSL_CONF=\(settings)", program, "config", "check", path], mayFail: true)
        #expect(text.hasPrefix("\(path):4: the "), "\(text)")
        #expect(text.contains("cannot be used: the crypto library of this machine (see OPENSSL_CONF) lacks "), "\(text)")
        #expect(text.contains("SHA-256\n"), "\(text)")
        #expect(try Tool.run([program, "config", "check", path]).contains("is valid"))
    }

    @Test(.enabled(if: ServerProcess.executable != nil, "the executable is not built"))
    func `a reload puts other issuers in force, and changes nothing when their keys cannot be used`() throws {
        let folder = try KeyFolder()
        let vectors = try TokenVectors.kept.get()
        try folder.write("keys.json", vectors.jwks)
        try folder.write("turn.json", vectors.turns[0].jwks)
        let base = "listen: {port: 0}\nlog: {format: none}\nmemory: [scratch]\ncredentials:\n  jwt:\n"
        try folder.write("realm-rest.yaml", base + "    - {issuer: a, audience: b, jwks: turn.json}\n")
        let program = try #require(ServerProcess.executable)
        // Where there are issuers, nobody is an administrator without a credential but by this socket.
        let socket = folder.path + "/admin.sock"
        let server = try ServerProcess(command: "cd '\(folder.path)' && exec '\(program)' serve --admin unix:'\(socket)'")
        func keys(_ issuer: String) throws -> Double? {
            let prefix = "realm_rest_token_keys{issuer=\"\(issuer)\"} "
            let lines = try HTTPClient(unixPath: socket).request("GET", "/metrics").text.split(separator: "\n")
            return lines.first { $0.hasPrefix(prefix) }.flatMap { Double($0.dropFirst(prefix.count)) }
        }
        #expect(try HTTPClient.request(port: server.port, "GET", "/v1/realms/scratch/schema").status == 401)
        #expect(try keys("a") == 1)
        try folder.write("realm-rest.yaml", base + "    - {issuer: a, audience: b, jwks: missing.json}\n")
        let refused = try HTTPClient(unixPath: socket).request("POST", "/admin/reload")
        #expect(refused.status == 422 && refused.text.contains("realm-rest.yaml:6: "), "\(refused.text)")
        #expect(try keys("a") == 1)
        try folder.write("realm-rest.yaml", base + "    - {issuer: c, audience: b, jwks: keys.json}\n")
        let taken = try HTTPClient(unixPath: socket).request("POST", "/admin/reload")
        #expect(taken.status == 200 && taken.json["applied"]?.texts == ["credentials.jwt"], "\(taken.text)")
        #expect(try keys("a") == nil)
        #expect(try keys("c") == 4)
        #expect(server.stop() == 0)
    }

    @Test(arguments: [
        "https://a.example", "https://a.example:8443/keys?x=1", "HTTPS://a.example/", "https://[2001:db8::1]/k",
        "http://127.0.0.1/k",
        "http://127.0.0.1:8080/k", "http://127.1.2.3/", "http://localhost:1/k", "http://LOCALHOST/k", "http://[::1]:80/k",
    ])
    func `an address of keys is taken`(_ text: String) { #expect(KeyAddress(text)?.text == text) }

    @Test(arguments: [
        "", "keys.json", "ftp://a.example/", "file:///etc/passwd", "http://a.example/", "http://127.0.0.1.a.example/",
        "http://127.0.0.1@a.example/", "https://user:password@a.example/", "http://127.1/", "http://0177.0.0.1/",
        "http://127.0.0.01/",
        "http://2130706433/", "http://0.0.0.0/", "http://[::ffff:10.0.0.1]/", "http://127.0.0.1:80@a.example/",
        "http://127.0.0.1\\@a.example/", "http://127.0.0.1#@a.example/", "https://", "https:///k", "https://a.example:0/",
        "https://a.example:99999/", "https://a.example:x/", "https://a b/", "https://a.example/\n", "https://a.example/ä",
        "https://[::1", "https://[]/", "https://[::1]x/", "http://localhost.a.example/", "http://127.0.0.1.:80/",
        "gopher://127.0.0.1/",
    ])
    func `an address of keys is refused`(_ text: String) { #expect(KeyAddress(text) == nil) }
}
