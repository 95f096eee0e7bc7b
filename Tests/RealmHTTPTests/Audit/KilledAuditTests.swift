// SPDX-License-Identifier: Apache-2.0

import Foundation
@testable import RealmAccess
import RealmFormats
import RealmHTTP
import RealmPlatform
import RealmServerSupport
import RealmStorage
import RealmTestSupport
import Testing

/// A loaded server with an audit log that is killed: whatever a client knew for a second stands there once, and in order.
@Suite(.enabled(if: ServerProcess.executable != nil, "the executable is not built")) struct KilledAuditTests {
    /// What a client saw of one request.
    private struct Seen: Sendable {
        let id: String
        let status: Int
        let version: String?
        let time: RealmPlatform.Instant
    }

    /// A folder with keys and a configuration, for the lives of a server.
    private struct Place {
        let log: AuditFolder
        let admin: APIKeyText
        let clerk: APIKeyText

        init() throws {
            log = try AuditFolder()
            (admin, clerk) = (APIKeyText(), APIKeyText())
            try FileManager.default.createDirectory(atPath: log.folder + "/data", withIntermediateDirectories: true)
            let file = KeyFile(dataFolder: log.folder + "/data")
            try file.add(APIKey(admin, name: "root", roles: ["admin"]))
            try file.add(APIKey(clerk, name: "clerk", roles: ["viewer"]))
            let text = """
                data: data
                audit: {file: audit.log, rotate: 40KiB, keep: 500}
                roles: {viewer: {realms: {bank: {classes: {Entry: [read]}}}}}
                """
            try Data(text.utf8).write(to: URL(fileURLWithPath: log.folder + "/realm-rest.yaml"))
        }

        func start() throws -> ServerProcess { try ServerProcess(["--config", log.folder + "/realm-rest.yaml"]) }
    }

    private static let schema = #"""
        {"classes":[{"name":"Entry","primaryKey":"_id","properties":[{"name":"_id","type":"string"},{"name":"text","type":"string"}]}]}
        """#

    @Test(arguments: TestRun.seeds(quick: 1, long: 3))
    func `every write and refusal that was answered a second ago stands in the log, once and in order`(_ seed: UInt64) throws {
        let place = try Place()
        var random = SeededGenerator(seed: seed)
        var all: [[Seen]] = []
        for round in 0..<(TestRun.isLong ? 20 : 3) {
            let server = try place.start()
            if round == 0 {
                let made = try HTTPClient.request(
                    port: server.port, "POST", "/v1/realms",
                    headers: [("Authorization", "Bearer " + place.admin.text), WriteServer.json],
                    body: Array(#"{"name":"bank","schema":\#(KilledAuditTests.schema)}"#.utf8))
                try #require(made.status == 201, "\(made.text)")
            }
            let milliseconds = Int.random(in: 1300...2500, using: &random)
            let seen = load(server, place, "\(round)", random.next(), milliseconds)
            try check(place, seen, "seed \(seed), round \(round), killed after \(milliseconds) ms")
            all += seen
        }
        // What stood there once stays there, with what came later behind it.
        let server = try place.start()
        #expect(server.stop() == 0)
        let ids = try place.log.lines().compactMap { $0["id"]?.text }
        #expect(Set(ids).count == ids.count)
        for seen in all.map({ $0.dropLast(60).map(\.id) }) where !seen.isEmpty {
            let known = Set(seen)
            #expect(ids.filter { known.contains($0) } == seen)
        }
        #expect(try place.log.names().count > 2)
    }

    /// What the requests of clients are answered with.
    private static let statuses: Set = [201, 401, 403, 404, 422]

    /// Lets clients work until the server is killed; returns what each of them has seen.
    private func load(
        _ server: ServerProcess, _ place: Place, _ round: String, _ seed: UInt64, _ milliseconds: Int
    ) -> [[Seen]] {
        let results = Monitor<[[Seen]]>(Array(repeating: [], count: 4))
        let group = DispatchGroup()
        let (port, admin, clerk) = (server.port, place.admin, place.clerk)
        for index in 0..<4 {
            group.enter()
            Thread.detachNewThread {
                defer { group.leave() }
                var random = SeededGenerator(seed: seed &+ UInt64(index))
                var count = 0
                guard let client = try? HTTPClient(port: port) else { return }
                while let next = KilledAuditTests.step(client, "\(round)-\(index)-\(count)", admin, clerk, &random) {
                    results.withLock { $0[index].append(next) }
                    count += 1
                }
            }
        }
        Threads.sleep(seconds: Double(milliseconds) / 1000)
        // On a busy machine a client has not sent each kind of request by then.
        #expect(
            eventually {
                let old = results.withLock { $0.joined().filter { $0.time.adding(seconds: 1.2) < .now() } }
                return Set(old.map(\.status)).isSuperset(of: KilledAuditTests.statuses)
            })
        let end = RealmPlatform.Instant.now()
        server.kill()
        group.wait()
        // What was answered in the last second need not stand there.
        return results.withLock { $0 }.map { seen in seen.filter { end.seconds(since: $0.time) > 1 } }
    }

    /// One request; nil when the server does not answer any more.
    private static func step(
        _ client: HTTPClient, _ id: String, _ admin: APIKeyText, _ clerk: APIKeyText, _ random: inout SeededGenerator
    ) -> Seen? {
        let object = #"{"_id":"\#(id)","text":"\#(AuditServer.marker) \#(id) text"}"#
        let path = "/v1/realms/bank"
        let request: (method: String, target: String, key: APIKeyText?, body: String)
        switch Int.random(in: 0..<8, using: &random) {
        case 0: request = ("POST", path + "/objects/Entry", clerk, object)
        case 1: request = ("DELETE", path + "/objects/Entry/\(id)", nil, "")
        case 2: request = ("GET", "/v1/realms/hidden/schema", clerk, "")
        case 3: request = ("POST", path + "/objects/Entry", admin, #"{"_id":7,"text":"\#(AuditServer.marker)"}"#)
        case 4:
            let op = #"{"create":{"class":"Entry","body":\#(object)}}"#
            request = ("POST", path + "/batch", admin, "{\"ops\":[\(op)]}")
        default: request = ("PUT", path + "/objects/Entry/\(id)", admin, object)
        }
        var headers = [("X-Request-Id", "r" + id), ("Accept-Encoding", "gzip")]
        if let key = request.key { headers.append(("Authorization", "Bearer " + key.text)) }
        if !request.body.isEmpty { headers.append(WriteServer.json) }
        let body = request.body.isEmpty ? nil : Array(request.body.utf8)
        guard let answer = try? client.request(request.method, request.target, headers: headers, body: body), answer.isComplete
        else { return nil }
        return Seen(
            id: "r" + id, status: answer.status, version: answer.status < 300 ? answer["Realm-Version"] : nil, time: .now())
    }

    /// Compares the log with what clients saw.
    private func check(_ place: Place, _ seen: [[Seen]], _ name: String) throws {
        let text = try place.log.text()
        // The end of the last line may be missing.
        let lines = try text.split(separator: "\n", omittingEmptySubsequences: false).dropLast().map {
            try ParsedJSON(parsing: String($0))
        }
        var byID: [String: ParsedJSON] = [:]
        for line in lines {
            guard let id = line["id"]?.text else { continue }
            if byID.updateValue(line, forKey: id) != nil { Issue.record("\(name): \(id) stands there twice") }
        }
        for one in seen.joined() {
            guard let line = byID[one.id] else {
                Issue.record("\(name): \(one.id) with \(one.status) is missing")
                continue
            }
            #expect(line["status"]?.int == one.status, "\(name): \(line)")
            #expect(line["version"]?.text == one.version, "\(name): \(line)")
            #expect((line["kind"] == "refusal") == [401, 403, 404].contains(one.status), "\(name): \(line)")
        }
        let order = lines.compactMap { $0["id"]?.text }
        for client in seen {
            let known = Set(client.map(\.id))
            #expect(order.filter { known.contains($0) } == client.map(\.id), "\(name)")
        }
        let versions = lines.compactMap { $0["version"]?.text?.split(separator: ".").last.flatMap { Int($0) } }
        #expect(versions == versions.sorted() && !versions.isEmpty, "\(name)")
        #expect(Set(seen.joined().map(\.status)).isSuperset(of: KilledAuditTests.statuses), "\(name)")
        #expect(!text.contains(AuditServer.marker), "\(name)")
        for key in [place.admin, place.clerk] { #expect(!text.contains(key.text.suffix(30)), "\(name)") }
    }

    // MARK: - Signals and files that are full

    @Test func `SIGHUP has the file opened again, also without a configuration file`() throws {
        let folder = try AuditFolder()
        let server = try ServerProcess(["--memory", "m", "--audit", folder.path])
        func change(_ id: String) throws {
            let answer = try HTTPClient.request(
                port: server.port, "PATCH", "/admin/config", headers: [WriteServer.json, ("X-Request-Id", id)],
                body: Array("{}".utf8))
            #expect(answer.status == 200)
        }
        try change("one")
        _ = try folder.line(of: "one")
        try FileManager.default.moveItem(atPath: folder.path, toPath: folder.path + ".1")
        server.send(SIGHUP)
        #expect(eventually { FileManager.default.fileExists(atPath: folder.path) })
        try change("two")
        _ = try folder.line(of: "two")
        let old = try String(contentsOfFile: folder.path + ".1", encoding: .utf8)
        #expect(old.contains("one") && !old.contains("two"))
        #expect(NodeStatus(at: folder.path)?.permissions == 0o600)
        #expect(server.stop() == 0)
        #expect(try folder.lines().compactMap { $0["id"]?.text } == ["one", "two"])
    }

    @Test func `a file that takes no more has whole lines alone, and the server goes on where there is room`() throws {
        let folder = try AuditFolder()
        let program = try #require(ServerProcess.executable)
        // Files of this process have at most eight blocks of a KiB; a write beyond is an error and no signal.
        let text = "audit: {file: audit.log, required: true}\n"
        try Data(text.utf8).write(to: URL(fileURLWithPath: folder.folder + "/audit.yaml"))
        let server = try ServerProcess(
            command: "trap '' XFSZ; ulimit -f 8; cd '\(folder.folder)' && exec '\(program)' serve --port 0 --log-format none "
                + "--memory m --config audit.yaml")
        var ids: [String] = []
        func change(_ id: String) throws -> Int {
            try HTTPClient.request(
                port: server.port, "PATCH", "/admin/config", headers: [WriteServer.json, ("X-Request-Id", id)],
                body: Array("{}".utf8)
            ).status
        }
        var status = 200
        for number in 0..<500 where status == 200 {
            status = try change("n\(number)")
            if status == 200 { ids.append("n\(number)") }
            Threads.sleep(seconds: 0.01)
        }
        #expect(status == 503)
        let full = try folder.text()
        #expect(full.hasSuffix("\n") && full.utf8.count <= 8192)
        // With another file there is room, for what was answered before as well.
        try FileManager.default.moveItem(atPath: folder.path, toPath: folder.path + ".1")
        #expect(try eventually { try change("last") == 200 })
        ids.append("last")
        _ = try folder.line(of: "last")
        #expect(try folder.lines().compactMap { $0["id"]?.text } == ids)
        server.kill()
    }
}
