// SPDX-License-Identifier: Apache-2.0

import Foundation
import RealmEngine
import RealmFormats
import RealmHTTP
@testable import RealmHosting
import RealmPlatform
import RealmStorage
import RealmTestSupport
import Synchronization
import Testing

/// Realms of the data folder are opened by the first request, and closed when nobody uses them.
@Suite struct ManyRealmsTests {
    private static let counters = [
        ClassInput("Counter", primaryKey: "_id", [PropertyInput("_id", "int"), PropertyInput("n", "int")])
    ]

    /// Makes a server over copies of one file.
    private func withRealms(
        _ names: [String], change: @escaping (inout ServerOptions) -> Void = { _ in }, _ body: (WriteServer) throws -> Void
    ) throws {
        let server = try WriteServer(ManyRealmsTests.counters, opens: false) { options in
            let folder = options.dataFolder ?? ""
            do {
                let database = try EngineRealm(path: folder + "/seed", ManyRealmsTests.counters)
                try database.write { _ = try $0.create("Counter", ["_id": .integer(1), "n": .integer(0)]) }
                try database.finish()
                for name in names {
                    try FileManager.default.copyItem(atPath: folder + "/seed", toPath: folder + "/\(name).realm")
                }
                try FileManager.default.removeItem(atPath: folder + "/seed")
                try FileManager.default.removeItem(atPath: folder + "/app.realm")
            } catch {
                Issue.record(error)
            }
            options.idleSeconds = 1
            change(&options)
        }
        do { try body(server) } catch {
            server.server.stop()
            throw error
        }
        try server.finish()
    }

    /// The state of a realm as its document tells it.
    private func state(_ server: WriteServer, _ name: String) throws -> String? { try server.get(name).json["state"]?.text }

    /// A page of the list of realms.
    private func list(_ server: WriteServer, _ query: String = "") throws -> HTTPClient.Answer {
        try HTTPClient.request(port: server.port, "GET", "/v1/realms" + query)
    }

