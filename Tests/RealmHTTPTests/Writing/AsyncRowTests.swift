// SPDX-License-Identifier: Apache-2.0

import Foundation
import MicroHTTP
import RealmAccess
import RealmEngine
import RealmFormats
import RealmHTTP
import RealmHosting
import RealmPlatform
import RealmStorage
import RealmTestSupport
import RealmVerify
import Synchronization
import Testing

/// Rows A33 to A45 of the checklist: writes that nobody waits for, and what readers see of writes.
@Suite struct AsyncRowTests {
    private static func append(_ tag: Int) -> String {
        #"{"ops":[{"list":{"class":"Dog","key":"1","property":"tags","ops":[{"add":"\#(tag)"}]}}]}"#
    }

    @Test func `A33: writes that wait are counted, and letting go of the realm waits for them`() throws {
        try withWriteServer { (server: WriteServer) throws in
            #expect(try server.get("app").json["pendingWrites"]?.int == 0)
            let gate = WriterGate(try server.database())
            let writes = try (0..<3).map { try server.begin("POST", "app/batch", AsyncRowTests.append($0)) }
            #expect((try server.get("app").json["pendingWrites"]?.int ?? 0) >= 3)
            #expect((try ServerMetrics(port: server.port)["pending_writes{realm=\"app\"}"] ?? 0) > 0)
            gate.open()
            for path in writes { #expect(try server.fate(path)["state"]?.text == "committed") }
            #expect(try eventually { try server.get("app").json["pendingWrites"]?.int == 0 })

            let second = WriterGate(try server.database())
            let last = try server.begin("PATCH", "app/objects/Dog/1", #"{"age":42}"#)
            #expect(try server.state(last) == "queued")
            let detached = Awaited<Int>()
            Threads.spawn("detach") { detached.set((try? server.send("DELETE", "app").status) ?? 0) }
            #expect(try eventually { try server.get("app/schema").status == 404 })
            #expect(!detached.isSet)
            second.open()
            #expect(try detached.wait() == 204)
            #expect(try RealmEngineReader.age(server.folder + "/app.realm") == 42)
        }
    }

    @Test func `A33: a server that ends does all that it has taken before`() throws {
        let server = try WriteServer(change: { $0.graceSeconds = 60 })
        try server.fill()
        let gate = WriterGate(try server.database())
        try gate.waitUntilHeld()
        let increment = #"{"ops":[{"increment":{"class":"Dog","key":"1","property":"age","by":1}}]}"#
        for _ in 0..<5 { _ = try server.begin("POST", "app/batch", increment) }
        #expect(try server.database().pendingWrites >= 5)
        let ended = Awaited<Void>()
        Threads.spawn("stop") {
            server.server.stop()
            ended.set(())
        }
        #expect(eventually { server.server.daemon.isDraining })
        #expect(!ended.isSet)
        gate.open()
        try ended.wait()
        #expect(try RealmEngineReader.age(server.folder + "/app.realm") == 3 + 5)
        try server.finish()
    }

    @Test func `A34, E26: asynchronous writes are answered before they are done, and done in the order they came`() throws {
        try withWriteServer { (server: WriteServer) throws in
            let gate = WriterGate(try server.database())
            let client = try HTTPClient(port: server.port)
            var paths: [String] = []
            for tag in 0..<10 {
                let answer = try client.request(
                    "POST", "/v1/realms/app/batch", headers: [WriteServer.json] + WriteServer.later,
                    body: Array(AsyncRowTests.append(tag).utf8))
                #expect(answer.status == 202)
                #expect(answer.json["state"]?.text == "queued")
                paths.append(String((answer["Location"] ?? "").dropFirst("/v1/realms/".count)))
            }
            #expect(try server.get("app/objects/Dog/1").json["tags"]?.texts == ["a", "b"])
            gate.open()
            for path in paths { #expect(try server.fate(path)["state"]?.text == "committed") }
            #expect(try server.get("app/objects/Dog/1").json["tags"]?.texts == ["a", "b"] + (0..<10).map(String.init))
        }
    }

    @Test func `A36: writes that wait together share one durable commit, and one that fails leaves the others alone`()
        throws
    {
        try withWriteServer { (server: WriteServer) throws in
            let recorder = CommitRecorder(try server.database())
            let gate = WriterGate(try server.database())
            try gate.waitUntilHeld()
            var paths = try (0..<32).map { try server.begin("POST", "app/batch", AsyncRowTests.append($0)) }
            let bad = try server.begin(
                "POST", "app/batch",
                #"{"ops":[{"patch":{"class":"Dog","key":"1","body":{"age":9}}},{"assert":{"class":"Dog","key":"7"}}]}"#)
            paths += try (32..<40).map { try server.begin("POST", "app/batch", AsyncRowTests.append($0)) }
            gate.open()
            let versions = try paths.map { try server.fate($0)["version"]?.text ?? "none" }
            #expect(Set(versions).count == 1, "\(versions)")
            #expect(recorder.commitCount == 1)
            #expect(try server.fate(bad)["state"]?.text == "failed")
            #expect(try server.get("app/objects/Dog/1").json["age"]?.int == 3)
            #expect((try server.get("app/objects/Dog/1").json["tags"]?.texts)?.count == 42)
            // All of them are in the file as soon as one is said to be.
            let copy = server.folder + "/left.realm"
            try server.bytes().write(to: URL(fileURLWithPath: copy))
            #expect(try Snapshot(file: try RealmFile(path: copy)).verify().isClean)
        }
    }

    @Test func `A36: of 32 writers at once several share a sync, and each waits for it`() throws {
        try withFaultyRealm { server, backend, database in
            let gate = WriterGate(database)
            try gate.waitUntilHeld()
            backend.resetCounts()
            let statuses = Mutex<[Int]>([])
            for number in 0..<32 {
                Threads.spawn("writer-\(number)") {
                    let answer = try? server.send("POST", "faulty/objects/Note", #"{"text":"\#(number)"}"#)
                    statuses.withLock { $0.append(answer?.status ?? 0) }
                }
            }
            #expect(eventually { database.pendingWrites >= 33 })
            #expect(statuses.withLock { $0 } == [] && (backend.counts[.sync] ?? 0) == 0)
            gate.open()
            #expect(eventually { statuses.withLock { $0.count } == 32 })
            #expect(statuses.withLock { $0 } == Array(repeating: 201, count: 32))
            let syncs = backend.counts[.sync] ?? 0
            #expect(syncs > 0 && syncs < 32, "\(syncs) syncs")
            #expect(try server.get("faulty/objects/Note?count=exact").json["count"]?.int == 32)
        }
    }

    @Test func `A37: an asynchronous write is queued, then running, then committed with its version`() throws {
        try withWriteServer { (server: WriteServer) throws in
            let first = WriterGate(try server.database())
            try first.waitUntilHeld()
            let path = try server.begin("PATCH", "app/objects/Dog/1", #"{"age":42}"#)
            #expect(try server.state(path) == "queued")
            // Behind it in the same group: it has run, but is not durable.
            let second = WriterGate(try server.database())
            first.open()
            try second.waitUntilHeld()
            #expect(try server.state(path) == "running")
            #expect(try server.send("DELETE", path).code == "already_committed")
            #expect(try server.get("app/objects/Dog/1").json["age"]?.int == 3)
            second.open()
            let fate = try server.fate(path)
            #expect(fate["state"]?.text == "committed")
            #expect(fate["status"]?.int == 200)
            #expect(fate["body"]?["age"]?.int == 42)
            #expect(WriteServer.number(fate["version"]?.text) == (try server.version()))
            #expect(try server.get("app/objects/Dog/1").json["age"]?.int == 42)
        }
    }

    @Test(arguments: [
        ("PATCH", "app/objects/Dog/1", #"{"age":42}"#), ("PUT", "app/objects/Dog/1", #"{"age":42}"#),
        ("POST", "app/batch", #"{"ops":[{"patch":{"class":"Dog","key":"1","body":{"age":42}}}]}"#),
    ])
    func `A38, A41: a write whose fate nobody asks for is done all the same`(_ method: String, _ path: String, _ body: String)
        throws
    {
        try withWriteServer { (server: WriteServer) throws in
            _ = try server.begin(method, path, body)
            #expect(try eventually { try server.get("app/objects/Dog/1").json["age"]?.int == 42 })
        }
    }

    @Test func `A39: a write that waits can be taken back; one that is done stays done`() throws {
        try withWriteServer { (server: WriteServer) throws in
            let gate = WriterGate(try server.database())
            try gate.waitUntilHeld()
            let path = try server.begin("PATCH", "app/objects/Dog/1", #"{"age":42}"#)
            #expect(try server.send("DELETE", path).status == 204)
            gate.open()
            let done = try server.begin("PATCH", "app/objects/Dog/2", #"{"age":43}"#)
            #expect(try server.fate(done)["state"]?.text == "committed")
            #expect(try server.state(path) == "cancelled")
            #expect(try server.get("app/objects/Dog/1").json["age"]?.int == 3)
            let late = try server.send("DELETE", done)
            #expect(late.status == 409 && late.code == "already_committed")
            #expect(try server.get("app/objects/Dog/2").json["age"]?.int == 43)
        }
    }

    @Test func `A40: an asynchronous batch that fails tells its problem in the write`() throws {
        try withWriteServer { (server: WriteServer) throws in
            let bytes = try server.bytes()
            let path = try server.begin(
                "POST", "app/batch",
                #"{"ops":[{"delete":{"class":"Dog","key":"2"}},{"increment":{"class":"Dog","key":"1","property":"name","by":1}}]}"#
            )
            let fate = try server.fate(path)
            #expect(fate["state"]?.text == "failed")
            let problem = fate["problem"]
            #expect(problem?["status"]?.int == 422)
            #expect(problem?["code"]?.text == "type_mismatch")
            #expect(problem?["op"]?.int == 1)
            #expect(fate["version"] == nil)
            #expect(try server.bytes() == bytes)
        }
    }

    // MARK: - Refreshing

    @Test func `A42: a read after an answered write of another client sees it`() throws {
        try withWriteServer { (server: WriteServer) throws in
            let writer = try HTTPClient(port: server.port)
            let reader = try HTTPClient(port: server.port)
            for age in 100..<140 {
                let written = try writer.request(
                    "PATCH", "/v1/realms/app/objects/Dog/1", headers: [WriteServer.json], body: Array(#"{"age":\#(age)}"#.utf8))
                let read = try reader.request("GET", "/v1/realms/app/objects/Dog?where=age==\(age)&count=exact")
                #expect(read.json["count"]?.int == 1)
                #expect(read["Realm-Version"] == written["Realm-Version"])
            }
        }
    }

    /// An answer far longer than what sockets hold: it stops in the middle when nobody reads.
    private func fillNotes(_ server: WriteServer) throws {
        let database = try server.database()
        let made = Awaited<Bool>()
        database.write(
            EngineRealm.request(seconds: 60),
            { session in
                for _ in 0..<24 { _ = try session.create("Note", ["text": .text(String(repeating: "x", count: 1 << 20))]) }
            }, completion: { made.set((try? $0.get()) != nil) })
        #expect(try made.wait())
    }

    @Test func `A43: an answer that began before a write stays with its version, and the next one follows`() throws {
        try withWriteServer { (server: WriteServer) throws in
            try fillNotes(server)
            let before = try server.get("app")["Realm-Version"]
            let slow = try HTTPClient(port: server.port)
            try slow.send(
                "GET /v1/realms/app/objects/Note?format=ndjson&meta=none HTTP/1.1\r\nHost: 127.0.0.1:\(server.port)\r\n\r\n")
            #expect(try slow.receiveSome())
            #expect(
                try server.done("PATCH", "app/objects/Note?where=TRUEPREDICATE", #"{"text":"new"}"#).json["matched"]?.int == 25
            )
            #expect(try server.get("app/objects/Note?where=text=='new'&count=exact&limit=0").json["count"]?.int == 25)
            let answer = try slow.readAnswer()
            #expect(answer["Realm-Version"] == before)
            let lines = answer.text.split(separator: "\n")
            #expect(answer.isComplete && lines.count == 25)
            #expect(lines.count { $0 == #"{"text":"new"}"# } == 0)
        }
    }

    @Test func `A44: a version that nobody reads any more is let go of`() throws {
        try withWriteServer { (server: WriteServer) throws in
            try fillNotes(server)
            var slow: HTTPClient? = try HTTPClient(port: server.port)
            try slow?.send("GET /v1/realms/app/objects/Note?format=ndjson HTTP/1.1\r\nHost: 127.0.0.1:\(server.port)\r\n\r\n")
            #expect(try slow?.receiveSome() == true)
            for age in 0..<3 { try server.done("PATCH", "app/objects/Dog/1", #"{"age":\#(age)}"#) }
            #expect((try server.get("app").json["liveVersions"]?.int ?? 0) >= 2)
            slow = nil
            #expect(try eventually { try server.get("app").json["liveVersions"]?.int == 1 })
        }
    }

    @Test
    func
        `A45: an address is a reference for everybody: to the object, to what it is at least at a version, to nothing when it is gone`()
        throws
    {
        try withWriteServer { (server: WriteServer) throws in
            let first = try server.done("POST", "app/objects/Dog", #"{"_id":70,"age":1}"#)
            let path = String((first["Location"] ?? "").dropFirst("/v1/realms/".count))
            let token = first["Realm-Version"] ?? ""
            let other = try HTTPClient(port: server.port)
            let seen = try other.request("GET", "/v1/realms/" + path, headers: [("Realm-Min-Version", token)])
            #expect(seen.status == 200 && seen.json["_id"]?.int == 70)
            let next = token.split(separator: ".")[0] + ".\(WriteServer.number(token) + 1)"
            let waiting = Awaited<Int?>()
            Threads.spawn("reader") { waiting.set(try? server.get(path, [("Realm-Min-Version", String(next))]).status) }
            try server.done("DELETE", path)
            let status = try waiting.wait()
            #expect(status == 404)
            #expect(try server.get(path).code == "object_not_found")
        }
    }

    @Test func `A45: a version that does not come is waited for, and then told as a failed condition`() throws {
        try withWriteServer(change: { $0.limits.readSeconds = 1 }) { server in
            let token = try server.done("PATCH", "app/objects/Dog/1", #"{"age":4}"#)["Realm-Version"] ?? ""
            let next = token.split(separator: ".")[0] + ".\(WriteServer.number(token) + 1)"
            let start = Instant.now()
            let answer = try server.get("app/objects/Dog/1", [("Realm-Min-Version", String(next))])
            #expect(answer.status == 412 && answer.code == "precondition_failed")
            #expect(Instant.now().seconds(since: start) >= 0.9)
        }
    }
}
