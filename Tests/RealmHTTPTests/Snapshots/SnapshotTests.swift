// SPDX-License-Identifier: Apache-2.0

import Foundation
import RealmAccess
import RealmFormats
import RealmHTTP
import RealmHosting
import RealmPlatform
import RealmServerSupport
import RealmStorage
import RealmTestSupport
import Testing

/// Versions that clients hold, over a socket. Features A15, A16, A17, A44, B34, C25, C26, E14.
@Suite(.ownThread) struct SnapshotTests {
    private func pin(_ server: WriteServer, _ body: String? = nil) throws -> String {
        let answer = try server.send("POST", "app/snapshots", body)
        #expect(answer.status == 201, "\(answer.text)")
        let id = answer.json["id"]?.text ?? ""
        #expect(answer["Location"] == "/v1/realms/app/snapshots/\(id)")
        return id
    }

    private func attach(_ server: WriteServer, _ document: String) throws -> HTTPClient.Answer {
        try HTTPClient.request(
            port: server.port, "POST", "/v1/realms", headers: [WriteServer.json], body: Array(document.utf8))
    }

    private func setAge(_ server: WriteServer, _ age: Int) throws {
        #expect(try server.send("PATCH", "app/objects/Dog/1", "{\"age\":\(age)}").status == 200)
    }

    private func metric(_ server: WriteServer, _ name: String) throws -> Double? { try ServerMetrics(port: server.port)[name] }

    /// The writer lets go of a version a moment after it has answered.
    private func becomes(_ value: Double, _ name: String, _ server: WriteServer) throws -> Bool {
        try eventually { try metric(server, name) == value }
    }