    /// Adds one to the counter of a realm.
    private func increment(_ server: WriteServer, _ name: String) throws -> HTTPClient.Answer {
        try server.send("POST", name + "/batch", #"{"ops":[{"increment":{"class":"Counter","key":"1","property":"n","by":1}}]}"#)
    }

    @Test func `E28: realms of the data folder are opened by the first request and closed when nobody uses them`() throws {
        try withRealms(["a", "b"]) { server throws in
            #expect(try state(server, "a") == "closed")
            let list = try self.list(server).json["items"]?.elements ?? []
            #expect(list.map { $0["name"]?.text } == ["a", "b"] && list.allSatisfy { $0["state"]?.text == "closed" })
            #expect(list.allSatisfy { ($0["fileBytes"]?.int ?? 0) > 0 })
            #expect(try HTTPClient.request(port: server.port, "GET", "/readyz").status == 200)
            // Describing a realm does not open it; reading does.
            #expect(try state(server, "a") == "closed")
            let before = try server.get("a/objects/Counter/1")
            #expect(before.status == 200 && before.json["n"]?.int == 0)
            #expect(try state(server, "a") == "ready" && state(server, "b") == "closed")
            let written = try increment(server, "a")
            #expect(written.status == 200)
            let later = try server.send(
                "PATCH", "a/objects/Counter/1", #"{"n":5}"#,
                [("Prefer", "respond-async"), ("Content-Type", "application/merge-patch+json")])
            #expect(later.status == 202)
            #expect(try eventually { try state(server, "a") == "closed" })
            // Nobody holds the file any more, soon after it is said to be closed.
            #expect(eventually { OwnershipLock.holders(ofFile: server.folder + "/a.realm") == 0 })
            let lock = try OwnershipLock(ofFile: server.folder + "/a.realm")
            lock.release()
            // Nothing was written meanwhile, so all that clients know is still true.
            let after = try server.get("a/objects/Counter/1")
            #expect(after.json["n"]?.int == 5)
            #expect(try Self.epoch(after) == Self.epoch(written) && Self.epoch(before) == Self.epoch(written))
            let outcome = try HTTPClient.request(port: server.port, "GET", later["Location"] ?? "")
            #expect(outcome.status == 200 && outcome.json["state"]?.text == "committed", "\(outcome.text)")
            #expect(try eventually { try state(server, "a") == "closed" })
            #expect(eventually { OwnershipLock.holders(ofFile: server.folder + "/a.realm") == 0 })
            let other = try EngineRealm(path: server.folder + "/a.realm")
            try other.write { _ = try $0.increment("Counter", .text("1"), PropertyAddress("n"), by: .integer(1)) }
            try other.finish()
            let changed = try server.get("a/objects/Counter/1")
            #expect(changed.json["n"]?.int == 6)
            #expect(try Self.epoch(changed) != Self.epoch(after))
        }
    }

    /// The part of the version before the number.
    private static func epoch(_ answer: HTTPClient.Answer) throws -> Substring {
        try #require(answer["Realm-Version"]).prefix { $0 != "." }
    }

    @Test func `E28: a realm with a stream, a lease or a transaction stays open`() throws {
        try withRealms(["stream", "lease", "transaction", "unused"]) { server throws in
            _ = try server.get("unused/objects/Counter/1")
            let stream = try EventClient(port: server.port, "/v1/realms/stream/changes?class=Counter")
            let lease = try server.send("POST", "lease/snapshots", "{}")
            #expect(lease.status == 201)
            let begun = try server.send("POST", "transaction/transactions", "{}")
            #expect(begun.status == 201, "\(begun.text)")
            #expect(try eventually { try state(server, "unused") == "closed" })
            for name in ["stream", "lease", "transaction"] { #expect(try state(server, name) == "ready", "\(name)") }
            #expect(try increment(server, "stream").status == 200)
            for event in ["snapshot", "ready", "changes"] { _ = try stream.next(event) }
            #expect(try server.send("DELETE", "lease/snapshots/" + (lease.json["id"]?.text ?? "")).status == 204)
            #expect(try eventually { try state(server, "lease") == "closed" })
            #expect(try eventually { try state(server, "transaction") == "closed" })
        }
    }

    @Test func `E28: the realm that was unused for longest is closed for another; when all are busy that is told`() throws {
        try withRealms(
            ["a", "b", "c"],
            change: {
                $0.openLimit = 2; $0.idleSeconds = 0
            }
        ) { server throws in
            for name in ["a", "b", "a", "c"] {
                #expect(try server.get(name + "/objects/Counter/1").status == 200)
                // The connection of the request is still being closed.
                Threads.sleep(seconds: 0.1)
            }
            #expect(try state(server, "a") == "ready" && state(server, "b") == "closed" && state(server, "c") == "ready")
            for name in ["a", "c"] { #expect(try server.send("POST", name + "/snapshots", "{}").status == 201) }
            let refused = try server.get("b/objects/Counter/1")
            #expect(refused.status == 503 && refused.code == "overloaded" && refused["Retry-After"] != nil)
        }
    }

    @Test func `E28: attaching closes the realm that was unused for longest too, and is refused when all are busy`() throws {
        try withRealms(
            ["a", "b", "c", "d"],
            change: {
                $0.openLimit = 2; $0.idleSeconds = 0
            }
        ) { server throws in
            for name in ["a", "b"] {
                #expect(try server.get(name + "/objects/Counter/1").status == 200)
                Threads.sleep(seconds: 0.1)
            }
            let schema = #"{"classes":[{"name":"Item","properties":[{"name":"n","type":"int"}]}]}"#
            #expect(try server.attach(#"{"name":"new","schema":\#(schema)}"#).status == 201)
            #expect(try state(server, "a") == "closed" && state(server, "b") == "ready" && state(server, "new") == "ready")
            for name in ["b", "new"] { #expect(try server.send("POST", name + "/snapshots", "{}").status == 201) }
            for query in ["", "?dryRun=true"] {
                let refused = try server.attach(#"{"name":"more","schema":\#(schema)}"#, query)
                #expect(refused.status == 503 && refused.code == "overloaded" && refused["Retry-After"] != nil, "\(refused.text)")
            }
            #expect(!FileManager.default.fileExists(atPath: server.folder + "/more.realm"))
            #expect(server.server.state.catalog.openNames.count == 2)
        }
    }

    @Test func `E28: clients that have left keep no realm open, and may come back`() throws {
        try withRealms(["a", "b", "c"], change: { $0.openLimit = 2 }) { server throws in
            let polled = try server.get("a/changes?class=Counter&since=now")
            #expect(polled.status == 200, "\(polled.text)")
            let position = try #require(polled.json["next"]?.text)
            do {
                let stream = try EventClient(port: server.port, "/v1/realms/b/changes?class=Counter")
                for event in ["snapshot", "ready"] { _ = try stream.next(event) }
            }
            #expect(try eventually { try state(server, "a") == "closed" && state(server, "b") == "closed" })
            // The change sets that were kept are gone, and nothing was written: the position is still good, or told to be lost.
            #expect(try increment(server, "a").status == 200)
            let back = try server.get("a/changes?class=Counter&since=" + position)
            #expect(back.status == 200, "\(back.text)")
            let isTold = back.text.contains("reset") || back.text.contains("modifications")
            #expect(isTold, "\(back.text)")
            // Nor do they keep others from being opened.
            _ = try server.get("b/changes?class=Counter&since=now")
            #expect(try eventually { try server.get("c/objects/Counter/1").status == 200 })
        }
    }

    @Test func `E28: writes to more realms than may be open are all kept`() throws {
        let names = (0..<24).map { "r\($0)" }
        try withRealms(names, change: { $0.openLimit = 5 }) { server throws in
            let failures = Mutex<[String]>([])
            DispatchQueue.concurrentPerform(iterations: 6) { client in
                var generator = SeededGenerator(seed: UInt64(client) + 280)
                for _ in 0..<40 {
                    let name = names[Int.random(in: 0..<names.count, using: &generator)]
                    while true {
                        guard let answer = try? increment(server, name) else { return failures.withLock { $0.append(name) } }
                        // Six clients may use six realms at a time.
                        if answer.code == "overloaded" { continue }
                        if answer.status != 200 { failures.withLock { $0.append(answer.text) } }
                        break
                    }
                }
            }
            #expect(failures.withLock { $0 } == [])
            let sum = try names.reduce(0) { sum, name throws in
                sum + (try server.get(name + "/objects/Counter/1").json["n"]?.int ?? -1000)
            }
            #expect(sum == 240)
            #expect(server.server.state.catalog.openNames.count <= 5)
        }
    }

    @Test func `E28: the list of realms has pages, and shows files that come and go`() throws {
        let names = (10..<40).map { "r\($0)" }
        try withRealms(names) { server throws in
            _ = try server.get("r15/objects/Counter/1")
            var seen: [String] = []
            var query = "?limit=7"
            while true {
                let page = try list(server, query)
                #expect(page.status == 200, "\(page.text)")
                seen += (page.json["items"]?.elements ?? []).compactMap { $0["name"]?.text }
                guard let next = page.json["next"]?.text else { break }
                #expect(page["Link"]?.contains(next) == true)
                query = "?limit=7&after=" + next
            }
            #expect(seen == names)
            #expect(try list(server, "?after=b64.zz").code == "cursor_invalid")
            #expect(try list(server, "?limit=-1").code == "invalid_parameter")
            try FileManager.default.copyItem(atPath: server.folder + "/r39.realm", toPath: server.folder + "/r40.realm")
            #expect(try eventually { try server.get("r40/objects/Counter/1").status == 200 })
            try FileManager.default.removeItem(atPath: server.folder + "/r39.realm")
            #expect(try eventually { try server.get("r39").status == 404 })
            #expect(try server.get("r39/objects/Counter/1").code == "realm_not_found")
        }
    }

    @Test func `E28: a closed realm is detached and deleted like an open one`() throws {
        try withRealms(["a", "b", "c"]) { server throws in
            #expect(try server.send("DELETE", "a").status == 204)
            #expect(try server.get("a").status == 404 && server.get("a/objects/Counter/1").status == 404)
            #expect(FileManager.default.fileExists(atPath: server.folder + "/a.realm"))
            let again = try server.attach(#"{"name":"a","path":"\#(server.folder)/a.realm"}"#)
            #expect(again.status == 201, "\(again.text)")
            #expect(try server.attach(#"{"name":"other","path":"\#(server.folder)/b.realm"}"#).code == "already_attached")
            #expect(try server.attach(#"{"name":"b","path":"\#(server.folder)/c.realm"}"#).code == "already_attached")
            #expect(try server.send("DELETE", "b?files=true").status == 204)
            #expect(!FileManager.default.fileExists(atPath: server.folder + "/b.realm"))
            #expect(try server.get("b").status == 404)
            // Another program holds the file.
            let lock = try OwnershipLock(ofFile: server.folder + "/c.realm")
            #expect(try server.send("DELETE", "c?files=true").code == "file_in_use")
            #expect(FileManager.default.fileExists(atPath: server.folder + "/c.realm"))
            lock.release()
        }
    }

    @Test func `E28: a new realm that is detached before the folder is read again stays out of the list`() throws {
        try withRealms(["a"]) { server throws in
            for round in 0..<20 {
                #expect(try server.attach(#"{"name":"new\#(round)","schema":{"classes":[]}}"#).status == 201)
                #expect(try server.send("DELETE", "new\(round)").status == 204)
            }
            try FileManager.default.copyItem(atPath: server.folder + "/a.realm", toPath: server.folder + "/b.realm")
            #expect(try eventually { try server.get("b").status == 200 })
            let names = try list(server).json["items"]?.elements?.compactMap { $0["name"]?.text }
            #expect(names == ["a", "b"])
            #expect(try server.attach(#"{"name":"new0","path":"\#(server.folder)/new0.realm"}"#).status == 201)
        }
    }

    @Test func `E28: files may be distributed to folders`() throws {
        try withRealms([], change: { $0.layout = .sharded }) { server throws in
            let made = try server.attach(#"{"name":"user","schema":{"classes":[]}}"#)
            #expect(made.status == 201, "\(made.text)")
            // The first two digits of the SHA-256 of the name.
            #expect(FileManager.default.fileExists(atPath: server.folder + "/04/user.realm"))
            try FileManager.default.createDirectory(atPath: server.folder + "/old", withIntermediateDirectories: false)
            let source = try #require(made.json["path"]?.text)
            #expect(try server.send("DELETE", "user").status == 204)
            try FileManager.default.copyItem(atPath: source, toPath: server.folder + "/old/elsewhere.realm")
            #expect(try eventually { try server.get("elsewhere/schema").status == 200 })
        }
    }
}
