// SPDX-License-Identifier: Apache-2.0

import Foundation
import MicroHTTP
import RealmAccess
import RealmFormats
import RealmHTTP
import RealmHosting
import RealmPlatform
import RealmServerSupport
import RealmStorage
import RealmTestSupport
import Testing

/// Rows A22 to A26, A42, A43, A45 and B25 of the checklist, as far as they are about who is told what and when.
@Suite(.ownThread) struct NotificationRowTests {
    @Test(arguments: Transport.allCases)
    func `A22: the whole realm tells of each version with the classes that were touched, and nothing of a cancelled write`(
        _ transport: Transport
    ) throws {
        let fixture = try ChangeFixture()
        let server = fixture.server
        let realm = try Follower(server.port, "{}", transport)
        #expect(realm.snapshot == nil)
        #expect(try realm.sets(upTo: try fixture.write(fixture.age(1, 7))) == [#"{"classes":["Dog"]}"#])
        #expect(
            try realm.sets(upTo: try fixture.write(fixture.patch(#"{"age":1}"#), fixture.create(9))) == [
                #"{"classes":["Dog","Person"]}"#
            ])
        // A change of embedded objects is one of theirs and of their owner's.
        let home = try realm.sets(upTo: try fixture.write(fixture.patch(#"{"home":{"city":"Bergen"}}"#)))
        #expect(home == [#"{"classes":["Person","Place"]}"#] || home == [#"{"classes":["Place"]}"#])
        let before = realm.position
        // Cancelled in all the ways there are.
        let transaction = try server.must("POST", "app/transactions")["id"]?.text ?? ""
        try server.must("PATCH", "app/objects/Dog/1", #"{"age":50}"#, [("Realm-Transaction", transaction)])
        try server.must("DELETE", "app/transactions/\(transaction)")
        try server.must("POST", "app/batch?dryRun=true", "{\"ops\":[\(fixture.create(31))]}")
        #expect(
            try server.send("POST", "app/batch", "{\"ops\":[\(fixture.create(31)),\(fixture.delete("Dog", "99"))]}").status == 404
        )
        #expect(try server.poll("app", "since=\(before)")["changes"]?.elements?.isEmpty == true)
        // A version in which no object was written.
        let start = try server.must("GET", "app/schema")["schemaVersion"]?.integer ?? 0
        let steps = #"[{"addClass":{"name":"More","properties":[{"name":"n","type":"int"}]}}]"#
        let added =
            try server.must(
                "POST", "app/migrations", "{\"fromVersion\":\(start),\"toVersion\":\(start + 1),\"steps\":\(steps)}")["version"]?
            .text ?? ""
        let told = try server.poll("app", "since=\(before)")
        #expect(told["next"]?.text == added && told["schema"]?["version"]?.text == added)
        #expect(told["changes"]?.elements?.map(\.withoutVersions) == [#"{"classes":[]}"#])
    }

    // Sandboxes may forbid to be deaf.
    @Test(arguments: TestSocket.canBecomeDeaf ? [true, false] : [true])
    func `A23: a stream is let go of within two signs of life when its client leaves, says goodbye or not`(_ saysGoodbye: Bool)
        throws
    {
        let fixture = try ChangeFixture { options in
            options.limits.http.heartbeat = 1
            options.limits.registrationSeconds = 2
        }
        let id =
            try fixture.server.must("POST", "app/subscriptions", #"{"subscriptions":{"a":{"class":"Dog"}}}"#)["id"]?.text ?? ""
        var stream: EventClient? = try fixture.server.stream("app", "subscription=\(id)")
        _ = try stream?.next("snapshot")
        _ = try stream?.next("ready")
        #expect(try fixture.server.metric("streams") == 1)
        // Longer than a registration lasts that nobody reads.
        for _ in 0..<3 {
            while let event = try stream?.next(), event.comments != ["hb"] {}
        }
        #expect(try fixture.server.send("GET", "app/subscriptions/\(id)").status == 200)
        if saysGoodbye { stream = nil } else { #expect(stream?.becomeDeaf() == true) }
        // Two heartbeats, and a second for a machine that is busy.
        #expect(try eventually(seconds: 2 + 1) { try fixture.server.metric("streams") == 0 })
        // The registration waits for the client to come back, and ends when it does not.
        #expect(try fixture.server.send("GET", "app/subscriptions/\(id)").status == 200)
        #expect(try eventually { try fixture.server.send("GET", "app/subscriptions/\(id)").status == 410 })
        withExtendedLifetime(stream) {}
    }

    @Test(arguments: Transport.allCases)
    func `A24: who begins a transaction stands behind everything that was told; what it writes is told when it is committed`(
        _ transport: Transport
    ) throws {
        let fixture = try ChangeFixture()
        let server = fixture.server
        let dogs = try Follower(server.port, #"{"class":"Dog","include":"keys"}"#, transport)
        let version = try fixture.write(fixture.create(9))
        let transaction = try server.must("POST", "app/transactions", #"{"idle":"5s"}"#)
        #expect(transaction["version"]?.text == version)
        // What was pending is delivered, and nothing else.
        #expect(
            try dogs.sets(upTo: version) == [
                #"{"count":6,"deletions":[],"insertions":[{"index":5,"key":"9"}],"modifications":[],"moves":[]}"#
            ])
        let id = transaction["id"]?.text ?? ""
        let inside = [("Realm-Transaction", id)]
        #expect(try server.send("POST", "app/transactions", "{}", inside).status == 409)
        #expect(try server.send("POST", "app/transactions", #"{"wait":"0s"}"#).status == 423)
        try server.must("POST", "app/objects/Dog", #"{"_id":30,"age":1}"#, inside)
        let query = "subscription=\(dogs.id)&since=\(version)"
        #expect(try server.poll("app", query)["next"]?.text == version)
        #expect(try server.send("GET", "app/changes?class=Dog", nil, inside).code == "conflicting_parameters")
        let committed = try server.must("POST", "app/transactions/\(id)/commit")["version"]?.text ?? ""
        #expect(
            try dogs.sets(upTo: committed) == [
                #"{"count":7,"deletions":[],"insertions":[{"index":6,"key":"30"}],"modifications":[],"moves":[]}"#
            ])
        // A batch sees the newest version.
        #expect(try fixture.write(#"{"assert":{"class":"Dog","key":"30","where":"age == 1"}}"#) != "")
    }

    @Test(.enabled(if: ServerProcess.executable != nil, "the executable is not built"), arguments: Transport.allCases)
    func `A25: a commit that was told is there after the server was killed`(_ transport: Transport) throws {
        let folder = NSTemporaryDirectory() + "realm-rest-told-\(UUID().uuidString)"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let first = try ServerProcess(["--data", folder])
        func send(_ server: ServerProcess, _ method: String, _ path: String, _ body: String? = nil) throws -> ParsedJSON {
            let answer = try HTTPClient.request(
                port: server.port, method, "/v1/realms" + path, headers: [("Content-Type", "application/json")],
                body: body.map { Array($0.utf8) })
            guard answer.status < 300 else { throw ChangeServer.Refused(description: answer.text) }
            return try ParsedJSON(parsing: answer.body)
        }
        _ = try send(first, "POST", "", "{\"name\":\"app\",\"schema\":{\"classes\":\(ChangeFixture.classes)}}")
        let dogs = try Follower(first.port, #"{"class":"Dog","include":"keys"}"#, transport)
        var last = ""
        for key in 1...5 {
            last =
                try send(
                    first, "POST", "/app/batch",
                    "{\"ops\":[{\"create\":{\"class\":\"Dog\",\"body\":{\"_id\":\(key),\"age\":1}}}]}")["version"]?.text ?? ""
        }
        let told = try dogs.documents(upTo: last).flatMap { $0["insertions"]?.elements ?? [] }.compactMap { $0["key"]?.text }
        first.kill()
        #expect(told == ["1", "2", "3", "4", "5"])
        let second = try ServerProcess(["--data", folder])
        let items = try send(second, "GET", "/app/objects/Dog")["items"]?.elements ?? []
        #expect(items.compactMap { $0["_id"]?.integer } == [1, 2, 3, 4, 5])
        // The version goes on, in another life.
        let after = try send(second, "GET", "/app/changes?class=Dog&since=\(last)")
        #expect(after["reset"]?["reason"]?.text == "epoch")
        #expect(after["next"]?.text?.split(separator: ".").last == last.split(separator: ".").last && after["next"]?.text != last)
        #expect(second.stop() == 0)
    }

    @Test(arguments: Transport.allCases)
    func `A26: a commit that fails is told to nobody, and the next one follows what was told before`(_ transport: Transport)
        throws
    {
        try withFaultyRealm { server, backend, _ in
            let notes = try Follower(server.port, #"{"class":"Note","include":"none"}"#, transport, realm: "faulty")
            let before = notes.position
            backend.resetCounts()
            backend.failing = (.extend, 0, 28)
            let large = #"{"text":""# + String(repeating: "x", count: 4 << 20) + #""}"#
            #expect(try server.send("POST", "faulty/objects/Note", large).status == 507)
            let none = try server.get("faulty/changes?subscription=\(notes.id)&since=\(before)")
            #expect(none.json["next"]?.text == before && none.json["changes"]?.elements?.isEmpty == true)
            let done = try server.send("POST", "faulty/objects/Note", #"{"text":"y"}"#)
            let told = try notes.documents(upTo: done["Realm-Version"] ?? "")
            #expect(told.map(\.withoutVersions) == [#"{"count":1}"#] && told.first?["from"]?.text == before)
        }
    }

    @Test(arguments: Transport.allCases)
    func `A42: whoever reads after a write reads it, and who waits is told of it`(_ transport: Transport) throws {
        let fixture = try ChangeFixture()
        let server = fixture.server
        let dogs = try Follower(server.port, #"{"class":"Dog","include":"keys"}"#, transport)
        let other = try HTTPClient(port: server.port)
        for age in 100..<120 {
            let version = try fixture.write(fixture.age(1, age))
            let read = try other.request("GET", "/v1/realms/app/objects/Dog/1")
            #expect(read.json["age"]?.int == age && read["Realm-Version"] == version)
            #expect(try dogs.documents(upTo: version).count == 1)
            let again = try other.request("GET", "/v1/realms/app/objects/Dog/1", headers: [("Realm-Min-Version", dogs.position)])
            #expect(again.status == 200)
        }
    }

    @Test(arguments: Transport.allCases)
    func `A43: what is pinned stays put while a client follows`(_ transport: Transport) throws {
        let fixture = try ChangeFixture()
        let server = fixture.server
        let dogs = try Follower(server.port, #"{"class":"Dog","fields":["age"],"meta":"none"}"#, transport)
        let pin = try server.must("POST", "app/snapshots")["id"]?.text ?? ""
        for age in 100..<105 {
            let version = try fixture.write(fixture.age(1, age))
            let told = try dogs.documents(upTo: version)
            #expect(told.first?["modifications"]?.elements?.first?["object"]?["age"]?.integer == Int64(age))
            #expect(try server.must("GET", "app/objects/Dog/1?snapshot=\(pin)")["age"]?.integer == 1)
            #expect(try server.must("GET", "app/objects/Dog/1")["age"]?.integer == Int64(age))
            #expect(try server.must("GET", "app/snapshots/\(pin)")["behind"]?.integer == Int64(age - 99))
        }
    }

    @Test func `A45, D55: the URL of an object is good for everybody, and a version may be waited for`() throws {
        let fixture = try ChangeFixture { $0.limits.readSeconds = 5 }
        let server = fixture.server
        let made = try server.send("POST", "app/objects/Dog", #"{"_id":70,"age":7}"#)
        let url = made["Location"] ?? ""
        let version = made["Realm-Version"] ?? ""
        func read(_ minimum: String? = nil) throws -> HTTPClient.Answer {
            try HTTPClient.request(port: server.port, "GET", url, headers: minimum.map { [("Realm-Min-Version", $0)] } ?? [])
        }
        #expect(try read().json["age"]?.int == 7 && read(version).status == 200)
        let parts = version.split(separator: ".")
        let future = "\(parts[0]).\((UInt64(parts[1]) ?? 0) + 1)"
        let late = try read(future)
        #expect(late.status == 412 && late.code == "precondition_failed")
        #expect(try read("zzzzzz.1").status == 412 && read("nonsense").status == 400)
        #expect(try server.send("DELETE", "app/objects/Dog/70").status == 204)
        #expect(try read().status == 404)
        #expect(try read(future).status == 404)
    }

    @Test func `A45, D55: a read that asks for a version to come is answered when it is there`() throws {
        let fixture = try ChangeFixture { $0.limits.http.requestSeconds = 60 }
        let version = try fixture.write(fixture.age(1, 50)).split(separator: ".")
        let future = "\(version[0]).\((UInt64(version[1]) ?? 0) + 1)"
        let client = try HTTPClient(port: fixture.server.port)
        try client.send("GET /v1/realms/app/objects/Dog/1 HTTP/1.1\r\nHost: 127.0.0.1\r\nRealm-Min-Version: \(future)\r\n\r\n")
        Threads.sleep(seconds: 0.2)
        #expect(try fixture.write(fixture.age(1, 51)) == future)
        let answer = try client.readAnswer()
        #expect(answer.status == 200 && answer.json["age"]?.int == 51 && answer["Realm-Version"] == future)
    }

    @Test func `B25: two contexts get the same, snapshots and sets`() throws {
        let fixture = try ChangeFixture()
        let definition = #"{"class":"Dog","where":"age > 1","sort":["-age"]}"#
        let followers = try [Transport.events, .events, .polls, .polls].map { try Follower(fixture.server.port, definition, $0) }
        #expect(Set(followers.map { $0.snapshot?.withoutVersions }).count == 1)
        for ops in [fixture.create(9, age: 9), fixture.age(2, 10), fixture.delete("Dog", "4")] {
            let version = try fixture.write(ops)
            let told = try followers.map { try $0.documents(upTo: version).map(\.serialized) }
            #expect(Set(told).count == 1 && told[0].count == 1)
        }
    }
}
