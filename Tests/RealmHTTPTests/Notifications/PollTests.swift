// SPDX-License-Identifier: Apache-2.0

import RealmAccess
import RealmFormats
import RealmHTTP
import RealmHosting
import RealmTestSupport
import Testing

@Suite("Long-poll (A22, A42, A45, B24, B28)")
struct PollTests {
    private static let dogs = ChangeFixture.query(["class": "Dog", "include": "keys"])

    @Test func `always the same members, with a length, and never stored`() throws {
        let fixture = try ChangeFixture()
        let answer = try fixture.server.send("GET", "app/changes?\(PollTests.dogs)")
        #expect(answer.status == 200 && answer["Content-Type"] == "application/json" && answer["Cache-Control"] == "no-store")
        #expect(answer["Content-Length"] == String(answer.body.count))
        let json = try ParsedJSON(parsing: answer.body)
        #expect(json.members?.map(\.name) == ["changes", "snapshots", "reset", "schema", "next"])
        #expect(answer["Realm-Version"] == json["next"]?.text)
        let ejson = try fixture.server.send("GET", "app/changes?class=Dog&limit=1", nil, [("Accept", "application/ejson")])
        #expect(ejson["Content-Type"] == "application/ejson" && ejson.text.contains("$numberLong"))
    }

    @Test func `without waiting, next is never older than what the client has seen`() throws {
        let fixture = try ChangeFixture()
        var next = try fixture.server.poll("app", PollTests.dogs)["next"]?.text ?? ""
        for id in 10..<40 {
            let version = try fixture.write(id % 2 == 0 ? fixture.create(id) : fixture.patch(#"{"age":1}"#))
            let answer = try fixture.server.poll("app", PollTests.dogs + "&since=\(next)")
            #expect(answer["next"]?.text == version)
            #expect(answer["changes"]?.elements?.count == (id % 2 == 0 ? 1 : 0))
            next = version
        }
    }

    @Test func `a waiting poll ends with the first commit that concerns it, and not with another`() throws {
        let fixture = try ChangeFixture()
        let next = try fixture.server.poll("app", PollTests.dogs)["next"]?.text ?? ""
        let client = try HTTPClient(port: fixture.server.port)
        try client.send("GET /v1/realms/app/changes?\(PollTests.dogs)&since=\(next)&wait=50 HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
        #expect(try eventually { try fixture.server.metric("waiting_polls") == 1 })
        try fixture.write(fixture.patch(#"{"age":1}"#))
        #expect(try fixture.server.metric("waiting_polls") == 1)
        let version = try fixture.write(fixture.create(9))
        let answer = try client.readAnswer()
        let json = try ParsedJSON(parsing: answer.body)
        #expect(json["next"]?.text == version && json["changes"]?.elements?.count == 1)
        #expect(json["changes"]?.elements?.first?["from"]?.text == next)
    }

    @Test func `a poll that waits in vain answers when its time is over`() throws {
        let fixture = try ChangeFixture()
        let next = try fixture.server.poll("app", PollTests.dogs)["next"]?.text ?? ""
        let answer = try fixture.server.poll("app", PollTests.dogs + "&since=\(next)&wait=1")
        #expect(answer.serialized == "{\"changes\":[],\"snapshots\":[],\"reset\":null,\"schema\":null,\"next\":\"\(next)\"}")
    }

    @Test func `since=now tells only where now is; initial=false the same at the first call`() throws {
        let fixture = try ChangeFixture()
        let version = try fixture.write(fixture.create(9))
        for query in ["since=now", "initial=false"] {
            let answer = try fixture.server.poll("app", PollTests.dogs + "&" + query + "&wait=30")
            #expect(answer["next"]?.text == version && answer["snapshots"]?.elements?.isEmpty == true)
        }
    }

    @Test func `polls and streams share positions: a client may switch at any time`() throws {
        let fixture = try ChangeFixture()
        var next = try fixture.server.poll("app", PollTests.dogs)["next"]?.text ?? ""
        for id in 10..<20 {
            let version = try fixture.write(fixture.create(id))
            if id % 2 == 0 {
                let stream = try fixture.server.stream("app", PollTests.dogs, [("Last-Event-ID", next)])
                #expect(try stream.next("changes").id == version)
                #expect(try stream.next("ready").id == version)
            } else {
                #expect(try fixture.server.poll("app", PollTests.dogs + "&since=\(next)")["changes"]?.elements?.count == 1)
            }
            next = version
        }
    }

    @Test func `an answer stops at a version when it gets long, and the next one goes on`() throws {
        let fixture = try ChangeFixture()
        let query = "class=Dog"
        let stream = try fixture.server.stream("app", query)
        _ = try stream.next("snapshot")
        var next = try stream.next("ready").id ?? ""
        let text = String(repeating: "y", count: 300_000)
        for id in 10..<18 {
            try fixture.write("{\"create\":{\"class\":\"Dog\",\"body\":{\"_id\":\(id),\"name\":\"\(text)\",\"age\":1}}}")
            _ = try stream.next("changes")
        }
        var sets = 0
        var answers = 0
        while sets < 8, answers < 9 {
            let answer = try fixture.server.poll("app", query + "&since=\(next)")
            for set in answer["changes"]?.elements ?? [] {
                #expect(set["from"]?.text == next)
                next = set["to"]?.text ?? ""
                sets += 1
            }
            #expect(answer["next"]?.text == next)
            answers += 1
        }
        #expect(sets == 8 && answers > 1)
    }

    @Test func `a client that waits is told at its turn when the definition ends`() throws {
        let fixture = try ChangeFixture()
        let query = ChangeFixture.query(["class": "Dog", "where": "name == 'd1'"])
        let next = try fixture.server.poll("app", query)["next"]?.text ?? ""
        let client = try HTTPClient(port: fixture.server.port)
        try client.send("GET /v1/realms/app/changes?\(query)&since=\(next)&wait=50 HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
        #expect(try eventually { try fixture.server.metric("waiting_polls") == 1 })
        let start = try fixture.server.must("GET", "app/schema")["schemaVersion"]?.integer ?? 0
        try fixture.server.must(
            "POST", "app/migrations",
            "{\"fromVersion\":\(start),\"toVersion\":\(start + 1),\"allowDataLoss\":true,\"steps\":[{\"removeProperty\":{\"class\":\"Dog\",\"name\":\"name\"}}]}"
        )
        let answer = try client.readAnswer()
        #expect(answer.status == 400 && answer.code == "unknown_key_path")
    }
}

@Suite("Definitions and parameters that make no sense")
struct ChangeErrorTests {
    @Test(arguments: [
        ("class=Nobody", 404, "class_not_found"), ("class=Dog&key=77", 404, "object_not_found"),
        ("class=Dog&where=agee%20%3E%203", 400, "unknown_key_path"), ("class=Dog&where=age%20%3E", 400, "invalid_query"),
        ("class=Dog&sort=agee", 400, "unknown_key_path"), ("class=Dog&fields=agee", 400, "unknown_key_path"),
        ("class=Dog&keyPaths=agee", 400, "unknown_key_path"), ("class=Dog&keyPaths=age.x", 400, "unknown_key_path"),
        ("class=Dog&keyPaths=a..b", 400, "unknown_key_path"), ("class=Dog&keyPaths=age,,name", 400, "unknown_key_path"),
        ("class=Dog&keyPaths=age&shallow=true", 400, "conflicting_parameters"),
        ("where=TRUEPREDICATE", 400, "conflicting_parameters"), ("key=3", 400, "conflicting_parameters"),
        ("class=Dog&property=age", 400, "conflicting_parameters"),
        ("class=Dog&key=1&where=age%3E3", 400, "conflicting_parameters"),
        ("class=Dog&key=1&property=nothing", 400, "unknown_key_path"),
        ("class=Dog&key=1&property=age", 400, "invalid_parameter"),
        ("class=Dog&key=1&property=mate", 400, "invalid_parameter"),
        ("class=Person&key=ann&property=kids%5B9%5D", 404, "object_not_found"),
        ("class=Person&key=ann&property=tags&keyPaths=x", 400, "unknown_key_path"),
        ("class=Dog&where=TRUEPREDICATE%20LIMIT(3)&limit=2", 400, "conflicting_parameters"),
        ("class=Dog&where=TRUEPREDICATE%20SORT(age%20ASC)&sort=age", 400, "conflicting_parameters"),
        ("class=Dog&sectionBy=age&sort=name", 400, "conflicting_parameters"),
        ("class=Dog&section=3", 400, "conflicting_parameters"),
        ("class=Dog&sectionBy=age:first", 400, "invalid_parameter"),
        ("class=Dog&sectionBy=age:nothing", 400, "invalid_parameter"),
        ("class=Dog&include=some", 400, "invalid_parameter"), ("class=Dog&wait=56", 400, "invalid_parameter"),
        ("class=Dog&wait=1.5", 400, "invalid_parameter"), ("class=Dog&hb=loud", 400, "invalid_parameter"),
        ("class=Dog&initial=maybe", 400, "invalid_parameter"), ("class=Dog&clas=x", 400, "unknown_parameter"),
        ("class=Dog&snapshot=x", 400, "conflicting_parameters"), ("subscription=s_x", 404, "not_found"),
        ("ticket=x", 404, "not_found"),
        ("subscription=s_x&class=Dog", 400, "conflicting_parameters"),
        ("subscription=s_x&ticket=y", 400, "conflicting_parameters"),
    ])
    func `each is refused before anything is observed, by both transports`(_ row: (query: String, status: Int, code: String))
        throws
    {
        let server = ChangeErrorTests.fixture
        for accept in ["application/json", "text/event-stream"] {
            let answer = try server.server.send("GET", "app/changes?" + row.query, nil, [("Accept", accept)])
            #expect(answer.status == row.status && answer.code == row.code, "\(row.query): \(answer.status) \(answer.text)")
        }
    }

    private static let fixture: ChangeFixture = {
        do { return try ChangeFixture() } catch { preconditionFailure("no server: \(error)") }
    }()

    @Test func `changes is only for GET; HEAD and other methods are 405, and formats that it does not have 406`() throws {
        let server = ChangeErrorTests.fixture.server
        for method in ["HEAD", "POST", "PUT", "DELETE"] {
            let answer = try server.send(method, "app/changes?class=Dog")
            #expect(answer.status == 405 && answer["Allow"] == "GET, OPTIONS", "\(method)")
        }
        #expect(try server.send("GET", "app/changes?class=Dog", nil, [("Accept", "text/csv")]).status == 406)
        #expect(try server.send("GET", "app/subscriptions").status == 405)
        #expect(try server.send("GET", "none/changes?class=Dog").status == 404)
        let inside = try server.send("GET", "app/changes?class=Dog", nil, [("Realm-Transaction", "x")])
        #expect(inside.status == 400 && inside.code == "conflicting_parameters")
    }

    @Test func `limits of streams, in all and per client, and of registrations and their names`() throws {
        let fixture = try ChangeFixture { options in
            options.limits.streams = 3
            options.limits.streamsPerPrincipal = 2
            options.limits.registrations = 1
            options.limits.registrationNames = 2
        }
        let streams = try (0..<2).map { _ in try fixture.server.stream("app", "class=Dog") }
        let third = try fixture.server.send("GET", "app/changes?class=Dog")
        #expect(third.status == 429 && third.code == "too_many_streams" && third["Retry-After"] != nil)
        #expect(third.json["limit"]?.int == 2)
        withExtendedLifetime(streams) {}
        try fixture.server.must("POST", "app/subscriptions", #"{"subscriptions":{"a":{}}}"#)
        let second = try fixture.server.send("POST", "app/subscriptions", #"{"subscriptions":{"a":{}}}"#)
        #expect(second.status == 429 && second.code == "too_many_streams")
        let many = try fixture.server.send("POST", "app/subscriptions", #"{"subscriptions":{"a":{},"b":{},"c":{}}}"#)
        #expect(many.status == 400 && many.code == "invalid_body")
        let none = try ChangeFixture { $0.limits.streams = 0 }
        #expect(try none.server.send("GET", "app/changes?class=Dog").code == "overloaded")
    }
}
