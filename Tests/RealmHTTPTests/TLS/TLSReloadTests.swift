// SPDX-License-Identifier: Apache-2.0

import Foundation
import Glibc
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

/// Certificates that are replaced while a server runs.
@Suite(.enabled(if: Tool.areThere, "openssl or curl is not installed")) struct TLSReloadTests {
    private let certificates: TestCertificates

    init() throws {
        certificates = try TestCertificates()
        try certificates.make("main", subject: "/CN=first")
        try certificates.make("second")
        try certificates.make("third")
    }

    private func server(_ change: (inout ServerOptions) -> Void = { _ in }) throws -> TestServer {
        try TestServer([]) { options in
            options.isReadOnly = false
            options.memoryRealms = ["empty"]
            options.limits.http.connections = 600
            options.limits.http.connectionsPerAddress = 600
            options.limits.streams = 600
            options.limits.streamsPerPrincipal = 600
            options.tls = certificates.options("main")
            options.listeners = ["127.0.0.1:0", "127.0.0.1:0,plain"].compactMap { ListenAddress($0) }
            change(&options)
        }
    }

    private func plain(_ server: TestServer, _ method: String, _ path: String, _ body: String? = nil) throws -> HTTPClient.Answer
    {
        try HTTPClient.request(
            port: server.server.others[0].socket.port, method, path, headers: [("Content-Type", "application/json")],
            body: body.map { Array($0.utf8) })
    }

    /// Waits until new connections get the certificate of a name.
    private func shows(_ name: String, _ server: TestServer) throws -> Bool {
        try eventually(seconds: 20) { try Tool.certificate(port: server.port, name: nil).contains("CN = \(name)") }
    }

    @Test func `two hundred streams go on while the certificate is replaced, and new connections get the new one`() throws {
        let server = try server()
        let schema =
            #"{"name":"n","inMemory":"n","schema":{"classes":[{"name":"Note","primaryKey":"id","properties":[{"name":"id","type":"int"}]}]}}"#
        #expect(try plain(server, "POST", "/v1/realms", schema).status == 201)
        let process = Process()
        let (output, feed) = (Pipe(), Pipe())
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = ["python3", Tool.client, String(server.port), "hold", "200 /v1/realms/n/changes"]
        process.standardOutput = output
        process.standardInput = feed
        try process.run()
        let watchdog = Watchdog(process, seconds: 120)
        defer {
            kill(process.processIdentifier, SIGKILL)
            process.waitUntilExit()
            watchdog.stop()
        }
        let lines = Lines(output.fileHandleForReading)
        #expect(lines.next() == "ready")
        for (number, name) in ["second", "third"].enumerated() {
            try certificates.replace("main", by: name)
            #expect(try shows(name, server))
            #expect(try plain(server, "POST", "/v1/realms/n/objects/Note", #"{"id":\#(number)}"#).status == 201)
            try feed.fileHandleForWriting.write(contentsOf: Data("event: changes\n".utf8))
            #expect(lines.next() == "200")
        }
        #expect(try plain(server, "GET", "/metrics").text.contains("realm_rest_tls_reload_failures_total 0\n"))
        try feed.fileHandleForWriting.close()
    }

    /// Reads lines as they come.
    private final class Lines {
        private let handle: FileHandle
        private var rest = ""

        init(_ handle: FileHandle) { self.handle = handle }

        func next() -> String? {
            while !rest.contains("\n") {
                let data = handle.availableData
                if data.isEmpty { return nil }
                rest += String(decoding: data, as: UTF8.self)
            }
            let line = rest.prefix { $0 != "\n" }
            rest = String(rest.dropFirst(line.count + 1))
            return String(line)
        }
    }

    @Test(arguments: ["mismatch", "nonsense", "gone", "cut"])
    func `what cannot be used leaves the old certificate, is counted, and is taken when it is good again`(_ kind: String) throws {
        let server = try server()
        let before = try Tool.certificate(port: server.port, name: nil)
        let certificate = certificates.path("main.pem")
        let good = try String(contentsOfFile: certificate, encoding: .utf8)
        switch kind {
        case "mismatch":
            try FileManager.default.removeItem(atPath: certificate)
            try FileManager.default.copyItem(atPath: certificates.path("second.pem"), toPath: certificate)
        case "nonsense": try "x".write(toFile: certificate, atomically: true, encoding: .utf8)
        case "gone": try FileManager.default.removeItem(atPath: certificate)
        default: try String(good.prefix(200)).write(toFile: certificate, atomically: true, encoding: .utf8)
        }
        #expect(
            try eventually(seconds: 20) {
                try plain(server, "GET", "/metrics").text.contains("realm_rest_tls_certificates_stale 1\n")
            })
        #expect(try Tool.certificate(port: server.port, name: nil) == before)
        // It is not tried again, or told of again, before something changes.
        Threads.sleep(seconds: 2.5)
        #expect(try plain(server, "GET", "/metrics").text.contains("realm_rest_tls_reload_failures_total 1\n"))
        try certificates.replace("main", by: "third")
        #expect(try shows("third", server))
        #expect(try plain(server, "GET", "/metrics").text.contains("realm_rest_tls_certificates_stale 0\n"))
    }

    @Test func `metrics tell when each certificate expires`() throws {
        let server = try server { $0.tls = certificates.options("main", more: ["second"]) }
        let text = try plain(server, "GET", "/metrics").text
        let lines = text.split(separator: "\n").filter { $0.hasPrefix("realm_rest_tls_certificate_expiry_seconds{") }
        #expect(lines.map { $0.contains("name=\"first\"") } == [true, false])
        let now = Double(WallClock.now().nanoseconds) / 1e9
        for line in lines {
            let expiry = try #require(Double(line.split(separator: " ").last ?? ""))
            #expect((29 * 86_400...31 * 86_400).contains(expiry - now))
        }
    }

    @Test(.enabled(if: ServerProcess.executable != nil))
    func `SIGHUP and a reload read certificates, of the file or of the command line`() throws {
        let files = ["--tls-certificate", certificates.path("main.pem"), "--tls-key", certificates.path("main.key")]
        let process = try ServerProcess(["--memory", "a"] + files)
        try certificates.replace("main", by: "second")
        process.send(SIGHUP)
        #expect(try eventually(seconds: 20) { try Tool.certificate(port: process.port, name: nil).contains("CN = second") })
        #expect(process.stop() == 0)
    }

    @Test(.enabled(if: ServerProcess.executable != nil))
    func `a reload takes other files, and refuses a pair that cannot be used with its line`() throws {
        let file = certificates.path("realm-rest.yaml")
        func write(_ name: String, key: String? = nil, more: String = "") throws {
            let text =
                "listen: {port: 0}\nmemory: [a]\nlog: {format: none}\ntls:\n  certificate: \(name).pem\n  key: \(key ?? name).key\n\(more)"
            try text.write(toFile: file, atomically: true, encoding: .utf8)
        }
        try write("main", more: "  hsts: 1y\n")
        let program = try #require(ServerProcess.executable)
        let process = try ServerProcess(command: "exec '\(program)' serve --config '\(file)'")
        let url = "https://127.0.0.1:\(process.port)"
        #expect(try Tool.curl([url + "/healthz"]).contains("max-age=31536000"))
        try write("second")
        let answer = try Tool.curl(["-X", "POST", url + "/admin/reload"])
        #expect(answer.contains("\"applied\":[\"tls.certificate\",\"tls.key\",\"tls.hsts\"]"), "\(answer)")
        #expect(try Tool.certificate(port: process.port, name: nil).contains("CN = second"))
        #expect(try !Tool.curl([url + "/healthz"]).contains("max-age"))
        try write("third", key: "second")
        let refused = try Tool.curl(["-X", "POST", url + "/admin/reload"])
        #expect(
            refused.contains(" 422 ") && refused.contains("realm-rest.yaml:5: ") && refused.contains("does not belong"),
            "\(refused)")
        #expect(try Tool.certificate(port: process.port, name: nil).contains("CN = second"))
        #expect(process.stop() == 0)
    }
}
