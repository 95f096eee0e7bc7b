// SPDX-License-Identifier: Apache-2.0

import MicroHTTP
import RealmAccess
import RealmFormats
import RealmHTTP
import RealmHosting
import RealmServerSupport
import RealmTestSupport
import Testing

@Suite("Streams of events (A23, A42, A43, B24, B25, B28, D45)", .ownThread)
struct ChangeStreamTests {
    private static let dogs = ChangeFixture.query(["class": "Dog", "include": "keys"])

    @Test func `a stream begins with its head, the snapshot, and ready; then come changes, each with the id of its version`()
        throws
    {
        let fixture = try ChangeFixture()
        let stream = try fixture.server.stream("app", ChangeStreamTests.dogs)
        #expect(stream.header("Content-Type") == "text/event-stream")
        #expect(stream.header("Cache-Control") == "no-store, no-transform")
        #expect(stream.header("X-Accel-Buffering") == "no")
        #expect(stream.header("Content-Encoding") == nil)
        let first = try stream.next()
        #expect(first?.retry == "2000" && first?.comments == ["realm-rest"])
        let snapshot = try stream.next("snapshot")
        #expect(snapshot.id == nil && snapshot.json["count"]?.integer == 5)
        let ready = try stream.next("ready")
        #expect(ready.id == ready.json["version"]?.text && ready.id == snapshot.json["version"]?.text)
        let version = try fixture.write(fixture.create(9))
        let change = try stream.next("changes")
        #expect(change.id == version && change.json["to"]?.text == version && change.json["from"]?.text == ready.id)
        // Whoever reads after an event sees at least that version.
        #expect(try fixture.server.must("GET", "app/objects/Dog/9")["age"]?.integer == 0)
    }

    @Test func `streams are never compressed, whatever the client takes`() throws {
        let fixture = try ChangeFixture()
        let stream = try fixture.server.stream("app", "class=Dog", [("Accept-Encoding", "gzip")])
        #expect(stream.header("Content-Encoding") == nil)
        #expect(try stream.next("snapshot").json["count"]?.integer == 5)
    }

