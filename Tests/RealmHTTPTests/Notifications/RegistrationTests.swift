// SPDX-License-Identifier: Apache-2.0

import RealmAccess
import RealmFormats
import RealmHTTP
import RealmHosting
import RealmTestSupport
import Testing

@Suite("Registered subscriptions (A23, D45)")
struct RegistrationTests {
    private static let body =
        #"{"subscriptions":{"dogs":{"class":"Dog","where":"age > $0","args":[3],"sort":["-age"]},"ann":{"class":"Person","key":"ann"}}}"#

    @Test func `a registration tells where to read it, and from which version on everything is observed`() throws {
        let fixture = try ChangeFixture()
        let answer = try fixture.server.send("POST", "app/subscriptions", RegistrationTests.body)
        let json = try ParsedJSON(parsing: answer.body)
        let id = json["id"]?.text ?? ""
        #expect(
            answer.status == 201 && answer["Location"] == "/v1/realms/app/subscriptions/\(id)"
                && answer["Cache-Control"] == "no-store")
        #expect(json.members?.map(\.name) == ["id", "url", "version", "expiresAt"])
        #expect(json["url"]?.text?.hasPrefix("/v1/realms/app/changes?ticket=") == true)
        let document = try fixture.server.must("GET", "app/subscriptions/\(id)")
        let sent = try ParsedJSON(parsing: Array(RegistrationTests.body.utf8))
        #expect(document["subscriptions"]?.serialized == sent["subscriptions"]?.serialized)
        #expect(document["streams"]?.integer == 0 && document["expiresAt"] != .null && document["version"] == json["version"])
        let version = try fixture.write(fixture.create(9, age: 9), fixture.patch(#"{"age":8}"#))
        // The version of the registration is a beginning.
        let poll = try fixture.server.poll("app", "subscription=\(id)&since=\(json["version"]?.text ?? "")")
        #expect(poll["changes"]?.elements?.map { $0["sub"]?.text } == ["dogs", "ann"] && poll["next"]?.text == version)
        let stream = try EventClient(port: fixture.server.port, json["url"]?.text ?? "")
        _ = try stream.next("snapshot")
        let open = try fixture.server.must("GET", "app/subscriptions/\(id)")
        #expect(open["streams"]?.integer == 1 && open["expiresAt"] == .null)
    }

    @Test func `D45: deleting one ends its streams, and answers its polls 410; later it is 410, and a second deletion 404`()
        throws
    {
        let fixture = try ChangeFixture()
        let json = try fixture.server.must("POST", "app/subscriptions", RegistrationTests.body)
        let id = json["id"]?.text ?? ""
        let stream = try EventClient(port: fixture.server.port, json["url"]?.text ?? "")
        while let event = try stream.next(), event.name != "ready" {}
        let client = try HTTPClient(port: fixture.server.port)
        try client.send(
            "GET /v1/realms/app/changes?subscription=\(id)&since=\(json["version"]?.text ?? "")&wait=50 HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n"
        )
        #expect(try eventually { try fixture.server.metric("waiting_polls") == 1 })
        #expect(try fixture.server.send("DELETE", "app/subscriptions/\(id)").status == 204)
        #expect(try stream.next("end").json["reason"]?.text == "deleted")
        #expect(try stream.next() == nil)
        let poll = try client.readAnswer()
        #expect(poll.status == 410 && poll.code == "subscription_expired")
        #expect(try fixture.server.send("GET", "app/subscriptions/\(id)").code == "subscription_expired")
        #expect(try fixture.server.send("GET", "app/changes?subscription=\(id)").code == "subscription_expired")
        #expect(try HTTPClient.request(port: fixture.server.port, "GET", json["url"]?.text ?? "").status == 410)
        #expect(try fixture.server.send("DELETE", "app/subscriptions/\(id)").status == 404)
        #expect(try fixture.server.metric("registrations") == 0)
    }

    @Test func `A23: one that nobody reads ends after its time, and lives while it is read`() throws {
        let fixture = try ChangeFixture { $0.limits.registrationSeconds = 1 }
        let json = try fixture.server.must("POST", "app/subscriptions", RegistrationTests.body)
        var stream: EventClient? = try EventClient(port: fixture.server.port, json["url"]?.text ?? "")
        _ = try stream?.next("snapshot")
        let other = try fixture.server.must("POST", "app/subscriptions", RegistrationTests.body)["id"]?.text ?? ""
        #expect(try eventually { try fixture.server.send("GET", "app/subscriptions/\(other)").status == 410 })
        let id = json["id"]?.text ?? ""
        #expect(try fixture.server.send("GET", "app/subscriptions/\(id)").status == 200)
        stream = nil
        #expect(try eventually { try fixture.server.send("GET", "app/subscriptions/\(id)").status == 410 })
    }

    @Test(arguments: [
        (#"{"subscriptions":{}}"#, "invalid_body", "/subscriptions"), (#"{}"#, "invalid_body", "/subscriptions"),
        (#"{"subscriptions":{"a b":{}}}"#, "invalid_body", "/subscriptions/a b"),
        (#"{"subscriptions":{"a":3}}"#, "invalid_body", "/subscriptions/a"),
        (#"{"subs":{}}"#, "invalid_body", "/subs"),
        (#"{"subscriptions":{"a":{"clas":"Dog"}}}"#, "unknown_parameter", "/subscriptions/a/clas"),
        (#"{"subscriptions":{"a":{"class":"Dog","limit":-1}}}"#, "invalid_parameter", "/subscriptions/a/limit"),
        (#"{"subscriptions":{"a":{"class":"Dog","where":"x == 1"}}}"#, "unknown_key_path", "/subscriptions/a/where"),
        (
            #"{"subscriptions":{"a":{"class":"Dog","args":[{"$x":1}],"where":"age == $0"}}}"#, "invalid_parameter",
            "/subscriptions/a/args/0"
        ),
        (#"{"subscriptions":{"a":{"class":"Dog","keyPaths":["x"]}}}"#, "unknown_key_path", "/subscriptions/a/keyPaths"),
        (#"{"subscriptions":{"a":{"class":"Nobody"}}}"#, "class_not_found", "/subscriptions/a/class"),
        (#"{"subscriptions":{"a":{"class":"Dog","key":"99"}}}"#, "object_not_found", "/subscriptions/a/key"),
    ])
    func `mistakes in a definition name their place`(_ row: (body: String, code: String, pointer: String)) throws {
        let answer = try RegistrationTests.fixture.server.send("POST", "app/subscriptions", row.body)
        #expect(answer.code == row.code && answer.json["pointer"]?.text == row.pointer, "\(row.body): \(answer.text)")
    }

    private static let fixture: ChangeFixture = {
        do { return try ChangeFixture() } catch { preconditionFailure("no server: \(error)") }
    }()

    @Test(arguments: Transport.allCases)
    func `subscriptions of which others were told on the way are told side by side, without a gap`(_ transport: Transport) throws
    {
        let fixture = try ChangeFixture()
        let body = #"{"subscriptions":{"busy":{"class":"Dog","include":"keys"},"quiet":{"class":"Person","include":"keys"}}}"#
        let id = try fixture.server.must("POST", "app/subscriptions", body)["id"]?.text ?? ""
        let start = try fixture.server.poll("app", "subscription=\(id)")["next"]?.text ?? ""
        // Somebody waits for the dogs alone, so they are told of every commit, and the people of all of them at once.
        let other = try fixture.server.stream("app", "class=Dog&include=keys&initial=false")
        while let event = try other.next(), event.name != "ready" {}
        var versions: [String] = []
        for number in 10..<14 { versions.append(try fixture.write(fixture.create(number), fixture.patch("{\"age\":\(number)}"))) }
        for version in versions { #expect(try other.next()?.id == version) }
        var sets: [ParsedJSON] = []
        if transport == .polls {
            let answer = try fixture.server.poll("app", "subscription=\(id)&since=\(start)")
            #expect(answer["reset"] == .null && answer["next"]?.text == versions.last)
            sets = answer["changes"]?.elements ?? []
        } else {
            let stream = try fixture.server.stream("app", "subscription=\(id)", [("Last-Event-ID", start)])
            while let event = try stream.next(), event.name != "ready" {
                guard event.name == "changes" else { continue }
                sets.append(event.json)
                // Nobody could come back to the middle of what the people are told.
                #expect(event.id == nil || event.id == versions.last)
            }
        }
        let told = sets.map { [$0["sub"]?.text, $0["from"]?.text, $0["to"]?.text] }
        var expected: [[String?]] = zip([start] + versions, versions).map { ["busy", $0, $1] }
        expected.append(["quiet", start, versions.last])
        #expect(told == expected)
    }
}

@Suite("Writes that need no echo (A27)")
struct SkippingTests {
    @Test(arguments: Transport.allCases)
    func
        `A27, A31: the skipped subscription gets an empty set marked so, others get the changes, and the next commit reaches all`(
            _ transport: Transport
        ) throws
    {
        let fixture = try ChangeFixture()
        let body = #"{"subscriptions":{"a":{"class":"Dog","include":"keys"},"b":{"class":"Dog","include":"keys"}}}"#
        let json = try fixture.server.must("POST", "app/subscriptions", body)
        let id = json["id"]?.text ?? ""
        var next = json["version"]?.text ?? ""
        let stream =
            transport == .events
            ? try fixture.server.stream("app", "subscription=\(id)", [("Last-Event-ID", next)]) : nil
        if let stream { _ = try stream.next("ready") }
        func sets(_ count: Int) throws -> [ParsedJSON] {
            if let stream { return try (0..<count).map { _ in try stream.next("changes").json } }
            let answer = try fixture.server.poll("app", "subscription=\(id)&since=\(next)")
            next = answer["next"]?.text ?? ""
            return answer["changes"]?.elements ?? []
        }
        let start = next
        let first = try fixture.write(fixture.create(30), headers: [("Realm-Without-Notifying", "\(id)/a")])
        let told = try sets(2)
        #expect(
            told.map { $0["sub"]?.text } == ["a", "b"] && told.allSatisfy { $0["from"]?.text == start && $0["to"]?.text == first }
        )
        #expect(
            told[0].withoutVersions == #"{"skipped":true,"count":6,"deletions":[],"insertions":[],"modifications":[],"moves":[]}"#
        )
        #expect(
            told[1].withoutVersions
                == #"{"count":6,"deletions":[],"insertions":[{"index":5,"key":"30"}],"modifications":[],"moves":[]}"#)
        try fixture.write(fixture.create(31))
        let later = try sets(2)
        #expect(
            later.map(\.withoutVersions)
                == Array(
                    repeating: #"{"count":7,"deletions":[],"insertions":[{"index":6,"key":"31"}],"modifications":[],"moves":[]}"#,
                    count: 2))
        #expect(later[0]["from"]?.text == first)
        // Without a name all of the registration is meant, also where nothing would have been told.
        try fixture.write(fixture.patch(#"{"age":55}"#), headers: [("Realm-Without-Notifying", id)])
        #expect(try sets(2).map { $0["skipped"]?.isTrue } == [true, true])
    }

    /// A client that alone read what takes long had it evaluated for each of its own writes, and got a reset for most of them.
    @Test func `what takes long is not reset by writes of its only reader, which are skipped together`() throws {
        let server = try ChangeServer()
        let count = 25
        try server.makeRealm(
            "r",
            classes: """
                [{"name":"N","primaryKey":"_id","properties":[{"name":"_id","type":"int"},{"name":"v","type":"int"},
                {"name":"to","type":"object","objectType":"N","collection":"list"}]},
                {"name":"C","primaryKey":"_id","properties":[{"name":"_id","type":"int"}]}]
                """)
        try server.batch("r", (0..<count).map { #"{"create":{"class":"N","body":{"_id":\#($0),"v":1}}}"# })
        let all = (0..<count).map { "\"\($0)\"" }.joined(separator: ",")
        try server.batch("r", (0..<count).map { #"{"patch":{"class":"N","key":"\#($0)","body":{"to":[\#(all)]}}}"# })
        let definitions = """
            "long":{"class":"N","where":"v >= 0 AND NOT (ANY to.to.to.v == _id - 100)","include":"keys"},
            "cheap":{"class":"C","include":"keys"}
            """
        let registration = try server.must("POST", "r/subscriptions", #"{"subscriptions":{\#(definitions)}}"#)
        let (id, begin) = (registration["id"]?.text ?? "", registration["version"]?.text ?? "")
        let stream = try server.stream("r", "subscription=\(id)", [("Last-Event-ID", begin)])
        _ = try stream.next("ready")
        func write(_ value: Int, _ headers: [(String, String)] = []) throws -> String {
            let ops =
                #"{"create":{"class":"C","body":{"_id":\#(value)}}},{"patch":{"class":"N","key":"1","body":{"v":\#(value)}}}"#
            return try server.must("POST", "r/batch", #"{"ops":[\#(ops)]}"#, headers)["version"]?.text ?? ""
        }
        // Reads up to a version; the ends of the sets of the long definition, and whether they were skipped.
        func read(upTo version: String) throws -> [(to: String, isSkipped: Bool)] {
            var sets: [(to: String, isSkipped: Bool)] = []
            while let event = try stream.next() {
                try #require(event.name != "reset" && event.name != "snapshot", "\(event.name): \(event.data)")
                guard event.name == "changes" else { continue }
                if event.json["sub"]?.text == "long" {
                    sets.append((event.json["to"]?.text ?? "", event.json["skipped"]?.isTrue ?? false))
                }
                if sets.last?.to == version, event.id == version { break }
            }
            return sets
        }
        for value in 2..<4 { _ = try read(upTo: try write(value)) }
        let before = try server.metric("evaluations_total") ?? 0
        var own: [String] = []
        for value in 4..<34 { own.append(try write(value, [("Realm-Without-Notifying", "\(id)/long")])) }
        let last = try write(34)
        let sets = try read(upTo: last)
        let evaluations = (try server.metric("evaluations_total") ?? 0) - before
        #expect(sets.dropLast().allSatisfy { $0.isSkipped && own.contains($0.to) } && sets.last?.isSkipped == false, "\(sets)")
        #expect(sets.dropLast().last?.to == own.last)
        // The cheap definition is evaluated for each write.
        #expect(Int(evaluations) <= own.count + 1 + sets.count, "\(evaluations) evaluations, \(sets.count) sets")
    }

    @Test func `in an interactive transaction it goes on the commit`() throws {
        let fixture = try ChangeFixture()
        let json = try fixture.server.must(
            "POST", "app/subscriptions", #"{"subscriptions":{"a":{"class":"Dog","include":"none"}}}"#)
        let id = json["id"]?.text ?? ""
        let transaction = try fixture.server.must("POST", "app/transactions", nil)["id"]?.text ?? ""
        let inside = ("Realm-Transaction", transaction)
        try fixture.server.must("POST", "app/objects/Dog", #"{"_id":50,"age":1}"#, [inside])
        try fixture.server.must("POST", "app/transactions/\(transaction)/commit", nil, [("Realm-Without-Notifying", id)])
        let answer = try fixture.server.poll("app", "subscription=\(id)&since=\(json["version"]?.text ?? "")")
        #expect(answer["changes"]?.elements?.map(\.withoutVersions) == [#"{"skipped":true,"count":6}"#])
    }

    @Test func `A27, A32: an id that never was is refused, one that has ended is ignored; a failed write uses up nothing`() throws
    {
        let fixture = try ChangeFixture()
        func send(_ header: String, _ ops: String) throws -> HTTPClient.Answer {
            try fixture.server.send("POST", "app/batch", "{\"ops\":[\(ops)]}", [("Realm-Without-Notifying", header)])
        }
        let never = try send("s_never", fixture.create(60))
        #expect(
            never.status == 400 && never.code == "invalid_parameter"
                && never.json["header"]?.text == "Realm-Without-Notifying")
        let id = try fixture.server.must(
            "POST", "app/subscriptions", #"{"subscriptions":{"a":{"class":"Dog","include":"none"}}}"#)
        let name = id["id"]?.text ?? ""
        #expect(try send(name + "/b", fixture.create(60)).status == 400)
        #expect(try send(name, fixture.delete("Dog", "99")).status == 404)
        try fixture.write(fixture.create(61))
        let answer = try fixture.server.poll("app", "subscription=\(name)&since=\(id["version"]?.text ?? "")")
        #expect(answer["changes"]?.elements?.map(\.withoutVersions) == [#"{"count":6}"#])
        try fixture.server.must("DELETE", "app/subscriptions/\(name)")
        #expect(try send(name, fixture.create(62)).status == 200)
    }

    /// Writes after a restore or a restart were refused, because of a registration that a client still named.
    @Test func `one that has ended and is forgotten is ignored; what is no id, or that of another realm, is refused`() throws {
        let fixture = try ChangeFixture()
        func send(_ header: String) throws -> Int {
            try fixture.server.send(
                "POST", "app/batch", "{\"ops\":[\(fixture.patch(#"{"age":4}"#))]}", [("Realm-Without-Notifying", header)]
            ).status
        }
        let body = #"{"subscriptions":{"a":{"class":"Dog","include":"none"}}}"#
        // Of a server before a restart.
        let former = try #require(
            try ChangeFixture().server.must("POST", "app/subscriptions", body)["id"]?.text)
        #expect(try send(former) == 200)
        #expect(try send("\(former)/a, \(former)/b") == 200)
        try fixture.server.makeRealm("other", classes: ChangeFixture.classes)
        let other = try #require(try fixture.server.must("POST", "other/subscriptions", body)["id"]?.text)
        #expect(try send(other) == 400)
        // It ends with its realm.
        try fixture.server.must("DELETE", "other")
        #expect(try send(other) == 200)
        let start = former.dropLast()
        for text in [former + "A", String(start), start + "_", "t_" + former.dropFirst(2), "s_", "x"] {
            #expect(try send(text) == 400, "\(text)")
            #expect(try send("\(former), \(text)/a") == 400, "\(text)")
        }
    }

    /// A registration keeps the keys of all rows of up to 50 definitions, and a client had a hundred of them: 38 GiB of a million rows.
    @Test(arguments: ["observed-bytes-per-principal", "observed-bytes"])
    func `what definitions observe has a bound in bytes`(_ name: String) throws {
        let server = try WriteServer {
            $0.limits.importBytes = 8 << 20
            if name == "observed-bytes" {
                $0.limits.observedBytes = 1 << 20
            } else {
                $0.limits.observedBytesPerPrincipal = 1 << 20
            }
        }
        let lines = (0..<20_000).map { "{\"_id\":\($0),\"age\":\($0 % 100)}" }.joined(separator: "\n")
        let made = try server.send("POST", "app/import?class=Dog", lines, [("Content-Type", "application/x-ndjson")])
        #expect(made.json["created"]?.int == 20_000, "\(made.text)")
        func body(_ count: Int, _ more: String = "") -> String {
            let parts = (0..<count).map { #""d\#($0)":{"class":"Dog","where":"age != \#(-1 - $0)","include":"none"\#(more)}"# }
            return #"{"subscriptions":{\#(parts.joined(separator: ","))}}"#
        }
        let refused = try server.send("POST", "app/subscriptions", body(20))
        #expect(refused.status == 429 && refused.code == "too_many_streams", "\(refused.text)")
        #expect(refused.json["limitName"]?.text == name && refused.json["limit"]?.int == 1 << 20)
        if name == "observed-bytes-per-principal" {
            // The limit is one of the client's registrations together, and is given back with them.
            let first = try server.send("POST", "app/subscriptions", body(2))
            #expect(first.status == 201, "\(first.text)")
            #expect(try server.send("POST", "app/subscriptions", body(5)).status == 429)
            let id = first.json["id"]?.text ?? ""
            #expect(try server.send("DELETE", "app/subscriptions/\(id)").status == 204)
            #expect(try eventually(seconds: 10) { try server.send("POST", "app/subscriptions", body(3)).status == 201 })
            #expect(try ServerMetrics(port: server.port)["observed_bytes"] ?? 0 > 0)
        }
        try server.finish()
    }

    /// Definitions of a few objects with 70,000 values each took hundreds of megabytes, of which nothing was counted.
    @Test(arguments: ["observed-bytes-per-principal", "observed-bytes"], ["text", "values", "condition"])
    func `what definitions keep of their queries and arguments has the same bound`(_ name: String, _ kind: String) throws {
        // Long conditions take long without optimization.
        let limit = kind == "condition" ? 256 << 10 : 8 << 20
        let server = try WriteServer {
            $0.limits.observationSeconds = 60
            if name == "observed-bytes" {
                $0.limits.observedBytes = limit
            } else {
                $0.limits.observedBytesPerPrincipal = limit
            }
        }
        let definition =
            switch kind {
            case "text": #""where":"name == $0","args":["\#(String(repeating: "y", count: 1_200_000))"]"#
            case "values": #""where":"age IN $0","args":[[\#((0..<40_000).map(String.init).joined(separator: ","))]]"#
            default: #""where":"\#(String(repeating: "age == 1 OR ", count: 800))age == 2""#
            }
        let body = #"{"subscriptions":{"a":{"class":"Dog",\#(definition)}}}"#
        let refused = try server.send("POST", "app/subscriptions", body)
        #expect(refused.status == 429 && refused.code == "too_many_streams", "\(refused.text)")
        #expect(refused.json["limitName"]?.text == name && refused.json["limit"]?.int == limit)
        let small = #"{"subscriptions":{"a":{"class":"Dog","where":"age IN $0","args":[[1,2,3]]}}}"#
        if name == "observed-bytes-per-principal" { #expect(try server.send("POST", "app/subscriptions", small).status == 201) }
        try server.finish()
    }
}
