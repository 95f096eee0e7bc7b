// SPDX-License-Identifier: Apache-2.0

import Foundation
import Glibc
import RealmAccess
import RealmFormats
import RealmHTTP
import RealmHosting
import RealmTestSupport
import Synchronization
import Testing

/// One commit takes the memory of `write-bytes`, however its changes come: beyond it nothing is written, and the limit is named.
@Suite struct CommitBoundTests {
    private static let lines = ("Content-Type", "application/x-ndjson")

    /// A server with a small bound, and what is known of its realm.
    private struct Trial {
        let server: WriteServer
        let limit: Int
        let seed: UInt64
        var random: SeededGenerator
        var count = 0
        var nextKey = 0

        /// Sends a write, and expects that all of it or nothing is there, and why.
        mutating func send(_ method: String, _ path: String, _ body: String, _ type: String, adds: Int = 0) throws {
            let bytes = try server.bytes()
            let answer = try server.send(method, "app/" + path, body, [("Content-Type", type)])
            try check(answer, bytes, adds, "\(method) \(path)")
        }

        mutating func check(_ answer: HTTPClient.Answer, _ bytes: Data, _ adds: Int, _ place: String) throws {
            let place = "seed \(seed), \(place), \(adds) objects, \(limit) bytes: \(answer.text.prefix(300))"
            if answer.status < 300 {
                count += adds
            } else {
                let isNamed = answer.json["limitName"]?.text == "write-bytes" && answer.json["limit"]?.int == limit
                #expect([409, 413].contains(answer.status) && isNamed, "\(place)")
                #expect(try server.bytes() == bytes, "\(place)")
            }
            let found = try server.get("app/objects/Dog?count=exact&limit=0").json["count"]?.int
            #expect(found == count, "\(place): \(found ?? -1) instead of \(count)")
        }

        /// Keys for up to `most` objects for each MiB of the bound.
        private mutating func keys(_ most: Int) -> Range<Int> {
            let start = nextKey
            nextKey += Int.random(in: 1...max(1, most * limit / (1 << 20)), using: &random)
            return start..<nextKey
        }

