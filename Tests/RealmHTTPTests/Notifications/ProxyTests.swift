// SPDX-License-Identifier: Apache-2.0

import Foundation
import MicroHTTP
import RealmAccess
import RealmFormats
import RealmHTTP
import RealmHosting
import RealmPlatform
import RealmStorage
import RealmTestSupport
import Testing

/// nginx in front of a server, with nothing told to it but where the server is.
private final class Proxy {
    let port: Int
    private let process = Process()
    private let folder: String

    /// Where nginx is; nil when it is not installed.
    static let executable: String? = {
        let folders =
            (ProcessInfo.processInfo.environment["PATH"] ?? "").split(separator: ":").map(String.init) + [
                "/usr/sbin", "/usr/local/sbin",
            ]
        return folders.map { $0 + "/nginx" }.first { FileManager.default.isExecutableFile(atPath: $0) }
    }()

    struct Failure: Error, CustomStringConvertible {
        let description: String
    }

    init(to server: Int) throws {
        folder = NSTemporaryDirectory() + "realm-rest-nginx-\(UUID().uuidString)"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        port = try TestSocket.freePort()
        let places = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"].map { "    \($0)_temp_path \(folder)/\($0);\n" }
            .joined()
        let configuration = """
            daemon off;
            pid \(folder)/nginx.pid;
            error_log \(folder)/error.log;
            events {}
            http {
                access_log off;
            \(places)
                server {
                    listen 127.0.0.1:\(port);
                    location / {
                        proxy_pass http://127.0.0.1:\(server);
                    }
                }
            }

            """
        try configuration.write(toFile: folder + "/nginx.conf", atomically: true, encoding: .utf8)
        process.executableURL = URL(fileURLWithPath: Proxy.executable ?? "")
        process.arguments = ["-p", folder, "-e", folder + "/error.log", "-c", folder + "/nginx.conf"]
        process.standardOutput = FileHandle.nullDevice
        process.standardError = FileHandle.nullDevice
        try process.run()
        let isThere = eventually(seconds: 30) {
            (try? HTTPClient.request(port: port, "GET", "/healthz").status) == 200 || !process.isRunning
        }
        guard isThere, process.isRunning else {
            throw Failure(
                description: (try? String(contentsOfFile: folder + "/error.log", encoding: .utf8)) ?? "nginx does not start")
        }
    }

    deinit {
        if process.isRunning { process.terminate() }
        process.waitUntilExit()
        try? FileManager.default.removeItem(atPath: folder)
    }
}

@Suite("Through nginx as it comes from Debian (A22, A23)", .enabled(if: Proxy.executable != nil, "nginx is not installed"))
struct ProxyTests {
    private static let dogs = "/v1/realms/app/changes?" + ChangeFixture.query(["class": "Dog", "include": "keys"])

    private let fixture: ChangeFixture
    private let proxy: Proxy

    init() throws {
        fixture = try ChangeFixture { options in
            options.limits.http.heartbeat = 1
            options.limits.retentionSeconds = 0
        }
        proxy = try Proxy(to: fixture.server.port)
    }

    private func stream(_ target: String, _ headers: [(String, String)] = []) throws -> EventClient {
        let client = try EventClient(port: proxy.port, target, headers: headers)
        #expect(client.status == 200 && client.header("Content-Type") == "text/event-stream", "\(client.head)")
        return client
    }

    @Test func `every event comes at once, and so does the answer of every poll that waits`() throws {
        let events = try stream(ProxyTests.dogs)
        #expect(events.header("Server")?.hasPrefix("nginx") == true)
        #expect(try events.next("snapshot").json["count"]?.integer == 5)
        var position = try events.next("ready").id ?? ""
        var delays: [(event: Double, poll: Double)] = []
        for id in 100..<(TestRun.isLong ? 300 : 140) {
            let poll = try RawConnection(
                port: proxy.port, ProxyTests.dogs + "&since=\(position)&wait=50", accept: "application/json")
            #expect(try eventually { try fixture.server.metric("waiting_polls") == 1 })
            let version = try fixture.write(fixture.create(id))
            let start = Instant.now()
            // Nothing else follows that would push it through.
            var event = try events.next()
            while event?.name == "" { event = try events.next() }
            let seen = Instant.now().seconds(since: start)
            #expect(event?.name == "changes" && event?.id == version && event?.json["from"]?.text == position)
            #expect(poll.read(until: "\"next\":\"\(version)\"}") && poll.text.contains("\"key\":\"\(id)\""))
            delays.append((seen, Instant.now().seconds(since: start)))
            position = version
        }
        let sorted = delays.map(\.event).sorted()
        let polls = delays.map(\.poll).sorted()
        guard TestRun.isLong else { return }
        #expect((sorted.last ?? 9) < 0.1 && (polls.last ?? 9) < 0.1)
        func text(_ values: [Double]) -> String {
            "\(Int(values[values.count / 2] * 1e6)), at most \(Int((values.last ?? 0) * 1e6)) µs"
        }
        print(
            "nginx: \(delays.count) commits; from the answer of the write to the event \(text(sorted)), to the poll's answer \(text(polls))"
        )
    }

