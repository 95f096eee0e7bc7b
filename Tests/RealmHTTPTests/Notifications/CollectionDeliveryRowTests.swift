// SPDX-License-Identifier: Apache-2.0

import RealmTestSupport
import Testing

/// Rows D5, D15, D53 and D54 of the checklist: what those who observe a collection are told, and what sets are asked.
@Suite struct CollectionDeliveryRowTests {
    private static let collections = [
        (property: "tags", rows: #"{"index":0},{"index":1}"#),
        ("pack", #"{"index":0,"key":"1"},{"index":1,"key":"2"},{"index":2,"key":"3"}"#),
        ("kids", #"{"index":0},{"index":1}"#), ("ids", #"{"index":0},{"index":1},{"index":2}"#),
        ("marks", #"{"entry":"art"},{"entry":"math"}"#), ("seats", #"{"entry":"a1"},{"entry":"a2"}"#),
    ]

    @Test(arguments: Transport.allCases)
    func `D5, D15: when its owner is deleted all rows go with it, that is flagged, and nothing more is told`(
        _ transport: Transport
    ) throws {
        for (property, rows) in CollectionDeliveryRowTests.collections {
            let fixture = try ChangeFixture()
            let follower = try Follower(
                fixture.server.port, #"{"class":"Person","key":"ann","property":"\#(property)"}"#, transport)
            let told = try follower.documents(upTo: try fixture.write(fixture.delete("Person", "ann")))
            #expect(told.count == 1, "\(property)")
            let set = try #require(told.first)
            #expect(set["deleted"]?.bool == true && set["count"]?.integer ?? 0 == 0, "\(set)")
            #expect(set["deletions"]?.serialized == "[\(rows)]", "\(set)")
            #expect(set["insertions"]?.elements ?? [] == [] && set["modifications"]?.elements ?? [] == [], "\(set)")
            // Not even an owner of the same key brings it back.
            let again = #"{"create":{"class":"Person","body":{"_id":"ann","age":1,"tags":["x"],"ids":[9],"marks":{"new":1}}}}"#
            #expect(try follower.documents(upTo: try fixture.write(again)).isEmpty, "\(property)")
            #expect(try follower.documents(upTo: try fixture.write(fixture.patch(#"{"tags":["y"]}"#))).isEmpty, "\(property)")
        }
    }

    private static let edits = [
        (#"{"union":[3,9,0,9]}"#, #""count":5,"deletions":[],"insertions":[{"index":0,"value":0},{"index":4,"value":9}]"#),
        (#"{"intersect":[2,77]}"#, #""count":1,"deletions":[{"index":0},{"index":2}],"insertions":[]"#),
        (#"{"minus":[1,2,77]}"#, #""count":1,"deletions":[{"index":0},{"index":1}],"insertions":[]"#),
        (#"{"insert":0}"#, #""count":4,"deletions":[],"insertions":[{"index":0,"value":0}]"#),
        (#"{"remove":2}"#, #""count":2,"deletions":[{"index":1}],"insertions":[]"#),
        (#"{"clear":true}"#, #""count":0,"deletions":[{"index":0},{"index":1},{"index":2}],"insertions":[]"#),
        // What changes nothing is not told.
        (#"{"union":[1,3]}"#, ""), (#"{"intersect":[3,2,1,0]}"#, ""), (#"{"minus":[77]}"#, ""), (#"{"insert":2}"#, ""),
        (#"{"remove":77}"#, ""),
    ]

    @Test(arguments: Transport.allCases)
    func `D54: each operation on a set has its change set`(_ transport: Transport) throws {
        for (edit, expected) in CollectionDeliveryRowTests.edits {
            let fixture = try ChangeFixture()
            let follower = try Follower(fixture.server.port, #"{"class":"Person","key":"ann","property":"ids"}"#, transport)
            // The other commit makes a version even where the first one makes none.
            try fixture.write(fixture.list("ids", edit, kind: "set"))
            let sets = try follower.sets(upTo: try fixture.write(fixture.create(90)))
            let cleared = edit.contains("clear") ? #","cleared":true"# : ""
            #expect(sets == (expected.isEmpty ? [] : ["{\(expected),\"modifications\":[],\"moves\":[]\(cleared)}"]), "\(edit)")
        }
    }

    @Test func `D53: a set of objects has each of them once, however often it is given`() throws {
        try withWriteServer { (server: WriteServer) throws in
            func friends() throws -> [String?] {
                (try server.get("app/objects/Person/bob").json["friends"]?.elements ?? []).map { $0["$link"]?["key"]?.text }
            }
            let ann = #"{"$link":{"class":"Person","key":"ann"}}"#
            try server.done("POST", "app/objects/Person", #"{"id":"bob","friends":["ann","ann",\#(ann)]}"#)
            #expect(try friends() == ["ann"])
            let edits = #"{"insert":"ann"},{"union":["bob",\#(ann),"bob"]}"#
            let answer = try server.batch(#"{"set":{"class":"Person","key":"bob","property":"friends","ops":[\#(edits)]}}"#)
            #expect(answer.status == 200, "\(answer.text)")
            #expect(try friends() == ["ann", "bob"])
        }
    }

    @Test func `D54: queries tell whether a set has a value, and whether it is a part of another`() throws {
        let fixture = try ChangeFixture()
        try fixture.write(#"{"create":{"class":"Person","body":{"_id":"bob","age":1,"ids":[2]}}}"#)
        try fixture.write(#"{"create":{"class":"Person","body":{"_id":"cy","age":1}}}"#)
        for (query, args, keys) in [
            ("2 IN ids", "[]", ["ann", "bob"]), ("NOT 2 IN ids", "[]", ["cy"]), ("ANY ids IN $0", "[[3,9]]", ["ann"]),
            // A part of what is given; it has nothing of that; and it has all of that.
            ("ALL ids IN $0", "[[2,9]]", ["bob", "cy"]), ("NONE ids IN $0", "[[1,3]]", ["bob", "cy"]),
            ("ANY ids == 1 AND ANY ids == 2", "[]", ["ann"]), ("ids.@count == 0", "[]", ["cy"]),
        ] {
            let target = "app/objects/Person?where=\(ChangeServer.encode(query))&args=\(ChangeServer.encode(args))"
            let items = try fixture.server.must("GET", target)["items"]?.elements ?? []
            #expect(items.compactMap { $0["_id"]?.text } == keys, "\(query)")
        }
    }
}
