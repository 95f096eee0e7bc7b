// SPDX-License-Identifier: Apache-2.0

import Foundation
import Glibc
import RealmFormats
import RealmHTTP
import RealmPlatform
import RealmServerSupport
import RealmStorage
import RealmTestSupport
import Testing

/// A server process ends when it is told to, and does not start where it cannot do what it says.
@Suite struct EndingTests {
    private static let slow =
        "/v1/realms/test/objects/Customer?limit=1&where=ANY%20favourites"
        + String(repeating: ".category.@links.Product.category", count: 8) + ".name%20%3D%3D%20lastName"

    @Test(.enabled(if: ServerProcess.executable != nil))
    func `a second signal ends the process although a request runs`() throws {
        // A copy: a server opens what it may write to, and the fixtures are there for others, too.
        let realm = try TemporaryRealm("store")
        let server = try ServerProcess([realm.path, "--limit", "read-seconds=3600", "--stop-after", "10s"])
        let client = try HTTPClient(port: server.port)
        try client.send("GET \(EndingTests.slow) HTTP/1.1\r\nHost: 127.0.0.1:\(server.port)\r\n\r\n")
        Threads.sleep(seconds: 0.5)
        kill(server.process.processIdentifier, SIGTERM)
        Threads.sleep(seconds: 0.5)
        #expect(server.process.isRunning)
        let begin = Instant.now()
        kill(server.process.processIdentifier, SIGTERM)
        server.process.waitUntilExit()
        // A second, and something for a machine that has much to do.
        #expect(Instant.now().seconds(since: begin) < 5)
        #expect([0, 143].contains(server.process.terminationStatus))
    }

    /// What clients leave half done when the server is told to end.
    enum Stall: String, CaseIterable, Sendable {
        case halfHead, halfBody, readsNothing, readsNoStream, halfHandshake, longQuery, transaction
    }

    /// A client that did not read held the process for ten seconds, when `docker stop` kills it.
    @Test(.enabled(if: ServerProcess.executable != nil), arguments: Stall.allCases)
    func `one signal ends the process within two seconds, whatever its clients do`(_ stall: Stall) throws {
        let realm = try TemporaryRealm("store")
        var options = [realm.path, "--limit", "read-seconds=3600"]
        if stall == .halfHandshake { options.append("--tls-self-signed") }
        let server = try ServerProcess(options)
        let realms = "/v1/realms/test"
        var held: [HTTPClient] = []
        let client = try HTTPClient(port: server.port)
        held.append(client)
        let host = "Host: 127.0.0.1:\(server.port)\r\n"
        switch stall {
        case .halfHead: try client.send("GET /v1/realms HTTP/1.1\r\nHo")
        case .halfBody:
            try client.send(
                "POST \(realms)/batch HTTP/1.1\r\n\(host)Content-Type: application/json\r\nContent-Length: 100\r\n\r\n{")
        case .readsNothing: try client.send("GET \(realms)/export HTTP/1.1\r\n\(host)\r\n")
        case .readsNoStream:
            try client.send("GET \(realms)/changes?class=Product HTTP/1.1\r\n\(host)Accept: text/event-stream\r\n\r\n")
        case .halfHandshake: try client.send("\u{16}\u{3}\u{1}")
        case .longQuery: try client.send("GET \(EndingTests.slow) HTTP/1.1\r\n\(host)\r\n")
        case .transaction: try client.send("POST \(realms)/transactions HTTP/1.1\r\n\(host)Content-Length: 0\r\n\r\n")
        }
        Threads.sleep(seconds: 0.5)
        let begin = Instant.now()
        let status = server.stop()
        let seconds = Instant.now().seconds(since: begin)
        // Two seconds, and something for a machine that has much to do.
        #expect(seconds < 3.5, "\(stall): \(seconds)")
        #expect(stall == .longQuery ? [0, 143].contains(status) : status == 0, "\(stall): \(status)")
        withExtendedLifetime(held) {}
    }

    @Test(.enabled(if: ServerProcess.executable != nil))
    func `one signal ends an idle process with success`() throws {
        let server = try ServerProcess(["--memory", "a"])
        #expect(server.stop() == 0)
    }