    @Test func `B28: commits between the connection and the snapshot are in the snapshot; unrelated ones bring no event`() throws
    {
        let fixture = try ChangeFixture()
        let stream = try fixture.server.stream("app", ChangeStreamTests.dogs)
        _ = try stream.next("snapshot")
        _ = try stream.next("ready")
        try fixture.write(fixture.patch(#"{"age":77}"#))
        let version = try fixture.write(fixture.create(9))
        #expect(try stream.next("changes").json["to"]?.text == version)
    }

    @Test func `initial=false leaves the snapshot out`() throws {
        let fixture = try ChangeFixture()
        let stream = try fixture.server.stream("app", ChangeStreamTests.dogs + "&initial=false")
        _ = try stream.next("ready")
    }

    @Test(arguments: ["header", "parameter"])
    func `a stream that is resumed tells what was missed, then ready, and nothing twice`(_ place: String) throws {
        let fixture = try ChangeFixture()
        var stream = try fixture.server.stream("app", ChangeStreamTests.dogs)
        _ = try stream.next("snapshot")
        let position = try stream.next("ready").id ?? ""
        try fixture.write(fixture.create(9))
        #expect(try stream.next("changes").json["insertions"]?.elements?.count == 1)
        let last = try fixture.write(fixture.create(10))
        stream = try fixture.server.stream(
            "app", ChangeStreamTests.dogs + (place == "header" ? "&since=nowhere" : "&since=\(position)"),
            place == "header" ? [("Last-Event-ID", position)] : [("Last-Event-ID", "")])
        var count = 0
        var from = position
        while true {
            let event = try #require(try stream.next())
            if event.name.isEmpty { continue }
            if event.name == "ready" {
                #expect(event.id == last)
                break
            }
            #expect(event.name == "changes" && event.json["from"]?.text == from)
            from = event.id ?? ""
            count += event.json["insertions"]?.elements?.count ?? 0
        }
        #expect(count == 2)
    }

    @Test(arguments: [
        "zzzzzz.5", "garbage", "FUTURE",
    ])
    func `a position of another life, of the future, or unreadable is reset with the reason epoch`(_ position: String) throws {
        let fixture = try ChangeFixture()
        let now = try fixture.server.poll("app", "class=Dog&since=now")["next"]?.text ?? ""
        let text = position == "FUTURE" ? now + "0000" : position
        let stream = try fixture.server.stream("app", ChangeStreamTests.dogs, [("Last-Event-ID", text)])
        let reset = try stream.next("reset")
        #expect(reset.json["reason"]?.text == "epoch" && reset.json["subs"]?.elements == [.string("default")] && reset.id == nil)
        #expect(try stream.next("snapshot").json["count"]?.integer == 5)
        #expect(try stream.next("ready").id == now)
    }

    @Test func `a position that is not kept any more is reset with the reason retention`() throws {
        let fixture = try ChangeFixture { $0.limits.retentionSets = 2 }
        let stream = try fixture.server.stream("app", ChangeStreamTests.dogs)
        _ = try stream.next("snapshot")
        let position = try stream.next("ready").id ?? ""
        for id in 10..<14 {
            try fixture.write(fixture.create(id))
            _ = try stream.next("changes")
        }
        let late = try fixture.server.stream("app", ChangeStreamTests.dogs, [("Last-Event-ID", position)])
        #expect(try late.next("reset").json["reason"]?.text == "retention")
        #expect(try late.next("snapshot").json["count"]?.integer == 9)
        _ = try late.next("ready")
        let answer = try fixture.server.poll("app", ChangeStreamTests.dogs + "&since=\(position)")
        #expect(answer["reset"]?["reason"]?.text == "retention" && answer["snapshots"]?.elements?.count == 1)
    }

    @Test func `a client that does not keep up is reset with the reason overflow, and nothing is held for it meanwhile`() throws {
        let fixture = try ChangeFixture { $0.limits.queueEvents = 8 }
        let stream = try fixture.server.stream("app", "class=Dog", receiveBuffer: 4096)
        _ = try stream.next("snapshot")
        _ = try stream.next("ready")
        // More than sockets take.
        let text = String(repeating: "x", count: 400_000)
        for round in 0..<40 {
            try fixture.write("{\"patch\":{\"class\":\"Dog\",\"key\":\"1\",\"body\":{\"name\":\"\(round)\(text)\"}}}")
        }
        var hasReset = false
        var copy = ClientCopy()
        while let event = try stream.next() {
            if event.name == "reset" {
                #expect(event.json["reason"]?.text == "overflow")
                hasReset = true
                copy = ClientCopy()
            }
            if event.name == "snapshot" { copy.take(snapshot: event.json) }
            if event.name == "ready" { break }
        }
        #expect(hasReset && copy.rows.count == 5)
        #expect(try fixture.server.metric("queue_overflows_total") == 1)
    }

    @Test func `several subscriptions on one stream: an id only behind the last set of a version`() throws {
        let fixture = try ChangeFixture()
        let body = #"{"subscriptions":{"dogs":{"class":"Dog","include":"keys"},"all":{},"ann":{"class":"Person","key":"ann"}}}"#
        let url = try fixture.server.must("POST", "app/subscriptions", body)["url"]?.text ?? ""
        let stream = try EventClient(port: fixture.server.port, url)
        _ = try stream.next("snapshot")
        _ = try stream.next("snapshot")
        let ready = try stream.next("ready").id
        let version = try fixture.write(fixture.create(9), fixture.patch(#"{"age":9}"#))
        let events = try (0..<3).map { _ in try stream.next("changes") }
        #expect(events.map { $0.json["sub"]?.text } == ["dogs", "all", "ann"])
        #expect(events.map(\.id) == [nil, nil, version])
        #expect(events.allSatisfy { $0.json["from"]?.text == ready })
        let second = try fixture.write(fixture.create(10))
        let more = try (0..<2).map { _ in try stream.next("changes") }
        #expect(more.map { $0.json["from"]?.text } == [version, version] && more.map(\.id) == [nil, second])
    }

    @Test func `large snapshots come in parts of a thousand rows`() throws {
        let fixture = try ChangeFixture()
        for start in [1000, 1700] {
            try fixture.server.batch("app", (start..<start + 700).map { fixture.create($0, age: $0 % 3) })
        }
        let stream = try fixture.server.stream("app", "class=Dog")
        let parts = try (0..<2).map { _ in try stream.next("snapshot").json }
        #expect(parts.map { $0["items"]?.elements?.count } == [1000, 405])
        #expect(parts.map { $0["last"]?.isTrue } == [false, true] && parts.allSatisfy { $0["count"]?.integer == 1405 })
        let sections = try fixture.server.stream(
            "app", ChangeFixture.query(["class": "Dog", "sectionBy": "age:mod(2)", "include": "keys"]))
        var copy = ClientCopy()
        while let event = try sections.next(), event.name != "ready" {
            if event.name == "snapshot" { copy.take(snapshot: event.json) }
        }
        #expect(copy.sections.count == 2 && copy.sections.reduce(0) { $0 + $1.rows.count } == 1405)
        #expect(
            try fixture.server.poll("app", "class=Dog&include=keys")["snapshots"]?.elements?.first?["items"]?.elements?.count
                == 1405)
    }

    @Test func `signs of life repeat the position when it has moved without an event`() throws {
        let fixture = try ChangeFixture { $0.limits.http.heartbeat = 1 }
        let stream = try fixture.server.stream("app", ChangeStreamTests.dogs)
        _ = try stream.next("snapshot")
        _ = try stream.next("ready")
        let version = try fixture.write(fixture.patch(#"{"age":77}"#))
        while let event = try stream.next() {
            #expect(event.name.isEmpty && event.comments == ["hb"] && event.data.isEmpty)
            if event.id == version { break }
            #expect(event.id == nil)
        }
        #expect(try #require(try stream.next()).id == nil)
        let change = try fixture.write(fixture.create(9))
        while let event = try stream.next() {
            guard event.name == "changes" else { continue }
            #expect(event.json["from"]?.text == version && event.id == change)
            break
        }
        let named = try fixture.server.stream("app", ChangeStreamTests.dogs + "&hb=event&initial=false")
        _ = try named.next("ready")
        #expect(try named.next("heartbeat").json["version"]?.text == change)
    }

    @Test func `A23: a client that leaves is noticed, and its stream and observation are let go of`() throws {
        let fixture = try ChangeFixture { $0.limits.retentionSeconds = 0 }
        var stream: EventClient? = try fixture.server.stream("app", ChangeStreamTests.dogs)
        _ = try stream?.next("snapshot")
        #expect(try fixture.server.metric("streams") == 1)
        #expect(try fixture.server.metric("observed_definitions") == 1)
        stream = nil
        #expect(try eventually { try fixture.server.metric("streams") == 0 })
        #expect(try eventually { try fixture.server.metric("observed_definitions") == 0 })
    }

    @Test func `one evaluation and one encoding per commit, however many streams there are`() throws {
        let fixture = try ChangeFixture()
        let streams = try (0..<20).map { _ in try fixture.server.stream("app", ChangeStreamTests.dogs) }
        for stream in streams {
            _ = try stream.next("snapshot")
            _ = try stream.next("ready")
        }
        let before = (try fixture.server.metric("evaluations_total") ?? 0, try fixture.server.metric("encodings_total") ?? 0)
        for id in 10..<15 { try fixture.write(fixture.create(id)) }
        for stream in streams {
            for _ in 0..<5 { _ = try stream.next("changes") }
        }
        #expect(try fixture.server.metric("evaluations_total") ?? 0 <= before.0 + 5)
        #expect(try fixture.server.metric("encodings_total") ?? 0 <= before.1 + 5)
    }

    @Test func `a stopping server says end to all streams, and answers waiting polls`() throws {
        let fixture = try ChangeFixture { $0.graceSeconds = 30 }
        let streams = try (0..<50).map { _ in try fixture.server.stream("app", ChangeStreamTests.dogs) }
        for stream in streams {
            _ = try stream.next("snapshot")
            _ = try stream.next("ready")
        }
        let now = try fixture.server.poll("app", ChangeStreamTests.dogs + "&since=now")["next"]?.text ?? ""
        let waiting = try HTTPClient(port: fixture.server.port)
        try waiting.send(
            "GET /v1/realms/app/changes?\(ChangeStreamTests.dogs)&since=\(now)&wait=50 HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
        #expect(try eventually { try fixture.server.metric("waiting_polls") == 1 })
        let server = fixture.server
        let stopping = StoppingThread { server.server.stop() }
        for stream in streams {
            #expect(try stream.next("end").json["reason"]?.text == "shutdown")
            #expect(try stream.next() == nil)
        }
        let answer = try waiting.readAnswer()
        #expect(answer.status == 200 && answer.json["next"]?.text == now)
        stopping.wait()
    }

    @Test func `a realm that is detached ends its streams; later positions belong to another life`() throws {
        let fixture = try ChangeFixture()
        let stream = try fixture.server.stream("app", ChangeStreamTests.dogs)
        _ = try stream.next("snapshot")
        let position = try stream.next("ready").id ?? ""
        let registration = try fixture.server.must("POST", "app/subscriptions", #"{"subscriptions":{"a":{}}}"#)["id"]?.text ?? ""
        try fixture.server.must("DELETE", "app")
        #expect(try stream.next("end").json["reason"]?.text == "deleted")
        try fixture.server.makeRealm("app", classes: ChangeFixture.classes)
        let answer = try fixture.server.poll("app", ChangeStreamTests.dogs + "&since=\(position)")
        #expect(answer["reset"]?["reason"]?.text == "epoch")
        #expect(try fixture.server.send("GET", "app/changes?subscription=\(registration)").status == 404)
    }

    @Test func `additions to the schema are told and nothing else happens; other changes begin everything anew, or end it`()
        throws
    {
        let fixture = try ChangeFixture()
        let stream = try fixture.server.stream("app", ChangeStreamTests.dogs)
        let named = try fixture.server.stream("app", ChangeFixture.query(["class": "Dog", "where": "name == 'd1'"]))
        for one in [stream, named] {
            _ = try one.next("snapshot")
            _ = try one.next("ready")
        }
        func migrate(_ version: Int, _ step: String, loss: Bool = false) throws -> String {
            try fixture.server.must(
                "POST", "app/migrations",
                "{\"fromVersion\":\(version),\"toVersion\":\(version + 1),\"steps\":[\(step)],\"allowDataLoss\":\(loss)}")[
                    "version"]?.text ?? ""
        }
        let start = Int(try fixture.server.must("GET", "app/schema")["schemaVersion"]?.integer ?? 0)
        let added = try migrate(start, #"{"addProperty":{"class":"Dog","property":{"name":"extra","type":"int"}}}"#)
        let schema = try stream.next("schema")
        #expect(schema.id == nil && schema.json["version"]?.text == added)
        #expect(schema.json["oldVersion"]?.integer == Int64(start) && schema.json["newVersion"]?.integer == Int64(start + 1))
        let position = try fixture.write(fixture.delete("Dog", "5"))
        #expect(try stream.next("changes").id == position)
        _ = try named.next("schema")
        let removed = try migrate(start + 1, #"{"removeProperty":{"class":"Dog","name":"name"}}"#, loss: true)
        #expect(try stream.next("schema").json["version"]?.text == removed)
        #expect(try stream.next("reset").json["reason"]?.text == "schema")
        #expect(try stream.next("snapshot").json["count"]?.integer == 4)
        #expect(try stream.next("ready").id == removed)
        _ = try named.next("schema")
        #expect(try named.next("error").json["code"]?.text == "unknown_key_path")
        #expect(try named.next() == nil)
        let answer = try fixture.server.poll("app", ChangeStreamTests.dogs + "&since=\(position)")
        #expect(answer["reset"]?["reason"]?.text == "schema" && answer["schema"]?["version"]?.text == removed)
    }

    @Test
    func `after its end an object is silent for a registration, 404 in the simple form, and begins anew when there is a new one`()
        throws
    {
        let fixture = try ChangeFixture()
        let query = ChangeFixture.query(["class": "Dog", "key": "5", "include": "none"])
        let id = try fixture.server.must("POST", "app/subscriptions", #"{"subscriptions":{"d":{"class":"Dog","key":"5"}}}"#)
        let registered = "subscription=\(id["id"]?.text ?? "")"
        let begin = try fixture.server.poll("app", query)["next"]?.text ?? ""
        try fixture.write(fixture.delete("Dog", "5"))
        let end = try fixture.server.poll("app", query + "&since=\(begin)")
        #expect(end["changes"]?.elements?.map(\.withoutVersions) == [#"{"deleted":true}"#])
        let position = end["next"]?.text ?? ""
        let gone = try fixture.server.send("GET", "app/changes?\(query)&since=\(position)")
        #expect(gone.status == 404 && gone.code == "object_not_found")
        try fixture.write(fixture.create(5))
        let anew = try fixture.server.poll("app", query + "&since=\(position)")
        #expect(anew["reset"]?["reason"]?.text == "retention" && anew["snapshots"]?.elements?.count == 1)
        let silent = try fixture.server.poll("app", registered + "&since=\(id["version"]?.text ?? "")")
        #expect(silent["changes"]?.elements?.map(\.withoutVersions) == [#"{"deleted":true}"#])
        try fixture.write(fixture.age(5, 6))
        #expect(
            try fixture.server.poll("app", registered + "&since=\(silent["next"]?.text ?? "")")["changes"]?.elements?.isEmpty
                == true)
    }

    @Test func `administrators see streams, and may end each`() throws {
        let fixture = try ChangeFixture()
        let stream = try fixture.server.stream("app", ChangeStreamTests.dogs)
        _ = try stream.next("snapshot")
        let items = try HTTPClient.request(port: fixture.server.port, "GET", "/admin/leases").json["items"]?.elements
        let lease = try #require(items?.first { $0["kind"]?.text == "stream" }?["id"]?.text)
        #expect(try HTTPClient.request(port: fixture.server.port, "DELETE", "/admin/leases/\(lease)").status == 204)
        while try stream.next() != nil {}
        #expect(try eventually { try fixture.server.metric("streams") == 0 })
    }
}
