// SPDX-License-Identifier: Apache-2.0

import Foundation
import RealmAccess
import RealmEngine
import RealmFormats
import RealmHTTP
import RealmHosting
import RealmPlatform
import RealmServerSupport
import RealmStorage
import RealmTestSupport
import Synchronization
import Testing

/// Rows that a second reading of the interface has added.
@Suite(.ownThread) struct FurtherRowTests {
    private static let schema = #"{"classes":[{"name":"A","primaryKey":"n","properties":[{"name":"n","type":"int"}]}]}"#

    private func begin(_ server: WriteServer) throws -> (id: String, header: [(String, String)]) {
        let id = try server.done("POST", "app/transactions", "{}").json["id"]?.text ?? ""
        return (id, [("Realm-Transaction", id)])
    }

    // MARK: - Opening and deleting

    /// A deletion cancelled the opening that was in progress, which was told as 404.
    @Test func `G1: a realm that is created while it is deleted is made, or the client is told to try again`() throws {
        let server = try WriteServer()
        let seen = Mutex<Set<String>>([])
        DispatchQueue.concurrentPerform(iterations: 2) { client in
            for _ in 0..<200 {
                guard client == 0 else {
                    _ = try? server.send("DELETE", "race?files=true")
                    continue
                }
                guard let answer = try? server.attach(#"{"name":"race","schema":\#(Self.schema)}"#) else { continue }
                let isLater = answer["Retry-After"] != nil
                seen.withLock { _ = $0.insert("\(answer.status) \(answer.code ?? "")\(isLater ? " later" : "")") }
            }
        }
        let outcomes = seen.withLock { $0 }
        let expected: Set = [
            "201 ", "409 already_attached", "409 already_attached later", "409 file_in_use later", "409 file_exists",
        ]
        #expect(outcomes.isSubset(of: expected) && outcomes.contains("201 "), "\(outcomes)")
        #expect(try eventually { try server.send("DELETE", "race?files=true").status == 404 })
        let left = try FileManager.default.contentsOfDirectory(atPath: server.folder).filter { $0.hasPrefix("race") }
        #expect(Set(left).isSubset(of: ["race.realm.lock"]), "\(left)")
        #expect(try server.attach(#"{"name":"race","schema":\#(Self.schema)}"#).status == 201)
        try server.finish()
    }

    @Test func `G9: a path with a schema makes a file that is not there, and without one says what would make it`() throws {
        let server = try WriteServer { $0.attachRoots = [NSTemporaryDirectory()] }
        let elsewhere = NSTemporaryDirectory() + "realm-rest-made-\(UUID().uuidString)"
        try FileManager.default.createDirectory(atPath: elsewhere, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: elsewhere) }
        for (path, name) in [
            (elsewhere + "/GordonCole.realm", "GordonCole"), (server.folder + "/inside.realm", "inside"),
            ("relative.realm", "relative"),
        ] {
            let missing = try server.attach(#"{"path":"\#(path)"}"#)
            #expect(
                missing.status == 404 && missing.code == "file_not_found" && missing.text.contains("'schema'"), "\(missing.text)")
            let tried = try server.attach(#"{"path":"\#(path)","schema":\#(Self.schema)}"#, "?dryRun=true")
            #expect(tried.status == 200 && tried.json["status"]?.int == 201, "\(tried.text)")
            let made = try server.attach(#"{"path":"\#(path)","schema":\#(Self.schema)}"#)
            #expect(made.status == 201 && made["Location"] == "/v1/realms/\(name)", "\(made.text)")
            #expect(try server.send("POST", "\(name)/objects/A", #"{"n":1}"#).status == 201)
            #expect(FileManager.default.fileExists(atPath: path.hasPrefix("/") ? path : server.folder + "/" + path))
            #expect(try server.attach(#"{"name":"\#(name)2","path":"\#(path)","schema":\#(Self.schema)}"#).status == 409)
        }
        // Neither a mode for reading nor another place makes a file.
        for (body, status) in [
            (#"{"path":"\#(elsewhere)/x.realm","mode":"ro"}"#, 404),
            (#"{"path":"\#(elsewhere)/x.realm","mode":"copy","schema":\#(Self.schema)}"#, 404),
            (#"{"path":"\#(elsewhere)/no/x.realm","schema":\#(Self.schema)}"#, 404),
            (#"{"path":"/etc/x.realm","schema":\#(Self.schema)}"#, 403),
            (#"{"path":"../../../x.realm","schema":\#(Self.schema)}"#, 403),
            (#"{"name":"other","path":"\#(server.folder)/x.realm","schema":\#(Self.schema)}"#, 400),
            (#"{"name":"x","path":"\#(server.folder)/x.dat","schema":\#(Self.schema)}"#, 400),
            (#"{"name":"x.realm","schema":\#(Self.schema)}"#, 400),
        ] {
            let answer = try server.attach(body)
            #expect(answer.status == status, "\(body): \(answer.text)")
        }
        #expect(
            try FileManager.default.contentsOfDirectory(atPath: elsewhere).filter { $0.hasSuffix(".realm") } == [
                "GordonCole.realm"
            ])
        try server.finish()
    }

    // MARK: - Transactions

    @Test(
        arguments: [
            ("POST", "objects/Dog", "{", []), ("POST", "objects/Dog?x=1", #"{"_id":70,"age":1}"#, []),
            ("POST", "objects/Dog?dryRun=perhaps", #"{"_id":70,"age":1}"#, []),
            ("POST", "objects/Dog", "<a/>", [("Content-Type", "text/xml")]),
            ("POST", "objects/Dog", #"{"_id":70,"age":1}"#, [("Accept", "image/png")]),
            ("POST", "objects/Dog", #"{"_id":70,"age":1}"#, [("Realm-Without-Notifying", "x")]),
            ("POST", "objects/Nobody", "{}", []), ("PATCH", "objects/Nobody/1", "{}", []), ("POST", "nowhere", "{}", []),
            ("PUT", "batch", "{}", []), ("POST", "batch", "[]", []), ("POST", "batch", #"{"ops":[{"unknown":{}}]}"#, []),
            (
                "POST", "batch",
                #"{"ops":[{"create":{"class":"Dog","body":{"_id":70,"age":1}}},{"create":{"class":"Nobody","body":{}}}]}"#, []
            ),
            ("DELETE", "objects/Dog?where=age%20%3D%3D", nil, []), ("DELETE", "objects/Dog", nil, []),
            ("PATCH", "objects/Dog/1", "{}", [("If-Match", "none")]), ("POST", "transactions", "{}", []),
            ("POST", "import?class=Dog", "{\"_id\":70,\"age\":1}\n{", [("Content-Type", "application/x-ndjson")]),
        ] as [(String, String, String?, [(String, String)])])
    func `G3: a request that is refused for its form leaves the transaction as it was`(
        _ method: String, _ path: String, _ body: String?, _ headers: [(String, String)]
    ) throws {
        try withWriteServer { (server: WriteServer) throws in
            let (id, header) = try begin(server)
            try server.done("PATCH", "app/objects/Dog/1", #"{"age":9}"#, header)
            let refused = try server.send(method, "app/" + path, body, header + headers)
            #expect((400..<500).contains(refused.status), "\(refused.text)")
            #expect(try server.get("app/transactions/\(id)").json["state"]?.text == "open", "\(refused.text)")
            #expect(try server.get("app/objects/Dog/70", header).status == 404)
            try server.done("POST", "app/objects/Dog", #"{"_id":71,"age":1}"#, header)
            try server.done("POST", "app/transactions/\(id)/commit")
            #expect(try server.get("app/objects/Dog/1").json["age"]?.int == 9)
            #expect(try server.get("app/objects/Dog/70").status == 404 && server.get("app/objects/Dog/71").status == 200)
        }
    }

    @Test func `G2: an asynchronous write that names an open transaction is done after it, in the order of sending`() throws {
        try withWriteServer(change: { $0.limits.writeSeconds = 1 }) { (server: WriteServer) throws in
            let (id, header) = try begin(server)
            try server.done("PATCH", "app/objects/Dog/1", #"{"age":10}"#, header)
            let queued = try (0..<3).map { number in
                let answer = try server.send(
                    "PATCH", "app/objects/Dog/1", #"{"age":\#(20 + number)}"#, header + WriteServer.later)
                #expect(answer.status == 202 && answer["Preference-Applied"] == "respond-async", "\(answer.text)")
                return String((answer["Location"] ?? "").dropFirst("/v1/realms/".count))
            }
            let other = try server.begin("PATCH", "app/objects/Dog/2", #"{"age":30}"#)
            // One that names no transaction waits as long as any write.
            #expect(try server.fate(other)["problem"]?["code"]?.text == "write_lock_busy")
            for path in queued { #expect(try server.state(path) == "queued") }
            #expect(try server.get("app/transactions/\(id)").json["state"]?.text == "open")
            #expect(try server.get("app/objects/Dog/1", header).json["age"]?.int == 10)
            try server.done("POST", "app/transactions/\(id)/commit")
            let versions = try queued.map { path in
                let fate = try server.fate(path)
                #expect(fate["state"]?.text == "committed", "\(fate)")
                return WriteServer.number(fate["version"]?.text)
            }
            #expect(versions == versions.sorted())
            #expect(try server.get("app/objects/Dog/1").json["age"]?.int == 22)
            // Of a transaction that has ended, or that there is not, the write is refused at once.
            for (name, code) in [(id, "already_committed"), ("none", "not_found")] {
                let answer = try server.send(
                    "PATCH", "app/objects/Dog/1", "{}", [("Realm-Transaction", name)] + WriteServer.later)
                #expect(answer.code == code, "\(answer.text)")
            }
        }
    }

    @Test func `G4, G5: an asynchronous write is durable when it is told as committed, and is not cancelled any more`() throws {
        try withWriteServer { (server: WriteServer) throws in
            let paths = try (0..<100).map { try server.begin("POST", "app/objects/Dog", #"{"_id":\#(100 + $0),"age":1}"#) }
            for path in paths { #expect(try server.fate(path)["state"]?.text == "committed") }
            let copy = server.folder + "/copy-of-app"
            try FileManager.default.copyItem(atPath: server.folder + "/app.realm", toPath: copy)
            let snapshot = try Snapshot(file: try RealmFile(path: copy))
            #expect(snapshot.classTable(named: "Dog")?.count == 102)
            let last = try #require(paths.last)
            #expect(try server.send("DELETE", last).code == "already_committed")
            #expect(try server.get(last).json["state"]?.text == "committed")
        }
        let text = try String(
            contentsOf: Fixtures.packageRoot.appendingPathComponent("docs/transactions.md"), encoding: .utf8)
        #expect(text.contains("each is answered when its own changes are durable"))
    }

    @Test func `G6: a poll after the answer of a write has its change`() throws {
        try withWriteServer { (server: WriteServer) throws in
            for client in 0..<8 { try server.done("POST", "app/objects/Dog", #"{"_id":\#(100 + client),"age":-1}"#) }
            let missed = Mutex<[String]>([])
            DispatchQueue.concurrentPerform(iterations: 8) { client in
                do {
                    let query = "app/changes?class=Dog&where=_id%20%3D%3D%20\(100 + client)&include=keys"
                    var since = try server.get(query + "&initial=false").json["next"]?.text ?? ""
                    for number in 0..<125 {
                        let write = try server.send("PATCH", "app/objects/Dog/\(100 + client)", #"{"age":\#(number)}"#)
                        let poll = try server.get(query + "&since=\(since)")
                        let sets = poll.json["changes"]?.elements ?? []
                        if write.status != 200 || sets.count != 1 || !poll.text.contains(#""key":"\#(100 + client)""#) {
                            missed.withLock { $0.append("\(client) \(number): \(write.status) \(poll.text)") }
                        }
                        since = poll.json["next"]?.text ?? ""
                    }
                } catch {
                    missed.withLock { $0.append("\(error)") }
                }
            }
            #expect(missed.withLock { Array($0.prefix(3)) } == [])
        }
    }

    // MARK: - Other realms

    @Test func `G7: what was read from one realm can be posted to another, which takes no notice of where it was`() throws {
        try withWriteServer { (server: WriteServer) throws in
            try server.done(
                "PATCH", "app/objects/Value/1",
                #"""
                {"flag":true,"int":9007199254740993,"float":1.5,"double":-0.1,"decimal":{"$numberDecimal":"1.50"},
                "date":"2024-01-02T03:04:05.678Z","data":"AAH/","oid":"64b7f0000000000000000001",
                "uuid":"00000000-0000-4000-8000-000000000001","text":"é\u0000x","mixed":{"$date":"1999-01-01T00:00:00Z"},
                "mixeds":[1,"1",null,{"$numberDecimal":"1"},{"$oid":"64b7f0000000000000000002"}],"mixedSet":[1,"a"],"map":{"k":[1,{"x":null}]}}
                """#)
            try server.done("POST", "app/objects/Oid", #"{"_id":"64b7f0000000000000000003"}"#)
            try server.done("POST", "app/objects/Uid", #"{"_id":"00000000-0000-4000-8000-000000000002"}"#)
            #expect(
                try server.attach(#"{"name":"other","seed":"\#(server.folder)/app.realm"}"#).status == 201)
            try server.done("DELETE", "other/objects?confirm=all")
            for form in ["", "format=ejson"] {
                for (className, key) in [
                    ("Person", "ann"), ("Dog", "2"), ("Dog", "1"), ("Value", "1"), ("Oid", "64b7f0000000000000000003"),
                    ("Uid", "00000000-0000-4000-8000-000000000002"),
                ] {
                    let path = "objects/\(className)/\(key)?\(form)"
                    var body = try server.get("app/" + path).text
                    #expect(body.hasPrefix(#"{"$meta":{"class":"\#(className)""#))
                    // A link by key needs what it leads to.
                    if className == "Person" { body = #"{"$meta":{"class":"Value","key":"7"},"id":"ann"}"# }
                    let type = form.isEmpty ? [] : [("Content-Type", "application/ejson")]
                    let made = try server.send("POST", "other/objects/\(className)", body, type)
                    #expect(made.status == 201, "\(className) \(form): \(made.text)")
                }
                for (className, key) in [("Dog", "1"), ("Dog", "2"), ("Value", "1")] {
                    let path = "objects/\(className)/\(key)?meta=none"
                    #expect(try server.get("other/" + path).text == server.get("app/" + path).text)
                }
                let ann = try server.get("app/objects/Person/ann").text
                #expect(try server.send("PUT", "other/objects/Person/ann", ann).status == 200)
                #expect(
                    try server.get("other/objects/Person/ann?meta=none").text
                        == server.get("app/objects/Person/ann?meta=none").text)
                try server.done("DELETE", "other/objects?confirm=all")
            }
            // A link to what is not there is refused, and not made up.
            let dog = try server.get("app/objects/Dog/1").text
            #expect(try server.send("POST", "other/objects/Dog", dog).code == "link_target_missing")
        }
    }

    @Test func `G10: a realm that is only read is followed and frozen like any other`() throws {
        try withWriteServer { (server: WriteServer) throws in
            let path = server.folder + "/app.realm"
            try server.done("DELETE", "app")
            #expect(try server.attach(#"{"name":"app","path":"\#(path)","mode":"ro"}"#).status == 201)
            let poll = try server.get("app/changes?class=Dog")
            #expect(poll.status == 200 && poll.json["next"]?.text != nil, "\(poll.text)")
            let next = poll.json["next"]?.text ?? ""
            #expect(try server.get("app/changes?class=Dog&since=\(next)").json["changes"]?.elements?.isEmpty == true)
            let frozen = try server.send("POST", "app/snapshots", #"{"ttl":"60s"}"#)
            #expect(frozen.status == 201, "\(frozen.text)")
            let id = frozen.json["id"]?.text ?? ""
            #expect(try server.get("app/objects/Dog?count=exact&limit=0&snapshot=\(id)").json["count"]?.int == 2)
            #expect(try server.send("POST", "app/objects/Dog", #"{"_id":9,"age":1}"#).code == "read_only")
        }
    }
}