    @Test func `signs of life come through, and keep an idle stream open`() throws {
        let events = try stream(ProxyTests.dogs)
        _ = try events.next("snapshot")
        _ = try events.next("ready")
        for _ in 0..<3 { #expect(try events.next()?.comments == ["hb"]) }
        let version = try fixture.write(fixture.patch(#"{"age":77}"#))
        var beat = try events.next()
        while let known = beat, known.id == nil { beat = try events.next() }
        #expect(beat?.comments == ["hb"] && beat?.id == version)
    }

    @Test(arguments: ["header", "parameter"])
    func `a client that leaves the proxy is let go of by the server, and goes on from where it was`(_ place: String) throws {
        var events: EventClient? = try stream(ProxyTests.dogs)
        _ = try events?.next("snapshot")
        let position = try events?.next("ready").id ?? ""
        // Holds the observation, which nothing else does.
        let other = try fixture.server.stream("app", ChangeFixture.query(["class": "Dog", "include": "keys"]))
        _ = try other.next("snapshot")
        events = nil
        #expect(try eventually { try fixture.server.metric("streams") == 1 })
        let missed = try (20..<23).map { try fixture.write(fixture.create($0)) }
        let again = try stream(
            ProxyTests.dogs + (place == "parameter" ? "&since=\(position)" : ""),
            place == "header" ? [("Last-Event-ID", position)] : [])
        for version in missed { #expect(try again.next("changes").id == version) }
        #expect(try again.next("ready").id == missed.last)
        let poll = try RawConnection(
            port: proxy.port, ProxyTests.dogs + "&since=\(missed[2])&wait=50", accept: "application/json")
        #expect(try eventually { try fixture.server.metric("waiting_polls") == 1 })
        poll.socket.close()
        #expect(try eventually(seconds: 40) { try fixture.server.metric("waiting_polls") == 0 })
    }

    @Test func `the URL with a ticket that a registration answers leads through the proxy, to large snapshots too`() throws {
        for start in [1000, 1800] { try fixture.server.batch("app", (start..<start + 800).map { fixture.create($0) }) }
        let answer = try HTTPClient.request(
            port: proxy.port, "POST", "/v1/realms/app/subscriptions", headers: [("Content-Type", "application/json")],
            body: Array(#"{"subscriptions":{"dogs":{"class":"Dog"},"ann":{"class":"Person","key":"ann"}}}"#.utf8))
        #expect(answer.status == 201)
        let events = try stream(answer.json["url"]?.text ?? "")
        var rows = 0
        while let event = try events.next(), event.name != "ready" { rows += event.json["items"]?.elements?.count ?? 0 }
        #expect(rows == 1605)
        let version = try fixture.write(fixture.create(9), fixture.patch(#"{"age":9}"#))
        var told: [String] = []
        while told.count < 2, let event = try events.next() {
            if event.name == "changes" {
                told.append((event.json["sub"]?.text ?? "") + (event.id == nil ? "" : " \(version == event.id)"))
            }
        }
        #expect(told == ["dogs", "ann true"])
    }

    @Test func `a server that ends says so through the proxy`() throws {
        let events = try stream(ProxyTests.dogs)
        _ = try events.next("snapshot")
        _ = try events.next("ready")
        try fixture.server.must("DELETE", "app")
        #expect(try events.next("end").json["reason"]?.text == "deleted")
        #expect(try events.next() == nil)
    }
}