    /// The end freed the tables of the crypto library under threads that imported keys, which crashed seven of twenty processes.
    @Test(.enabled(if: ServerProcess.executable != nil), arguments: 1...5)
    func `a signal while keys are read ends the process with success`(_ turn: Int) throws {
        let folder = try KeyFolder()
        try folder.write("keys.json", longKeySet(turn: 0))
        let issuers = (0..<31).map { "    - {issuer: i\($0), audience: a, jwks: keys.json}\n" }
        let path = try folder.write("realm-rest.yaml", "memory: [a]\ncredentials:\n  jwt:\n" + issuers.joined())
        // A busy machine may need more than the usual time.
        let server = try ServerProcess(["--config", path, "--stop-after", "20s"])
        let tasks = "/proc/\(server.process.processIdentifier)/task"
        func readers() -> Int {
            let threads = (try? FileManager.default.contentsOfDirectory(atPath: tasks)) ?? []
            return threads.count { (try? String(contentsOfFile: "\(tasks)/\($0)/comm", encoding: .utf8)) == "token-keys\n" }
        }
        #expect(eventually { readers() == 1 }, "the one that looks for changes")
        try folder.write("keys.json", longKeySet(turn: turn))
        // On a machine that is fast or busy they may be done before they are seen.
        _ = eventually(seconds: 3, longestPause: 0.005) { readers() > 4 }
        #expect(server.stop() == 0)
    }

    /// With few open files the server has to say so before it says that it listens.
    @Test(.enabled(if: ServerProcess.executable != nil))
    func `too few open files for the realms stop the start`() throws {
        let folder = NSTemporaryDirectory() + "realm-rest-\(UUID().uuidString)"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        for number in 0..<40 { _ = FileManager.default.createFile(atPath: "\(folder)/r\(number).realm", contents: Data([1])) }
        let command =
            "ulimit -n 500; exec timeout 60 '\(ServerProcess.executable ?? "")' serve --port 0 '\(folder)'"
            + " --limit connections=50 --limit spool-files=8"
        let (status, output, error) = try Shell.run(command)
        #expect(status == 1)
        #expect(!output.contains("listening"))
        #expect(error.contains("open files"))
    }

    /// Fault 12: a thread that could not be made ended the process.
    @Test(
        .enabled(
            if: ServerProcess.executable != nil && getuid() == 0
                && FileManager.default.isExecutableFile(atPath: "/usr/bin/setpriv")))
    func `a thread that cannot be made is a problem of one request`() throws {
        let command =
            "ulimit -u 24; exec setpriv --reuid 54321 --clear-groups '\(ServerProcess.executable ?? "")' serve --port 0"
            + " --log-format none --memory first --limit workers=2"
        let server = try ServerProcess(command: command)
        defer { server.kill() }
        let port = server.port
        var statuses: Set<Int> = []
        for number in 0..<40 {
            let made = try HTTPClient.request(
                port: port, "POST", "/v1/realms", headers: [("Content-Type", "application/json")],
                body: Array("{\"name\":\"r\(number)\",\"inMemory\":\"r\(number)\",\"schema\":{\"classes\":[]}}".utf8))
            statuses.insert(made.status)
            // All realms share the threads of writers, but a transaction keeps one.
            let begun = try HTTPClient.request(
                port: port, "POST", "/v1/realms/r\(number)/transactions", headers: [("Content-Type", "application/json")],
                body: Array("{}".utf8))
            statuses.insert(begun.status)
        }
        #expect(statuses.contains(503), "\(statuses)")
        #expect(server.process.isRunning)
        #expect(try HTTPClient.request(port: port, "GET", "/healthz").status == 200)
    }

    @Test func `a stack that no machine has is an error and not the end`() {
        #expect(throws: Threads.Failure.self) { try Threads.start("big", stackBytes: 1 << 60) {} }
    }
}

/// Commands of a shell.
private enum Shell {
    static func run(_ command: String) throws -> (status: Int32, output: String, error: String) {
        let process = Process()
        let (output, error) = (Pipe(), Pipe())
        process.executableURL = URL(fileURLWithPath: "/bin/bash")
        process.arguments = ["-c", command]
        process.standardOutput = output
        process.standardError = error
        try process.run()
        let text = output.fileHandleForReading.readDataToEndOfFile()
        let mistakes = error.fileHandleForReading.readDataToEndOfFile()
        process.waitUntilExit()
        return (process.terminationStatus, String(decoding: text, as: UTF8.self), String(decoding: mistakes, as: UTF8.self))
    }
}
