// SPDX-License-Identifier: Apache-2.0

import Foundation
import RealmAccess
import RealmFormats
import RealmHTTP
import RealmHosting
import RealmTestSupport
import Testing

/// The memory of observed definitions stays within its bounds while clients and rows come and go.
@Suite struct ObservedMemoryTests {
    private static let lines = ("Content-Type", "application/x-ndjson")

    private static func dogs(_ keys: Range<Int>) -> String {
        keys.map { "{\"_id\":\($0),\"age\":\($0 % 100),\"name\":\"n\($0)\"}" }.joined(separator: "\n")
    }

    private static func registration(_ definitions: [String]) -> String {
        let parts = definitions.enumerated().map { "\"d\($0.offset)\":\($0.element)" }
        return "{\"subscriptions\":{\(parts.joined(separator: ","))}}"
    }

    /// What was registered on an empty class took no room, and then grew with the class without a bound.
    @Test func `a definition that grows beyond the bound of its client ends, and others go on`() throws {
        let server = try WriteServer {
            $0.limits.importBytes = 8 << 20
            $0.limits.observedBytesPerPrincipal = 1 << 20
        }
        let all = (0..<20).map { #"{"class":"Dog","where":"age != \#(-1 - $0)","include":"none"}"# }
        let large = try server.send("POST", "app/subscriptions", Self.registration(all))
        #expect(large.status == 201, "\(large.text)")
        let other = try HTTPClient(port: server.port, source: 7)
        let small = try other.request(
            "POST", "/v1/realms/app/subscriptions", headers: [WriteServer.json],
            body: Array(Self.registration([#"{"class":"Dog","where":"_id < 10","include":"none"}"#]).utf8))
        #expect(small.status == 201)
        let made = try server.send("POST", "app/import?class=Dog", Self.dogs(0..<20_000), [Self.lines])
        #expect(made.json["created"]?.int == 20_000, "\(made.text)")
        let refused = try server.get("app/changes?subscription=\(large.json["id"]?.text ?? "")")
        #expect(refused.status == 429 && refused.code == "too_many_streams", "\(refused.text)")
        #expect(refused.json["limitName"]?.text == "observed-bytes-per-principal" && refused.json["limit"]?.int == 1 << 20)
        let told = try other.request("GET", "/v1/realms/app/changes?subscription=\(small.json["id"]?.text ?? "")")
        #expect(told.status == 200, "\(told.text)")
        // What has ended takes no room any more.
        #expect(try server.send("DELETE", "app/subscriptions/\(large.json["id"]?.text ?? "")").status == 204)
        let fewer = Self.registration(Array(all.prefix(3)))
        #expect(try eventually(seconds: 10) { try server.send("POST", "app/subscriptions", fewer).status == 201 })
        try server.finish()
    }

    /// Has one client register a definition, grows it beyond what the client may have, and registers a small one once it was refused.
    ///
    /// - Parameter before: Called between the registration and the growth.
    private func outgrow(_ before: (WriteServer) throws -> Void = { _ in }) throws {
        let server = try WriteServer {
            $0.limits.importBytes = 8 << 20
            $0.limits.observedBytesPerPrincipal = 100_000
        }
        let large = try server.send(
            "POST", "app/subscriptions", Self.registration([#"{"class":"Dog","where":"age != -1","include":"none"}"#]))
        #expect(large.status == 201, "\(large.text)")
        try before(server)
        let made = try server.send("POST", "app/import?class=Dog", Self.dogs(0..<20_000), [Self.lines])
        #expect(made.json["created"]?.int == 20_000, "\(made.text)")
        let refused = try server.get("app/changes?subscription=\(large.json["id"]?.text ?? "")")
        #expect(refused.status == 429 && refused.json["limitName"]?.text == "observed-bytes-per-principal", "\(refused.text)")
        let small = try server.send(
            "POST", "app/subscriptions", Self.registration([#"{"class":"Dog","where":"_id < 10","include":"none"}"#]))
        #expect(small.status == 201, "\(small.text)")
        try server.finish()
    }

    /// The bytes of a definition that had failed were charged to its client as long as the registration lived.
    @Test func `a definition that has failed takes no room of its client any more`() throws { try outgrow() }

    /// A registration counted what its definition took before a migration, whatever the definition took after it.
    @Test func `a definition that is observed anew after a migration counts for the client that registered it`() throws {
        try outgrow { server in
            let start = try server.get("app/schema").json["schemaVersion"]?.int ?? 0
            let migrated = try server.send(
                "POST", "app/migrations",
                "{\"fromVersion\":\(start),\"toVersion\":\(start + 1),\"allowDataLoss\":true,"
                    + #""steps":[{"removeProperty":{"class":"Dog","name":"ids"}}]}"#)
            #expect(migrated.status == 200, "\(migrated.text)")
        }
    }

    /// Fifty definitions were evaluated one after the other, each in a time of its own, though the first had not fitted.
    @Test func `a registration that does not fit is refused at the first definition that does not`() throws {
        let server = try WriteServer {
            $0.limits.importBytes = 8 << 20
            $0.limits.observedBytesPerPrincipal = 1 << 20
        }
        let made = try server.send("POST", "app/import?class=Dog", Self.dogs(0..<20_000), [Self.lines])
        #expect(made.json["created"]?.int == 20_000, "\(made.text)")
        let before = try ServerMetrics(port: server.port)["evaluations_total"] ?? 0
        let all = (0..<50).map {
            #"{"class":"Dog","where":"age != \#(-1 - $0)","sectionBy":"_id","sort":["_id"],"include":"none"}"#
        }
        let refused = try server.send("POST", "app/subscriptions", Self.registration(all))
        #expect(refused.status == 429 && refused.json["limitName"]?.text == "observed-bytes-per-principal", "\(refused.text)")
        #expect(try (ServerMetrics(port: server.port)["observed_definitions"] ?? 99) < 5)
        #expect(try (ServerMetrics(port: server.port)["evaluations_total"] ?? 99) - before < 5)
        try server.finish()
    }

    /// A section counted the same whatever its key was, so that a few long texts took any memory.
    @Test func `the keys of sections count`() throws {
        let server = try WriteServer { $0.limits.observedBytesPerPrincipal = 1 << 20 }
        for id in 0..<3 {
            let name = String(repeating: "x", count: 600_000) + "\(id)"
            #expect(try server.send("POST", "app/objects/Dog", "{\"_id\":\(id),\"age\":1,\"name\":\"\(name)\"}").status == 201)
        }
        let sections = Self.registration([#"{"class":"Dog","sectionBy":"name","sort":["name"],"include":"none"}"#])
        let refused = try server.send("POST", "app/subscriptions", sections)
        #expect(refused.status == 429 && refused.json["limitName"]?.text == "observed-bytes-per-principal", "\(refused.text)")
        #expect(try server.send("DELETE", "app/objects/Dog/0").status < 300)
        #expect(try server.send("DELETE", "app/objects/Dog/1").status < 300)
        // What is there counts, and no more.
        #expect(try eventually(seconds: 10) { try server.send("POST", "app/subscriptions", sections).status == 201 })
        try server.finish()
    }

    // MARK: - Any order of requests

    /// The clients and the rows of a server whose limits are small.
    private struct Trial {
        let process: ServerProcess
        let seed: UInt64
        var random: SeededGenerator
        var registrations: [(client: UInt8, id: String)] = []
        var nextKey = 0

        mutating func definition() -> String {
            let number = Int.random(in: 0..<40, using: &random)
            return switch Int.random(in: 0..<6, using: &random) {
            case 0: #"{"class":"Dog","where":"age > \#(number)","include":"none"}"#
            case 1: #"{"class":"Dog","where":"age != \#(-number)","sort":["name"],"include":"keys"}"#
            case 2: #"{"class":"Dog","sectionBy":"name","sort":["name"],"where":"age < \#(50 + number)","include":"none"}"#
            case 3: #"{"class":"Dog","sectionBy":"age","sort":["age"],"where":"age != \#(-number)","include":"none"}"#
            case 4: #"{"class":"Dog","where":"_id < \#(number)"}"#
            default: #"{"class":"Dog","keyPaths":["age"],"where":"name != '\#(number)'","include":"none"}"#
            }
        }

        func send(_ method: String, _ path: String, _ body: String? = nil, from client: UInt8 = 1, type: String? = nil) throws
            -> HTTPClient.Answer
        {
            try HTTPClient(port: process.port, source: client).request(
                method, "/v1/realms/m" + path, headers: body == nil ? [] : [("Content-Type", type ?? "application/json")],
                body: body.map { Array($0.utf8) })
        }

        /// Does something that clients do.
        mutating func step() throws {
            let client = UInt8.random(in: 2...4, using: &random)
            switch Int.random(in: 0..<10, using: &random) {
            case 0...3:
                let definitions = (0..<Int.random(in: 1...6, using: &random)).map { _ in definition() }
                let answer = try send("POST", "/subscriptions", ObservedMemoryTests.registration(definitions), from: client)
                check(answer)
                if let id = answer.json["id"]?.text { registrations.append((client, id)) }
            case 4 where !registrations.isEmpty:
                let (client, id) = registrations.remove(at: Int.random(in: 0..<registrations.count, using: &random))
                #expect(try send("DELETE", "/subscriptions/\(id)", from: client).status == 204, "seed \(seed)")
            case 5 where !registrations.isEmpty:
                guard let (client, id) = registrations.randomElement(using: &random) else { return }
                check(try send("GET", "/changes?subscription=\(id)", from: client))
            case 6:
                check(try send("GET", "/changes?class=Dog&include=none&where=age%20%3E%20\(nextKey % 97)", from: client))
            case 7...8:
                let count = Int.random(in: 1...6000, using: &random)
                let rows = ObservedMemoryTests.dogs(nextKey..<nextKey + count)
                nextKey += count
                let answer = try send("POST", "/import?class=Dog", rows, type: "application/x-ndjson")
                #expect(answer.json["created"]?.int == count, "seed \(seed): \(answer.text)")
            default:
                let key = Int.random(in: 0...nextKey, using: &random)
                let answer = try send("DELETE", "/objects/Dog?where=_id%20%3C%20\(key)")
                #expect(answer.status < 300, "seed \(seed): \(answer.text)")
            }
        }

        /// A client gets what it asked for, or the bound by its name.
        func check(_ answer: HTTPClient.Answer) {
            guard answer.status != 200 && answer.status != 201 else { return }
            let name = answer.json["limitName"]?.text ?? ""
            #expect(answer.status == 429 && name.hasPrefix("observed-bytes"), "seed \(seed): \(answer.text)")
        }
    }

    @Test(.enabled(if: ServerProcess.executable != nil), arguments: TestRun.seeds(quick: 2, long: 40))
    func `whatever clients observe and whatever rows come, the memory stays within the bound`(_ seed: UInt64) throws {
        let folder = NSTemporaryDirectory() + "realm-rest-observed-\(UUID().uuidString)"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let limit = 2 << 20
        let process = try ServerProcess([
            "--data", folder, "--limit", "observed-bytes=\(limit)", "--limit", "observed-bytes-per-principal=1MiB",
            "--limit", "retention-seconds=1", "--limit", "write-seconds=60", "--limit", "read-seconds=55",
            "--limit", "observation-seconds=55", "--limit", "registration-seconds=3600",
        ])
        var trial = Trial(process: process, seed: seed, random: SeededGenerator(seed: seed))
        let schema =
            #"{"name":"m","schema":{"classes":[{"name":"Dog","primaryKey":"_id","properties":[{"name":"_id","type":"int"},"#
            + #"{"name":"age","type":"int"},{"name":"name","type":"string"}]}]}}"#
        let made = try HTTPClient.request(
            port: process.port, "POST", "/v1/realms", headers: [WriteServer.json], body: Array(schema.utf8))
        try #require(made.status == 201, "\(made.text)")
        for number in 0..<60 {
            try trial.step()
            let fits = try eventually(seconds: 30) { try Int(ServerMetrics(port: process.port)["observed_bytes"] ?? 0) <= limit }
            #expect(fits, "seed \(seed), step \(number)")
        }
        for (client, id) in trial.registrations {
            _ = try trial.send("DELETE", "/subscriptions/\(id)", from: client)
        }
        // Nothing is left of definitions that nobody has.
        let isEmpty = try eventually(seconds: 30) { try ServerMetrics(port: process.port)["observed_bytes"] == 0 }
        let left = try ServerMetrics(port: process.port)["observed_bytes"] ?? -1
        #expect(isEmpty, "seed \(seed): \(left)")
        #expect(process.stop() == 0)
    }
}