        /// A write of any kind and size.
        mutating func step() throws {
            let text = String(repeating: "x", count: Int.random(in: 0...60, using: &random))
            switch Int.random(in: 0..<7, using: &random) {
            case 0:
                let keys = keys(6000)
                let body = "_id,age\n" + keys.map { "\($0),1" }.joined(separator: "\n")
                try send("POST", "import?class=Dog", body, "text/csv", adds: keys.count)
            case 1:
                let keys = keys(3000)
                let body = keys.map { #"{"_id":\#($0),"age":1,"name":"\#(text)","tags":["a","\#(text)"]}"# }.joined(
                    separator: "\n")
                try send("POST", "import?class=Dog&mode=upsert", body, "application/x-ndjson", adds: keys.count)
            case 2:
                // Links to objects of later lines are remembered until the end.
                let keys = keys(2000)
                let owner = { (key: Int) in #"{"$link":{"class":"Person","key":"p\#(key)"}}"# }
                let dogs = keys.map { #"{"$meta":{"class":"Dog"},"_id":\#($0),"age":1,"owner":\#(owner($0))}"# }
                let owners = keys.map { #"{"$meta":{"class":"Person"},"id":"p\#($0)"}"# }
                try send(
                    "POST", "import?mode=upsert", (dogs + owners).joined(separator: "\n"), "application/x-ndjson",
                    adds: keys.count)
            case 3:
                let keys = keys(1500)
                let operations = keys.map { #"{"create":{"class":"Dog","body":{"_id":\#($0),"age":2,"name":"\#(text)"}}}"# }
                try send(
                    "POST", "batch", #"{"ops":[\#(operations.joined(separator: ","))]}"#, "application/json",
                    adds: keys.count)
            case 4:
                let long = String(repeating: "y", count: Int.random(in: 0...4000, using: &random))
                try send("PATCH", "objects/Dog?where=TRUEPREDICATE", #"{"name":"\#(long)"}"#, "application/merge-patch+json")
            case 5:
                let keys = keys(2500)
                let objects = keys.map { #"{"_id":\#($0),"age":3,"marks":{"k":\#($0)}}"# }
                try send(
                    "POST", "objects/Dog", "[\(objects.joined(separator: ","))]", "application/json", adds: keys.count)
            default: try transaction()
            }
        }

        /// Requests of one transaction count together; one that is too much ends it.
        private mutating func transaction() throws {
            let bytes = try server.bytes()
            let id = try server.send("POST", "app/transactions", "{}").json["id"]?.text ?? ""
            var adds = 0
            for _ in 0..<Int.random(in: 1...6, using: &random) {
                let keys = keys(1500)
                let objects = keys.map { #"{"_id":\#($0),"age":4}"# }
                let answer = try server.send(
                    "POST", "app/objects/Dog", "[\(objects.joined(separator: ","))]",
                    [WriteServer.json, ("Realm-Transaction", id), ("Prefer", "return=minimal")])
                guard answer.status < 300 else { return try check(answer, bytes, 0, "transaction after \(adds)") }
                adds += keys.count
            }
            try check(try server.send("POST", "app/transactions/\(id)/commit", nil), bytes, adds, "commit")
        }
    }

    @Test(arguments: TestRun.seeds(quick: 2, long: 40))
    func `a commit of any kind is whole, or is refused by its bound and changes nothing`(_ seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        let limit = Int.random(in: (1 << 20)...(3 << 20), using: &random) / (TestRun.isLong ? 1 : 4)
        let server = try WriteServer {
            $0.limits.writeBytes = limit
            $0.limits.importBytes = 32 << 20
            $0.limits.writeSeconds = 60
        }
        var trial = Trial(server: server, limit: limit, seed: seed, random: random)
        for _ in 0..<24 { try trial.step() }
        #expect(trial.count > 0 && trial.count < trial.nextKey, "seed \(seed): both outcomes occur")
        try server.finish()
    }

    /// The memory of a process itself, without pages of mapped files.
    private static func ownMemory(of process: pid_t) -> Int {
        let text = (try? String(contentsOfFile: "/proc/\(process)/status", encoding: .utf8)) ?? ""
        let line = text.split(separator: "\n").first { $0.hasPrefix("RssAnon:") } ?? ""
        return (Int(line.filter(\.isNumber)) ?? 0) << 10
    }

    /// Records of 7 bytes took 140 to 215 bytes each, so this import took 53 MiB more, at least.
    @Test(
        .enabled(if: ServerProcess.executable != nil),
        arguments: [("_id,age,tags", ",1,[]"), ("_id,age", ",1"), ("_id,age,owner", ",1,p")].prefix(TestRun.isLong ? 3 : 1))
    func `an import in one commit takes about what its bound says`(_ head: String, _ rest: String) throws {
        let folder = NSTemporaryDirectory() + "realm-rest-bound-\(UUID().uuidString)"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let process = try ServerProcess(["--data", folder, "--limit", "write-bytes=2MiB", "--limit", "import-seconds=300"])
        let schema =
            #"{"name":"m","schema":{"classes":[{"name":"Dog","primaryKey":"_id","properties":[{"name":"_id","type":"int"},"#
            + #"{"name":"age","type":"int"},{"name":"tags","type":"string","collection":"list"},"#
            + #"{"name":"owner","type":"object","objectType":"Person"}]},{"name":"Person","primaryKey":"id","#
            + #""properties":[{"name":"id","type":"string"}]}]}}"#
        let made = try HTTPClient.request(
            port: process.port, "POST", "/v1/realms", headers: [WriteServer.json], body: Array(schema.utf8))
        try #require(made.status == 201, "\(made.text)")
        let isLink = rest.hasSuffix("p")
        let body = ([head] + (0..<400_000).map { "\($0)\(rest)\(isLink ? "\($0)" : "")" }).joined(separator: "\n")
        let id = process.process.processIdentifier
        let before = Self.ownMemory(of: id)
        let most = Mutex(0)
        let ends = Mutex(false)
        let watch = StoppingThread {
            while !ends.withLock({ $0 }) {
                let now = Self.ownMemory(of: id)
                most.withLock { $0 = max($0, now) }
                usleep(20_000)
            }
        }
        let answer = try HTTPClient(port: process.port).request(
            "POST", "/v1/realms/m/import?class=Dog", headers: [("Content-Type", "text/csv")], body: Array(body.utf8))
        ends.withLock { $0 = true }
        watch.wait()
        #expect(answer.status == 413 || isLink && answer.status == 422, "\(answer.text)")
        let taken = most.withLock { $0 } - before
        #expect(taken < 56 << 20, "\(taken >> 20) MiB; \(answer.text)")
        #expect(process.stop() == 0)
    }
}
