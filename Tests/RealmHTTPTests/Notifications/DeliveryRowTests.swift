// SPDX-License-Identifier: Apache-2.0

import RealmAccess
import RealmFormats
import RealmHTTP
import RealmHosting
import RealmTestSupport
import Testing

/// Row B28 of the checklist: when something is told, and when nothing is.
@Suite struct DeliveryRowTests {
    private static let fixture: ChangeFixture = {
        do { return try ChangeFixture() } catch { preconditionFailure("no server: \(error)") }
    }()

    private static let dogs = #"{"class":"Dog","include":"keys"}"#
    private static let old = #"{"class":"Dog","where":"age > 10","include":"keys"}"#

    private static func tags(_ more: String = "") -> String { #"{"class":"Person","key":"ann","property":"tags""# + more + "}" }

    /// A definition, and operations of one commit that bring it nothing.
    private static let silent: [(definition: String, ops: [String])] = {
        let fixture = DeliveryRowTests.fixture
        return [
            // Other classes; objects that no member links to.
            (dogs, [fixture.patch(#"{"age":77}"#)]), (#"{"class":"Person","include":"keys"}"#, [fixture.age(5, 6)]),
            // What does not match, before and after.
            (old, [fixture.age(1, 7)]), (old, [fixture.delete("Dog", "5")]), (old, [fixture.create(9, age: 1)]),
            // Beyond a limit, and behind the first of equals.
            (#"{"class":"Dog","sort":["age"],"limit":2,"include":"keys"}"#, [fixture.age(5, 50)]),
            (#"{"class":"Dog","distinct":["age"],"include":"keys"}"#, [fixture.create(9, age: 1)]),
            // There and gone again.
            (dogs, [fixture.create(40), fixture.delete("Dog", "40")]),
            (tags(), [fixture.list("tags", #"{"add":"z"},{"remove":2}"#)]),
            (old, [fixture.age(1, 20), fixture.age(1, 2)]),
            // Moved and moved back.
            (tags(), [fixture.list("tags", #"{"move":[0,1]},{"move":[1,0]}"#)]),
            (tags(), [fixture.list("tags", #"{"swap":[0,1]},{"swap":[0,1]}"#)]),
            (tags(#","sort":["self"]"#), [fixture.list("tags", #"{"move":[0,1]}"#)]),
            // Nothing to do.
            (
                #"{"class":"Person","key":"ann","property":"ids"}"#,
                [fixture.list("ids", #"{"insert":2},{"remove":99}"#, kind: "set")]
            ),
            (#"{"class":"Person","key":"ann","property":"kids[0].rooms"}"#, [fixture.list("kids[0].rooms", #"{"clear":true}"#)]),
            (dogs, []), (dogs, [#"{"create":{"upsert":"modified","class":"Dog","body":{"_id":1,"name":"d1","age":1}}}"#]),
        ]
    }()

    @Test(arguments: Transport.allCases)
    func `B28: nothing is told where nothing has changed for whoever observes`(_ transport: Transport) throws {
        for row in DeliveryRowTests.silent {
            let fixture = try ChangeFixture()
            let follower = try Follower(fixture.server.port, row.definition, transport)
            // The other version is there to know that the first was passed.
            let versions = try [row.ops, [fixture.create(500)]].map { try fixture.server.batch("app", $0) }
            let told = try follower.documents(upTo: versions[1]).filter {
                $0["to"]?.text == versions[0] && versions[0] != versions[1]
            }
            #expect(told.isEmpty, "\(row.definition) \(row.ops): \(told.map(\.serialized))")
        }
    }

    @Test(arguments: Transport.allCases)
    func `B28: a write of an equal value is told, as it was written`(_ transport: Transport) throws {
        let fixture = try ChangeFixture()
        let rows = [
            (DeliveryRowTests.dogs, [fixture.age(1, 1)], #"[{"oldIndex":0,"index":0,"key":"1","properties":["age"]}]"#),
            (
                DeliveryRowTests.dogs, [fixture.age(1, 9), fixture.age(1, 1)],
                #"[{"oldIndex":0,"index":0,"key":"1","properties":["age"]}]"#
            ),
            (DeliveryRowTests.tags(), [fixture.list("tags", #"{"set":[0,"a"]}"#)], #"[{"oldIndex":0,"index":0,"value":"a"}]"#),
            (
                #"{"class":"Person","key":"ann","property":"marks"}"#,
                [fixture.list("marks", #"{"set":["art",1]}"#, kind: "dictionary")], #"[{"entry":"art","value":1}]"#
            ),
        ]
        for (definition, ops, expected) in rows {
            let follower = try Follower(fixture.server.port, definition, transport)
            let told = try follower.documents(upTo: try fixture.server.batch("app", ops))
            #expect(told.map { $0["modifications"]?.serialized } == [expected], "\(definition) \(ops)")
        }
    }

    @Test(arguments: Transport.allCases)
    func `B28: what is committed before the first look is part of it, and whoever comes later sees nothing older`(
        _ transport: Transport
    ) throws {
        let fixture = try ChangeFixture()
        let early = try Follower(fixture.server.port, DeliveryRowTests.dogs, transport, opens: false)
        let before = try fixture.write(fixture.create(9))
        try early.begin()
        #expect(early.snapshot?["count"]?.integer == 6 && early.snapshot?["version"]?.text == before)
        let later = try fixture.write(fixture.create(10))
        let late = try Follower(fixture.server.port, DeliveryRowTests.dogs, transport)
        #expect(late.snapshot?["count"]?.integer == 7 && late.position == later)
        let last = try fixture.write(fixture.create(11))
        let told = try [early, late].map { try $0.documents(upTo: last).compactMap { $0["to"]?.text } }
        #expect(told == [[later, last], [last]])
    }

    @Test(arguments: Transport.allCases)
    func `B28: sets follow each other without a gap, and all observers hear of one version`(_ transport: Transport) throws {
        let fixture = try ChangeFixture()
        let follower = try Follower(fixture.server.port, DeliveryRowTests.dogs, transport)
        var position = follower.position
        for number in 10..<30 {
            // Every third commit concerns it; empty ones count too.
            let version = try fixture.write(number % 3 == 0 ? fixture.create(number) : fixture.patch("{\"age\":\(number)}"))
            for set in try follower.documents(upTo: version) {
                #expect(set["from"]?.text == position && set["to"]?.text == version)
                // Whoever reads now sees at least that version.
                #expect(
                    try fixture.server.send("GET", "app/objects/Dog/\(number)", nil, [("Realm-Min-Version", version)]).status
                        == 200)
            }
            position = version
        }
    }

    @Test func `B28: several commits may be told as one, which is the difference of its ends`() throws {
        // The server may take a moment to see that nobody waits any more.
        for _ in 0..<5 {
            let fixture = try ChangeFixture()
            let follower = try Follower(fixture.server.port, DeliveryRowTests.old, .polls)
            try fixture.write(fixture.age(1, 20))
            try fixture.write(fixture.age(2, 20), fixture.delete("Dog", "5"))
            try fixture.write(fixture.age(2, 2))
            let version = try fixture.write(fixture.age(1, 21))
            let sets = try follower.documents(upTo: version)
            var copy = ClientCopy()
            for set in sets { try copy.apply(set) }
            #expect(copy.rows.compactMap { $0["key"]?.text } == ["1"])
            guard sets.count == 1 else { continue }
            let inserted = #"{"count":1,"deletions":[],"insertions":[{"index":0,"key":"1"}],"modifications":[],"moves":[]}"#
            #expect(sets.map(\.withoutVersions) == [inserted])
            return
        }
        Issue.record("no commits were told as one")
    }

    @Test(arguments: Transport.allCases)
    func `B28: ending one observer leaves others alone, and what is frozen is not observed`(_ transport: Transport) throws {
        let fixture = try ChangeFixture()
        let server = fixture.server
        let (first, second) = (
            try Follower(server.port, DeliveryRowTests.dogs, transport),
            try Follower(server.port, DeliveryRowTests.dogs, transport)
        )
        try server.must("DELETE", "app/subscriptions/\(first.id)")
        #expect(try second.sets(upTo: try fixture.write(fixture.create(9))).count == 1)
        let pin = try server.must("POST", "app/snapshots")["id"]?.text ?? ""
        let accept = [("Accept", transport == .events ? "text/event-stream" : "application/json")]
        let frozen = try server.send("GET", "app/changes?class=Dog&snapshot=\(pin)", nil, accept)
        #expect(frozen.status == 400 && frozen.code == "conflicting_parameters")
        let inside = try server.must("POST", "app/transactions")["id"]?.text ?? ""
        #expect(try server.send("GET", "app/changes?class=Dog", nil, accept + [("Realm-Transaction", inside)]).status == 400)
        try server.must("DELETE", "app/transactions/\(inside)")
    }

    @Test func `B28: a file that is only read is observed and never changes`() throws {
        try withWriteServer { server in
            #expect(try server.send("DELETE", "app").status == 204)
            #expect(try server.attach("{\"name\":\"app\",\"path\":\"\(server.folder)/app.realm\",\"mode\":\"ro\"}").status == 201)
            let first = try server.get("app/changes?class=Dog&include=keys")
            #expect(first.text.contains(#""count":2"#), "\(first.text)")
            let next = first.json["next"]?.text ?? ""
            let later = try server.get("app/changes?class=Dog&include=keys&since=\(next)&wait=1")
            #expect(later.text == "{\"changes\":[],\"snapshots\":[],\"reset\":null,\"schema\":null,\"next\":\"\(next)\"}")
        }
    }

    @Test(arguments: Transport.allCases)
    func `B28: a position is resumed, or told to be lost, and never passed over in silence`(_ transport: Transport) throws {
        let fixture = try ChangeFixture { $0.limits.retentionSets = 3 }
        let query = ChangeFixture.query(["class": "Dog", "include": "keys"])
        let keeper = try fixture.server.stream("app", query + "&initial=false")
        var positions = [try keeper.next("ready").id ?? ""]
        for number in 10..<16 {
            positions.append(try fixture.write(fixture.create(number)))
            _ = try keeper.next("changes")
        }
        let parts = (positions.last ?? "").split(separator: ".")
        func outcome(_ position: String) throws -> String {
            if transport == .polls {
                let answer = try fixture.server.poll("app", query + "&since=\(position)")
                return answer["reset"]?["reason"]?.text ?? "\(answer["changes"]?.elements?.count ?? -1)"
            }
            let stream = try fixture.server.stream("app", query, [("Last-Event-ID", position)])
            var sets = 0
            while let event = try stream.next(), event.name != "ready" {
                if event.name == "reset" { return event.json["reason"]?.text ?? "" }
                if event.name == "changes" { sets += 1 }
            }
            return String(sets)
        }
        #expect(try positions.map(outcome) == ["retention", "retention", "retention", "3", "2", "1", "0"])
        #expect(try ["\(parts[0]).\(parts[1])0", "other.3", "nonsense"].map(outcome) == ["epoch", "epoch", "epoch"])
    }
}