    /// Every kind of read, with the text that tells the old age of the dog from the new one.
    private static let reads: [(method: String, path: String, body: String?, old: String)] = [
        ("GET", "objects/Dog/1", nil, #""age":3"#),
        ("GET", "objects/Dog?where=_id==1", nil, #""age":3"#),
        ("GET", "objects/Dog?sectionBy=age", nil, #""age":3"#),
        ("GET", "objects/Dog?at=0", nil, #""age":3"#),
        ("GET", "objects/Dog/1/age", nil, #""value":3"#),
        ("GET", "objects/Person/ann/dogs", nil, #""age":3"#),
        ("GET", "objects/Person/ann/@links/Dog/owner", nil, #""age":3"#),
        ("GET", "aggregate/Dog?ops=max:age", nil, #""max:age":5"#),
        ("GET", "export", nil, #""age":3"#),
        ("QUERY", "objects/Dog", #"{"where":"_id == 1"}"#, #""age":3"#),
        ("POST", "query/Dog", #"{"where":"_id == 1"}"#, #""age":3"#),
        ("POST", "aggregate/Dog", #"{"ops":["max:age"]}"#, #""max:age":5"#),
    ]

    @Test(arguments: 0..<reads.count)
    func `A15, A16, A17, B34, C25, C26: every read of a snapshot is of its version, and plain ones of the newest`(_ index: Int)
        throws
    {
        let read = SnapshotTests.reads[index]
        try withWriteServer { server in
            let id = try pin(server)
            let version = try server.get("app/snapshots/\(id)").json["version"]?.text
            for _ in 0..<2 { _ = try server.send(read.method, "app/" + read.path, read.body) }
            try setAge(server, 77)
            let separator = read.path.contains("?") ? "&" : "?"
            // The second and third time an answer may come from memory.
            for _ in 0..<3 {
                let frozen = try server.send(read.method, "app/\(read.path)\(separator)snapshot=\(id)", read.body)
                #expect(frozen.status == 200, "\(frozen.text)")
                #expect(frozen.text.contains(read.old), "\(frozen.text)")
                #expect(frozen["Realm-Version"] == version)
                #expect(frozen["Realm-Live-Versions"] == "2")
                #expect(frozen["Cache-Control"]?.hasPrefix("private, max-age=") == true)
                if frozen.json["version"] != nil, !read.path.hasPrefix("export") {
                    #expect(frozen.json["snapshot"]?.text == id)
                    #expect(frozen.json["version"]?.text == version)
                }
                let live = try server.send(read.method, "app/" + read.path, read.body)
                #expect(!live.text.contains(read.old) && live.text.contains("77"), "\(live.text)")
                #expect(live["Realm-Version"] != version && live["Realm-Live-Versions"] == nil)
                #expect(live.json["snapshot"] == nil)
            }
            if read.body != nil {
                let inside = "{\"snapshot\":\"\(id)\"," + (read.body ?? "").dropFirst()
                #expect(try server.send(read.method, "app/" + read.path, inside).text.contains(read.old))
            }
        }
    }

    @Test func `E7, A16: the schema of a snapshot is the one it had`() throws {
        try withWriteServer { server in
            let id = try pin(server)
            let migration =
                #"{"fromVersion":0,"toVersion":1,"steps":[{"addProperty":{"class":"Dog","property":{"name":"extra","type":"int"}}}]}"#
            let answer = try server.send("POST", "app/migrations", migration)
            #expect(answer.status == 200, "\(answer.text)")
            #expect(try server.get("app/schema/Dog").text.contains("extra"))
            #expect(try !server.get("app/schema/Dog?snapshot=\(id)").text.contains("extra"))
            #expect(try !server.get("app/objects/Dog/1?snapshot=\(id)").text.contains("extra"))
        }
    }

    @Test func `A16: behind counts the commits made since, and the list shows what is held`() throws {
        try withWriteServer { server in
            let first = try pin(server, #"{"ttl":"2m"}"#)
            try setAge(server, 10)
            try setAge(server, 11)
            let second = try pin(server)
            let document = try server.get("app/snapshots/\(first)")
            #expect(document.json["behind"]?.int == 2)
            #expect(document["Realm-Live-Versions"].flatMap { Int($0) } ?? 0 >= 2)
            #expect(document["Cache-Control"] == "no-store")
            #expect(try server.get("app/snapshots/\(second)").json["behind"]?.int == 0)
            let list = try server.get("app/snapshots")
            let items = list.json["items"]?.elements ?? []
            #expect(items.map { $0["id"]?.text } == [first, second])
            #expect(list.json["next"] == .null)
            #expect(try metric(server, "snapshots") == 2)
            let leases = try HTTPClient.request(port: server.port, "GET", "/admin/leases").json["items"]?.elements ?? []
            #expect(leases.map { $0["kind"]?.text } == ["snapshot", "snapshot"])
            #expect(try HTTPClient.request(port: server.port, "DELETE", "/admin/leases/\(first)").status == 204)
            #expect(try server.get("app/objects/Dog/1?snapshot=\(first)").code == "snapshot_expired")
        }
    }

    @Test func `A44: what is let go of is over, and its version with it`() throws {
        try withWriteServer { server in
            let id = try pin(server)
            try setAge(server, 20)
            #expect(try becomes(2, "live_versions", server))
            let freed = try server.send("DELETE", "app/snapshots/\(id)")
            #expect(freed.status == 204)
            #expect(freed["Realm-Live-Versions"] != nil)
            #expect(try becomes(1, "live_versions", server))
            for path in ["objects/Dog/1?snapshot=\(id)", "objects/Dog?snapshot=\(id)", "snapshots/\(id)"] {
                let answer = try server.get("app/" + path)
                #expect(answer.status == 410 && answer.code == "snapshot_expired", "\(path)")
            }
            #expect(try server.send("PATCH", "app/snapshots/\(id)", #"{"ttl":"60s"}"#).code == "snapshot_expired")
            #expect(try server.send("DELETE", "app/snapshots/\(id)").code == "not_found")
            #expect(try server.get("app/objects/Dog/1?snapshot=nosuch").code == "not_found")
            #expect(try server.get("app/snapshots/nosuch").code == "not_found")
        }
    }

    @Test func `A44: a lease ends by itself, lasts longer when used, and can be renewed`() throws {
        try withWriteServer { server in
            let short = try pin(server, #"{"ttl":"1s"}"#)
            let renewed = try pin(server, #"{"ttl":"1s"}"#)
            let patched = try server.send("PATCH", "app/snapshots/\(renewed)", #"{"ttl":"5m"}"#)
            #expect(patched.status == 200 && patched.json["id"]?.text == renewed)
            #expect(try eventually { try server.get("app/snapshots/\(short)").status != 200 })
            #expect(try server.get("app/snapshots/\(short)").code == "snapshot_expired")
            #expect(try server.get("app/objects/Dog/1?snapshot=\(short)").code == "snapshot_expired")
            #expect(try server.get("app/objects/Dog/1?snapshot=\(renewed)").status == 200)
            // Nobody asks for it, and its version goes all the same.
            let lonely = try pin(server, #"{"ttl":"1s"}"#)
            try setAge(server, 30)
            #expect(try becomes(1, "snapshots", server))
            #expect(try server.get("app/snapshots/\(lonely)").code == "snapshot_expired")
        }
    }

    @Test func `A16: a use moves the end of a lease`() throws {
        try withWriteServer { server in
            let id = try pin(server, #"{"ttl":"4s"}"#)
            func end() throws -> String { try server.get("app/snapshots/\(id)").json["expiresAt"]?.text ?? "" }
            let first = try end()
            #expect(try end() == first || first < "3")
            Threads.sleep(seconds: 2.2)
            let answer = try server.get("app/objects/Dog/1?snapshot=\(id)")
            // On a machine that stalled for seconds it is over already.
            if answer.status == 200 { #expect(try end() > first) }
        }
    }

    @Test func `limits are per realm and per client`() throws {
        try withWriteServer(change: { options in
            options.limits.snapshotsPerPrincipal = 3
        }) { server in
            for _ in 0..<3 { _ = try pin(server) }
            let refused = try server.send("POST", "app/snapshots")
            #expect(refused.status == 429 && refused.code == "too_many_snapshots")
            #expect(refused.json["limit"]?.int == 3)
            #expect(refused["Retry-After"] != nil)
        }
        try withWriteServer(change: { options in
            options.limits.snapshots = 2
        }) { server in
            let first = try pin(server)
            _ = try pin(server)
            #expect(try server.send("POST", "app/snapshots").code == "too_many_snapshots")
            _ = try server.send("DELETE", "app/snapshots/\(first)")
            _ = try pin(server)
        }
    }

    @Test func `E14: the oldest snapshots are dropped when too many versions live`() throws {
        try withWriteServer(change: { options in options.limits.liveVersions = 3 }) { server in
            var ids: [String] = []
            for age in 0..<6 {
                ids.append(try pin(server))
                try setAge(server, age)
            }
            let states = try ids.map { try server.get("app/objects/Dog/1?snapshot=\($0)").status }
            #expect(states == [410, 410, 410, 410, 200, 200])
            #expect(try becomes(3, "live_versions", server))
            #expect(try metric(server, "snapshots_dropped_total") == 4)
        }
    }

    @Test func `E14: maxActiveVersions 0 sets no limit, and 1 is refused`() throws {
        try withWriteServer { server in
            let schema = #""schema":{"schemaVersion":1,"classes":[{"name":"N","properties":[{"name":"n","type":"int"}]}]}"#
            let refused = try server.attach(#"{"name":"one","maxActiveVersions":1,\#(schema)}"#)
            #expect(refused.code == "invalid_body" && refused.json["pointer"]?.text == "/maxActiveVersions", "\(refused.text)")
            #expect(try server.attach(#"{"name":"free","maxActiveVersions":0,\#(schema)}"#).status == 201)
            for _ in 0..<5 {
                #expect(try server.send("POST", "free/snapshots", "{}").status == 201)
                #expect(try server.send("POST", "free/objects/N", #"{"n":1}"#).status == 201)
            }
        }
    }

    @Test func `E14: maxActiveVersions refuses writes while too many versions are held`() throws {
        try withWriteServer { server in
            let document =
                #"{"name":"narrow","maxActiveVersions":2,"schema":{"schemaVersion":1,"classes":[{"name":"N","properties":[{"name":"n","type":"int"}]}]}}"#
            let made = try attach(server, document)
            guard made.status == 201 else {
                Issue.record("\(made.text)")
                return
            }
            var ids: [String] = []
            var refused: HTTPClient.Answer?
            for n in 0..<4 where refused == nil {
                let pinned = try server.send("POST", "narrow/snapshots")
                ids.append(pinned.json["id"]?.text ?? "")
                let answer = try server.send("POST", "narrow/objects/N", "{\"n\":\(n)}")
                if answer.status != 201 { refused = answer }
            }
            #expect(refused?.status == 503 && refused?.code == "too_many_active_versions")
            #expect(refused?.json["counts"]?.intsByName?["liveVersions"] == 3, "\(refused?.text ?? "")")
            for id in ids { _ = try server.send("DELETE", "narrow/snapshots/\(id)") }
            #expect(try server.send("POST", "narrow/objects/N", #"{"n":9}"#).status == 201)
        }
    }

    @Test(arguments: [
        ("POST", "objects/Dog", "{}"), ("PATCH", "objects/Dog/1", "{}"), ("DELETE", "objects/Dog/1", nil),
        ("PUT", "objects/Dog/1/age", "1"), ("POST", "batch", #"{"ops":[]}"#),
    ])
    func `A16: a snapshot is neither written to nor read inside a transaction`(_ method: String, _ path: String, _ body: String?)
        throws
    {
        try withWriteServer { server in
            let id = try pin(server)
            let answer = try server.send(method, "app/\(path)?snapshot=\(id)", body)
            #expect(answer.status == 400 && answer.code == "conflicting_parameters", "\(answer.text)")
            #expect(answer.json["parameter"]?.text == "snapshot")
            let transaction = try server.send("POST", "app/transactions").json["id"]?.text ?? ""
            let read = try server.get("app/objects/Dog/1?snapshot=\(id)", [("Realm-Transaction", transaction)])
            #expect(read.code == "conflicting_parameters")
            #expect(try server.send("DELETE", "app/transactions/\(transaction)").status == 204)
        }
    }

    @Test(arguments: [
        (#"{"ttl":"11m"}"#, 400, "invalid_parameter"), (#"{"ttl":"0s"}"#, 400, "invalid_parameter"),
        (#"{"ttl":5}"#, 400, "invalid_parameter"),
        (#"{"life":"5s"}"#, 400, "invalid_body"), ("[]", 400, "invalid_body"), ("{", 400, "invalid_json"),
    ])
    func `what is wrong with a request for a snapshot is told`(_ body: String, _ status: Int, _ code: String) throws {
        try withWriteServer { server in
            let answer = try server.send("POST", "app/snapshots", body)
            #expect(answer.status == status && answer.code == code, "\(answer.text)")
            let id = try pin(server, "{}")
            #expect(try server.send("PATCH", "app/snapshots/\(id)", body).code == code)
            #expect(try server.send("PATCH", "app/snapshots/\(id)", "{}").code == "invalid_body")
            #expect(try server.send("PUT", "app/snapshots/\(id)", "{}").status == 405)
            #expect(try server.send("POST", "app/snapshots?x=1").code == "unknown_parameter")
        }
    }

    @Test func `B34: a file that is only read can be pinned too, and detaching ends what was pinned`() throws {
        try withWriteServer { server in
            let id = try pin(server)
            #expect(try server.send("DELETE", "app").status == 204)
            #expect(try server.get("app/objects/Dog/1?snapshot=\(id)").code == "realm_not_found")
            #expect(try metric(server, "snapshots") == 0)
            #expect(
                try attach(server, "{\"name\":\"app\",\"path\":\"\(server.folder)/app.realm\",\"mode\":\"ro\"}").status == 201)
            #expect(try server.get("app/objects/Dog/1?snapshot=\(id)").status >= 404)
            let again = try pin(server)
            #expect(try server.get("app/objects/Dog/1?snapshot=\(again)").status == 200)
        }
    }
}
