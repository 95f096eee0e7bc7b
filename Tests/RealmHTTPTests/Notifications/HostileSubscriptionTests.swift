// SPDX-License-Identifier: Apache-2.0

import Foundation
import MicroHTTP
import RealmAccess
import RealmFormats
import RealmHTTP
import RealmHosting
import RealmPlatform
import RealmStorage
import RealmTestSupport
import Synchronization
import Testing

@Suite("Requests for changes that mean no good")
struct HostileSubscriptionTests {
    private static let dogs = ChangeFixture.query(["class": "Dog", "include": "keys"])

    // MARK: - Too many

    @Test func `registrations are bounded for each client, also when they come at once; what is deleted makes room`() throws {
        let fixture = try ChangeFixture { $0.limits.registrations = 40 }
        let port = fixture.server.port
        let answers = Mutex<(made: [String], refused: Int, others: [String])>(([], 0, []))
        let threads = (0..<6).map { _ in
            StoppingThread {
                for _ in 0..<30 {
                    let answer = try? HTTPClient.request(
                        port: port, "POST", "/v1/realms/app/subscriptions", headers: [("Content-Type", "application/json")],
                        body: Array(
                            #"{"subscriptions":{"a":{"class":"Dog","include":"none"},"b":{"class":"Dog","where":"age > 2"}}}"#
                                .utf8))
                    answers.withLock { answers in
                        switch (answer?.status, answer?.code) {
                        case (201, _): answers.made.append(answer?.json["id"]?.text ?? "")
                        case (429, "too_many_streams"?): answers.refused += 1
                        default: answers.others.append("\(answer?.status ?? 0) \(answer?.text ?? "")")
                        }
                    }
                }
            }
        }
        for thread in threads { thread.wait() }
        let (made, refused, others) = answers.withLock { $0 }
        #expect(made.count == 40 && refused == 140 && others == [])
        #expect(try fixture.server.metric("registrations") == 40)
        #expect(try fixture.server.metric("observed_definitions") ?? 9 <= 2)
        for id in made { #expect(try fixture.server.send("DELETE", "app/subscriptions/\(id)").status == 204) }
        #expect(try fixture.server.metric("registrations") == 0)
        // A definition that is refused takes no room.
        for _ in 0..<50 {
            #expect(
                try fixture.server.send(
                    "POST", "app/subscriptions", #"{"subscriptions":{"a":{"class":"Dog"},"b":{"class":"No"}}}"#
                ).status == 404)
        }
        for _ in 0..<40 { try fixture.server.must("POST", "app/subscriptions", #"{"subscriptions":{"a":{}}}"#) }
        #expect(try fixture.server.send("POST", "app/subscriptions", #"{"subscriptions":{"a":{}}}"#).status == 429)
    }

    @Test func `definitions that nobody reads any more are kept up to a number, those that are read always`() throws {
        let fixture = try ChangeFixture { $0.limits.idleDefinitions = 16 }
        let stream = try fixture.server.stream("app", "class=Dog&where=age%20%3C%20-1&include=keys")
        _ = try stream.next("snapshot")
        _ = try stream.next("ready")
        for number in 0..<200 { _ = try fixture.server.poll("app", "class=Dog&include=none&where=age%20%3C%20\(number)") }
        #expect(try fixture.server.metric("observed_definitions") ?? 99 <= 17)
        let version = try fixture.write(fixture.create(9, age: -5))
        #expect(try stream.next("changes").id == version)
    }

    /// Each realm, and each scope of what clients may see of it, kept as many.
    @Test func `definitions that nobody reads any more are bounded for the whole server`() throws {
        let server = try ChangeServer { $0.limits.idleDefinitions = 16 }
        for realm in 0..<8 { try server.makeRealm("r\(realm)", classes: ChangeFixture.classes) }
        let stream = try server.stream("r0", "class=Dog&where=age%20%3C%20-1&include=keys")
        _ = try stream.next("snapshot")
        _ = try stream.next("ready")
        for number in 0..<10 {
            for realm in 0..<8 { _ = try server.poll("r\(realm)", "class=Dog&include=none&where=age%20%3C%20\(number)") }
        }
        #expect(try server.metric("observed_definitions") ?? 99 <= 17)
        // Those that were read last are still observed, in whatever realm they are.
        let before = try server.metric("observed_definitions")
        for realm in 0..<8 { _ = try server.poll("r\(realm)", "class=Dog&include=none&where=age%20%3C%209") }
        #expect(try server.metric("observed_definitions") == before)
        let version = try server.batch("r0", [#"{"create":{"class":"Dog","body":{"_id":9,"age":-5}}}"#])
        #expect(try stream.next("changes").id == version)
    }

    @Test func `fifty subscriptions on one stream, with long lists of key paths`() throws {
        let fixture = try ChangeFixture()
        let paths = (0..<1000).map { _ in "\"name\"" }.joined(separator: ",")
        let members = (0..<50).map {
            "\"s\($0)\":{\"class\":\"Dog\",\"keyPaths\":[\(paths)],\"include\":\"none\",\"where\":\"age < \($0)\"}"
        }
        let answer = try fixture.server.must(
            "POST", "app/subscriptions", "{\"subscriptions\":{\(members.joined(separator: ","))}}")
        let stream = try EventClient(port: fixture.server.port, answer["url"]?.text ?? "")
        for _ in 0..<50 { _ = try stream.next("snapshot") }
        _ = try stream.next("ready")
        let version = try fixture.write(fixture.create(9, age: 0))
        var count = 0
        repeat { count += 1 } while try stream.next("changes").id != version
        #expect(count == 49)
        #expect(
            try fixture.server.must("GET", "app/subscriptions/\(answer["id"]?.text ?? "")")["subscriptions"]?.members?.count == 50
        )
        let more = members + ["\"s50\":{}"]
        let refused = try fixture.server.send("POST", "app/subscriptions", "{\"subscriptions\":{\(more.joined(separator: ","))}}")
        #expect(refused.status == 400 && refused.code == "invalid_body")
    }

    @Test(arguments: [
        ("keyPaths", String(repeating: "name,", count: 999) + "name", 200, ""),
        ("keyPaths", String(repeating: "name,", count: 1000) + "name", 400, "invalid_parameter"),
        ("keyPaths", "mate" + String(repeating: ".mate", count: 1400) + ".age", 400, "unknown_key_path"),
        ("keyPaths", String(repeating: "*,", count: 999) + "*", 200, ""),
        ("keyPaths", String(repeating: ".", count: 7000), 400, "unknown_key_path"),
        ("keyPaths", "mate" + String(repeating: ".mate", count: 1400) + ".no", 400, "unknown_key_path"),
        ("fields", "mate" + String(repeating: ".mate", count: 1400), 400, "invalid_parameter"),
        ("fields", "mate" + String(repeating: ".mate", count: 64), 400, "invalid_parameter"),
        ("fields", "mate" + String(repeating: ".mate", count: 63), 200, ""),
        ("expand", "mate" + String(repeating: ".mate", count: 1400), 400, "invalid_parameter"),
        ("sort", "mate" + String(repeating: ".mate", count: 1400) + ".age", 0, ""),
        ("distinct", "mate" + String(repeating: ".mate", count: 1400) + ".age", 0, ""),
        ("sectionBy", "mate" + String(repeating: ".mate", count: 1400) + ".age", 0, ""),
        ("sort", String(repeating: "age,", count: 1500) + "name", 0, ""),
        ("distinct", String(repeating: "age,", count: 1500) + "name", 0, ""),
        ("where", String(repeating: "(", count: 2300) + "age == 1" + String(repeating: ")", count: 2300), 0, ""),
        ("where", String(repeating: "NOT ", count: 1700) + "age == 1", 0, ""),
        ("where", "mate" + String(repeating: ".mate", count: 1400) + ".age == 1", 0, ""),
        ("property", "home" + String(repeating: ".home", count: 1400), 400, ""),
        ("property", "kids" + String(repeating: "[0]", count: 2000), 400, ""),
        ("sectionBy", String(repeating: "x", count: 7000), 400, "unknown_key_path"),
        ("args", String(repeating: "[", count: 7000), 400, "invalid_parameter"),
    ])
    func `lists of key paths as long as a request may be, and deeper than links go`(
        _ row: (name: String, value: String, status: Int, code: String)
    ) throws {
        let server = HostileSubscriptionTests.fixture.server
        let owner = row.name == "property" ? "class=Person&key=ann" : "class=Dog"
        for accept in ["application/json", "text/event-stream"] {
            let client = try RawConnection(
                port: server.port,
                "/v1/realms/app/changes?\(owner)&include=keys&\(row.name)=\(row.value.replacing(" ", with: "%20"))",
                accept: accept)
            #expect(client.read(until: "\r\n\r\n"), "\(row.name) \(accept)")
            let status = Int(client.text.split(separator: " ").dropFirst().first ?? "") ?? 0
            #expect(
                row.status == 0 ? (200..<500).contains(status) : status == row.status, "\(row.name): \(client.text.prefix(600))")
            #expect(row.code.isEmpty || client.read(until: "\"code\":\"\(row.code)\""), "\(row.name): \(client.text.suffix(300))")
        }
        #expect(try server.poll("app", "class=Dog&since=now")["reset"] == .null)
    }

    // MARK: - Positions

    @Test(arguments: [
        String(repeating: "x", count: 8000), "zzzzzz.18446744073709551615", "zzzzzz.99999999999999999999999999", ".", "..",
        "-1", "EPOCH.",
        "EPOCH.-1", "EPOCH.18446744073709551615", "EPOCH.18446744073709551616", "EPOCH.9223372036854775807", "EPOCH.1.1",
        "EPOCH. 3", "EPOCH.0x3", "EPOCH.1",
        "EPOCH.0", "epoch", "null", "\u{1}", "%00",
    ])
    func `a position of nowhere begins anew, whatever it is made of`(_ text: String) throws {
        let server = HostileSubscriptionTests.fixture.server
        let now = try server.poll("app", "class=Dog&since=now")["next"]?.text ?? ""
        let epoch = now.split(separator: ".").first.map(String.init) ?? ""
        let position = text.replacing("EPOCH", with: epoch)
        // A definition of its own, which remembers nothing of before.
        let query =
            "class=Dog&include=keys&where=" + ChangeServer.encode("name != '\(text.prefix(20).utf8.map(String.init).joined())'")
        let answer = try server.send("GET", "app/changes?\(query)&since=\(ChangeServer.encode(position))")
        let json = try ParsedJSON(parsing: answer.body)
        let limits = [400, 414]
        #expect(answer.status == 200 || limits.contains(answer.status), "\(text.prefix(60)): \(answer.text)")
        if answer.status == 200 {
            #expect(["epoch", "retention"].contains(json["reset"]?["reason"]?.text ?? ""), "\(text): \(answer.text.prefix(300))")
            #expect(json["snapshots"]?.elements?.first?["count"]?.integer == 5 && json["next"]?.text == now)
        }
        guard !text.utf8.contains(where: { $0 < 0x20 }) else { return }
        let stream = try server.stream("app", query, [("Last-Event-ID", position)])
        let reset = try stream.next("reset")
        #expect(["epoch", "retention"].contains(reset.json["reason"]?.text ?? ""))
        #expect(try stream.next("snapshot").json["count"]?.integer == 5 && stream.next("ready").id == now)
    }

    @Test(arguments: ["Last-Event-ID", "Realm-Without-Notifying"])
    func `a header field longer than a header may be is refused`(_ name: String) throws {
        let fixture = try ChangeFixture { $0.limits.http.headerBytes = 8 << 10 }
        let value = String(repeating: "k3f9q2.1", count: 1200)
        let answer =
            name == "Last-Event-ID"
            ? try fixture.server.send("GET", "app/changes?class=Dog", nil, [("Accept", "text/event-stream"), (name, value)])
            : try fixture.server.send("POST", "app/batch", "{\"ops\":[]}", [(name, value)])
        #expect(answer.status == 431 && answer.code == "headers_too_large", "\(answer.text)")
    }

    @Test(arguments: ["-1", "56", "1e1", "9223372036854775808", "0x10", "", " 1", "1,2", "true"])
    func `numbers that are none, or out of range, are told`(_ text: String) throws {
        let answer = try HostileSubscriptionTests.fixture.server.send(
            "GET", "app/changes?class=Dog&wait=\(ChangeServer.encode(text))")
        #expect(
            answer.status == 400 && answer.code == "invalid_parameter" && answer.json["parameter"]?.text == "wait",
            "\(answer.text)")
        let limit = try HostileSubscriptionTests.fixture.server.send(
            "GET", "app/changes?class=Dog&limit=\(ChangeServer.encode(text))")
        #expect(limit.status == 400 || ["56"].contains(text), "\(limit.text)")
    }

    // MARK: - The protocol

    @Test func `a client of HTTP/1.0 has a stream without chunks, and its connection ends with it`() throws {
        let fixture = try ChangeFixture()
        let client = try RawConnection(port: fixture.server.port)
        try client.send(
            "GET /v1/realms/app/changes?\(HostileSubscriptionTests.dogs) HTTP/1.0\r\nHost: 127.0.0.1\r\nAccept: text/event-stream\r\n\r\n"
        )
        #expect(client.read(until: "event: ready"))
        #expect(
            !client.text.lowercased().contains("transfer-encoding")
                && client.text.contains("\r\n\r\nretry: 2000\n: realm-rest\n\n"))
        let version = try fixture.write(fixture.create(9))
        #expect(
            client.read(until: "event: changes\nid: \(version)\ndata: {") || client.read(until: "id: \(version)", seconds: 5),
            "\(client.text)")
        let poll = try RawConnection(port: fixture.server.port)
        try poll.send(
            "GET /v1/realms/app/changes?\(HostileSubscriptionTests.dogs)&since=\(version)&wait=1 HTTP/1.0\r\nHost: 127.0.0.1\r\n\r\n"
        )
        #expect(poll.readToEnd() && poll.text.contains("\"next\":\"\(version)\""))
    }

    @Test func `what follows a request for a stream is not read; what follows a poll is answered after it`() throws {
        let fixture = try ChangeFixture()
        let port = fixture.server.port
        let get = "GET /v1/realms/app/objects/Dog/1 HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n"
        let stream = try RawConnection(port: port)
        try stream.send(
            "GET /v1/realms/app/changes?\(HostileSubscriptionTests.dogs) HTTP/1.1\r\nHost: 127.0.0.1\r\nAccept: text/event-stream\r\n\r\n"
                + String(repeating: get, count: 50))
        #expect(stream.read(until: "event: ready"))
        let version = try fixture.write(fixture.create(9))
        #expect(stream.read(until: "id: \(version)"))
        #expect(stream.text.components(separatedBy: "HTTP/1.1 ").count == 2)
        let poll = try RawConnection(port: port)
        try poll.send(
            "GET /v1/realms/app/changes?\(HostileSubscriptionTests.dogs)&since=\(version)&wait=55 HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n"
                + get)
        #expect(try eventually { try fixture.server.metric("waiting_polls") == 1 })
        try fixture.write(fixture.create(10))
        #expect(poll.read(until: "\"_id\":1") && poll.text.components(separatedBy: "HTTP/1.1 200").count == 3)
    }

    @Test(arguments: [
        ("text/event-stream", 200, "text/event-stream"), ("TEXT/Event-Stream", 200, "text/event-stream"),
        ("text/event-stream;q=0.5, application/json;q=0.1", 200, "text/event-stream"), ("*/*", 200, "application/json"),
        ("text/*", 406, ""), ("application/json", 200, "application/json"), ("text/event-stream;q=0", 406, ""),
        ("text/html", 406, "application/problem+json"),
        ("application/json, text/event-stream;q=0", 200, "application/json"),
        ("text/event-stream;charset=utf-8", 200, "text/event-stream"),
        (",,,;;;", 406, ""), (String(repeating: "a/b,", count: 1500), 406, "application/problem+json"),
        ("", 200, "application/json"),
    ])
    func `what kind of answer it is follows from Accept`(_ row: (accept: String, status: Int, type: String)) throws {
        let client = try RawConnection(
            port: HostileSubscriptionTests.fixture.server.port, "/v1/realms/app/changes?" + HostileSubscriptionTests.dogs,
            accept: row.accept)
        #expect(client.read(until: "\r\n\r\n"))
        let status = Int(client.text.split(separator: " ").dropFirst().first ?? "") ?? 0
        #expect(row.status == 0 ? (200..<500).contains(status) : status == row.status, "\(row.accept.prefix(40)): \(client.text)")
        if !row.type.isEmpty {
            #expect(client.text.contains("Content-Type: \(row.type)"), "\(row.accept.prefix(40)): \(client.text)")
        }
    }

    @Test func `polls are packed for those who take that, streams never`() throws {
        let fixture = try ChangeFixture()
        try fixture.server.batch("app", (100..<400).map { fixture.create($0) })
        let packed = try fixture.server.send("GET", "app/changes?class=Dog", nil, [("Accept-Encoding", "gzip")])
        let plain = try fixture.server.send("GET", "app/changes?class=Dog")
        #expect(packed["Content-Encoding"] == "gzip" && packed.body.count < plain.body.count / 4)
        #expect(packed["Content-Length"] == String(packed.body.count))
        let stream = try fixture.server.stream("app", "class=Dog", [("Accept-Encoding", "gzip, deflate, br, *")])
        #expect(stream.header("Content-Encoding") == nil)
        #expect(try stream.next("snapshot").json["count"]?.integer == 305)
    }

    @Test(arguments: [
        ("POST", "/v1/realms/app/changes?class=Dog", 405), ("HEAD", "/v1/realms/app/changes?class=Dog", 405),
        ("GET", "/v1/realms/app/changes/", 404),
        ("GET", "/v1/realms/app/changes/x", 404), ("GET", "/v1/realms/app//changes", 404),
        ("PUT", "/v1/realms/app/subscriptions", 405),
        ("DELETE", "/v1/realms/app/subscriptions", 405), ("GET", "/v1/realms/app/subscriptions/%00", 404),
        ("DELETE", "/v1/realms/app/subscriptions/..", 404),
        ("GET", "/v1/realms/app/changes?subscription=%F0%28%8C%28", 400), ("GET", "/v1/realms/app/changes?ticket=", 404),
        ("QUERY", "/v1/realms/app/changes", 405),
    ])
    func `no body, no method and no second path makes a stream of something else`(
        _ row: (method: String, target: String, status: Int)
    ) throws {
        let answer = try HTTPClient.request(
            port: HostileSubscriptionTests.fixture.server.port, row.method, row.target,
            headers: [("Accept", "text/event-stream, application/json")])
        #expect(answer.status == row.status, "\(row.method) \(row.target): \(answer.status) \(answer.text)")
    }

    @Test(arguments: [
        "", "null", "[]", "3", "{\"subscriptions\":null}", "{\"subscriptions\":[]}", "{\"subscriptions\":{\"\":{}}}",
        "{\"subscriptions\":{\"a\":null}}",
        "{\"subscriptions\":{\"a\":{\"class\":3}}}", "{\"subscriptions\":{\"a\":{\"class\":\"Dog\",\"limit\":1.5}}}",
        "{\"subscriptions\":{\"a\":{\"class\":\"Dog\",\"sort\":[3]}}}",
        "{\"subscriptions\":{\"a\":{\"class\":\"Dog\",\"args\":{}}}}",
        "{\"subscriptions\":{\"a\":{\"class\":\"Dog\",\"shallow\":\"maybe\"}}}", "{\"subscriptions\":{\"a\":{},\"a\":{}}}",
        "{\"subscriptions\":{\"a\":{}}",
        "{\"subscriptions\":{\"a\":{\"class\":\"Dog\",\"key\":{}}}}",
        "{\"subscriptions\":{\"a\":{\"class\":\"Dog\\u0000\"}}}",
    ])
    func `bodies of registrations that are none`(_ body: String) throws {
        let answer = try HostileSubscriptionTests.fixture.server.send("POST", "app/subscriptions", body)
        #expect((400..<500).contains(answer.status) && answer.code != nil, "\(body): \(answer.status) \(answer.text)")
    }

    private static let fixture: ChangeFixture = {
        do { return try ChangeFixture() } catch { preconditionFailure("no server: \(error)") }
    }()
}
