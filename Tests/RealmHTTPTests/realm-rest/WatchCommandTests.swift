// SPDX-License-Identifier: Apache-2.0

import Foundation
import Glibc
@testable import MicroHTTP
@testable import RealmAccess
import RealmFormats
import RealmHTTP
@testable import RealmHosting
import RealmServerSupport
import RealmTestSupport
import Testing

/// `realm-rest watch` and `realm-rest health` with servers that demand a key, and that are encrypted.
@Suite(.enabled(if: Tool.areThere && ServerProcess.executable != nil, "a program is not there")) struct WatchCommandTests {
    private let certificates: TestCertificates
    private let program: String

    init() throws {
        certificates = try TestCertificates()
        try certificates.make("main", names: "DNS:localhost,IP:127.0.0.1")
        try certificates.make("other", names: "DNS:localhost,IP:127.0.0.1")
        program = try #require(ServerProcess.executable)
    }

    private func server() throws -> (server: KeyServer, key: APIKeyText) {
        let server = try KeyServer(change: { options in
            options.tls = certificates.options("main")
            options.listeners = ["127.0.0.1:0", "127.0.0.1:0,plain"].compactMap { ListenAddress($0) }
        })
        return (server, try server.add("admin"))
    }

    /// Runs a command of the program until it ends or has printed a text, a minute at the most. The status is nil if it was killed.
    private func run(_ arguments: [String], _ key: String? = nil, until expected: String? = nil) throws -> (
        status: Int32?, text: String
    ) {
        let process = Process()
        let output = Pipe()
        process.executableURL = URL(fileURLWithPath: program)
        process.arguments = arguments
        process.environment = key.map { ["REALM_REST_API_KEY": $0] } ?? [:]
        (process.standardOutput, process.standardError) = (output, output)
        process.standardInput = FileHandle.nullDevice
        try process.run()
        let watchdog = Watchdog(process, seconds: 60)
        var bytes = Data()
        var text: String { String(decoding: bytes, as: UTF8.self) }
        while true {
            let more = output.fileHandleForReading.availableData
            if more.isEmpty { break }
            bytes += more
            if let expected, text.contains(expected) {
                kill(process.processIdentifier, SIGKILL)
                break
            }
        }
        process.waitUntilExit()
        watchdog.stop()
        return (process.terminationReason == .exit ? process.terminationStatus : nil, text)
    }

    private func keyFile(_ text: String) throws -> String {
        let path = certificates.path("key-\(UUID().uuidString.prefix(8))")
        try Data(text.utf8).write(to: URL(fileURLWithPath: path))
        return path
    }

    @Test func `a stream is followed over TLS with a key of a file or of the environment`() throws {
        let (server, key) = try server()
        let url = "https://127.0.0.1:\(server.port)/v1/realms/notes/changes"
        let file = try keyFile(key.text + "\n")
        for (options, secret) in [(["--api-key-file", file], nil), ([], key.text)] as [([String], String?)] {
            let watch = ["watch", url, "--ca", certificates.path("main.pem")] + options
            let (status, text) = try run(watch, secret, until: "-- ready at")
            #expect(status == nil && text.contains("-- ready at"), "\(text)")
            #expect(!text.contains(key.text.suffix(20)))
        }
    }

    @Test func `a certificate of another authority, a wrong key and none end it with the reason`() throws {
        let (server, key) = try server()
        let url = "https://127.0.0.1:\(server.port)/v1/realms/notes/changes"
        let other = try run(["watch", url, "--ca", certificates.path("other.pem")], key.text)
        #expect(other.status == 1 && other.text.contains("certificate"), "\(other.text)")
        let none = try run(["watch", url, "--ca", certificates.path("main.pem")])
        #expect(none.status == 1 && none.text.contains("401") && none.text.contains("--api-key-file"), "\(none.text)")
        let wrong = try run(["watch", url, "--ca", certificates.path("main.pem")], APIKeyText().text)
        #expect(wrong.status == 1 && wrong.text.contains("401"), "\(wrong.text)")
    }

    @Test func `no secret is printed, wherever it was put`() throws {
        let (server, key) = try server()
        let secret = String(key.text.suffix(30))
        let address = "127.0.0.1:\(server.port)/v1/realms/notes/changes"
        for arguments in [
            ["watch", "https://key:\(key.text)@\(address)"], ["watch", "https://\(key.text)@\(address)"],
            ["watch", "https://\(address)", "--api-key-file", key.text], ["watch", "https://\(address)", "--ca", key.text],
            ["watch", "https://\(address)", "--api-key-file", try keyFile("two \(key.text)")],
        ] {
            let (status, text) = try run(arguments)
            #expect(status != nil && status != 0 && !text.contains(secret), "\(arguments): \(text)")
        }
    }

    @Test func `a URL of another form is refused, and an answer that is no stream`() throws {
        let (server, key) = try server()
        for url in ["127.0.0.1/x", "ftp://x", "https://", "https://:1/x", "https://h:99999/", "https://h/a b"] {
            #expect(try run(["watch", url], key.text).status == 64, "\(url)")
        }
        let path = "/v1/realms/notes/schema"
        let (status, text) = try run(
            ["watch", "https://127.0.0.1:\(server.port)\(path)", "--ca", certificates.path("main.pem")], key.text)
        #expect(status == 1 && text.contains("not a stream of changes"), "\(text)")
    }

    @Test func `health says why a port is not ready`() throws {
        let (server, _) = try server()
        let plain = try run(["health", "--port", "\(server.server.others[0].socket.port)"])
        #expect(plain.status == 0 && plain.text.isEmpty, "\(plain.text)")
        let encrypted = try run(["health", "--port", "\(server.port)"])
        #expect(encrypted.status == 1 && encrypted.text.contains("speaks TLS; ask a port without"), "\(encrypted.text)")
        let other = try JWKSServer { JWKSServer.document("{\"detail\":\"no such probe\"}", status: 400) }
        defer { other.stop() }
        let bad = try run(["health", "--port", "\(other.port)"])
        #expect(bad.status == 1 && bad.text.contains("is not ready: HTTP/1.1 400") && !bad.text.contains("TLS"), "\(bad.text)")
        let none = try run(["health", "--port", "1"])
        #expect(none.status == 1 && none.text.contains("no server listens"), "\(none.text)")
    }
}
