// SPDX-License-Identifier: Apache-2.0

import RealmTestSupport
import Testing

/// Snapshots and change sets, member by member.
@Suite("Forms of snapshots and change sets (A22, B24, B26, B27, D4, D10, D16, D36, D38, D48, D50, D51, D52)")
struct FormTests {
    /// The snapshot of a definition, then the sets that writes bring.
    private func forms(
        _ query: KeyValuePairs<String, String>, _ fixture: ChangeFixture, _ writes: [String]...
    ) throws -> (snapshot: String, sets: [String]) {
        let query = ChangeFixture.query(query)
        let first = try fixture.server.poll("app", query)
        var next = first["next"]?.text ?? ""
        var sets: [String] = []
        for ops in writes {
            try fixture.server.batch("app", ops)
            let answer = try fixture.server.poll("app", query + "&since=\(next)")
            #expect(answer["reset"] == .null)
            for set in answer["changes"]?.elements ?? [] {
                #expect(set["from"]?.text == next)
                next = set["to"]?.text ?? ""
                sets.append(set.withoutVersions)
            }
            if (answer["changes"]?.elements ?? []).isEmpty { sets.append("nothing") }
            #expect(answer["next"]?.text?.isEmpty == false)
            next = answer["next"]?.text ?? ""
        }
        return (first["snapshots"]?.elements?.first?.withoutVersions ?? "none", sets)
    }

    @Test func `B24: results: rows with their objects, and the properties that were written`() throws {
        let fixture = try ChangeFixture()
        let (snapshot, sets) = try forms(
            ["class": "Dog", "where": "age > $0", "args": "[3]", "sort": "-age", "meta": "none", "fields": "age"], fixture,
            [fixture.create(9, age: 9)], [fixture.age(4, 5)], [fixture.delete("Dog", "5")], [fixture.age(1, 2)])
        #expect(snapshot == #"{"count":2,"items":[{"key":"5","object":{"age":5}},{"key":"4","object":{"age":4}}],"last":true}"#)
        #expect(
            sets == [
                #"{"count":3,"deletions":[],"insertions":[{"index":0,"key":"9","object":{"age":9}}],"modifications":[],"moves":[]}"#,
                #"{"count":3,"deletions":[{"index":2,"key":"4"}],"insertions":[{"index":1,"key":"4","object":{"age":5}}],"modifications":[],"moves":[]}"#,
                #"{"count":2,"deletions":[{"index":2,"key":"5"}],"insertions":[],"modifications":[],"moves":[]}"#,
                "nothing",
            ])
    }

    @Test func `D61: a modification tells old and new place, and what was written; none when something linked changed`()
        throws
    {
        let fixture = try ChangeFixture()
        let (_, sets) = try forms(
            ["class": "Dog", "include": "keys"], fixture,
            [#"{"patch":{"class":"Dog","key":"2","body":{"age":2,"name":"x","mate":1}}}"#], [fixture.age(1, 7)])
        #expect(
            sets == [
                #"{"count":5,"deletions":[],"insertions":[],"modifications":[{"oldIndex":1,"index":1,"key":"2","properties":["name","age","mate"]}],"moves":[]}"#,
                #"{"count":5,"deletions":[],"insertions":[],"modifications":[{"oldIndex":0,"index":0,"key":"1","properties":["age"]},{"oldIndex":1,"index":1,"key":"2","properties":[]}],"moves":[]}"#,
            ])
    }

    @Test func `B26, B27: key paths and shallow leave modifications out`() throws {
        let fixture = try ChangeFixture()
        let write = [fixture.age(1, 7)]
        #expect(try forms(["class": "Dog", "include": "none", "keyPaths": "name"], fixture, write).sets == ["nothing"])
        #expect(try forms(["class": "Dog", "include": "none", "shallow": "true"], fixture, write).sets == ["nothing"])
        #expect(try forms(["class": "Dog", "include": "none", "keyPaths": ""], fixture, write).sets == [#"{"count":5}"#])
        #expect(
            try forms(
                ["class": "Person", "include": "none", "keyPaths": "staff.age"], fixture,
                [
                    #"{"create":{"class":"Person","body":{"_id":"bob","age":1,"boss":"ann"}}}"#
                ], [#"{"patch":{"class":"Person","key":"bob","body":{"age":2}}}"#]
            ).sets == [#"{"count":2}"#, #"{"count":2}"#])
        #expect(
            try forms(
                ["class": "Person", "include": "none", "keyPaths": "@links.Person.boss.age"], fixture,
                [
                    #"{"patch":{"class":"Person","key":"bob","body":{"age":3}}}"#
                ]
            ).sets == [#"{"count":2}"#])
    }

    @Test func `D4: a list of links: a move is told beside its deletion and insertion`() throws {
        let fixture = try ChangeFixture()
        let (snapshot, sets) = try forms(
            ["class": "Person", "key": "ann", "property": "pack", "meta": "none", "fields": "age"], fixture,
            [fixture.list("pack", #"{"move":[2,0]}"#)], [fixture.list("pack", #"{"insert":[1,5]}"#)])
        #expect(
            snapshot
                == #"{"count":3,"items":[{"key":"1","object":{"age":1}},{"key":"2","object":{"age":2}},{"key":"3","object":{"age":3}}],"last":true}"#
        )
        #expect(
            sets == [
                #"{"count":3,"deletions":[{"index":2,"key":"3"}],"insertions":[{"index":0,"key":"3","object":{"age":3}}],"modifications":[],"moves":[{"from":2,"to":0,"key":"3"}]}"#,
                #"{"count":4,"deletions":[],"insertions":[{"index":1,"key":"5","object":{"age":5}}],"modifications":[],"moves":[]}"#,
            ])
    }

    @Test func `D4: lists and sets of values, cleared, and with their owner gone`() throws {
        let fixture = try ChangeFixture()
        let tags = try forms(
            ["class": "Person", "key": "ann", "property": "tags"], fixture,
            [fixture.list("tags", #"{"insert":[1,null]},{"set":[0,"z"]}"#)], [fixture.list("tags", #"{"clear":true}"#)])
        #expect(tags.snapshot == #"{"count":2,"items":[{"value":"a"},{"value":"b"}],"last":true}"#)
        #expect(
            tags.sets == [
                #"{"count":3,"deletions":[],"insertions":[{"index":1,"value":null}],"modifications":[{"oldIndex":0,"index":0,"value":"z"}],"moves":[]}"#,
                #"{"count":0,"deletions":[{"index":0},{"index":1},{"index":2}],"insertions":[],"modifications":[],"moves":[],"cleared":true}"#,
            ])
        let ids = try forms(
            ["class": "Person", "key": "ann", "property": "ids"], fixture,
            [fixture.list("ids", #"{"remove":2}"#, kind: "set")], [fixture.delete("Person", "ann")])
        #expect(
            ids.sets == [
                #"{"count":2,"deletions":[{"index":1}],"insertions":[],"modifications":[],"moves":[]}"#,
                #"{"count":0,"deletions":[{"index":0},{"index":1}],"insertions":[],"modifications":[],"moves":[],"deleted":true}"#,
            ])
    }

    @Test func `a view of a list has no moves, and its rows are those of the view`() throws {
        let fixture = try ChangeFixture()
        let (snapshot, sets) = try forms(
            ["class": "Person", "key": "ann", "property": "tags", "sort": "-self"], fixture,
            [fixture.list("tags", #"{"add":"c"}"#)])
        #expect(snapshot == #"{"count":2,"items":[{"value":"b"},{"value":"a"}],"last":true}"#)
        #expect(sets == [#"{"count":3,"deletions":[],"insertions":[{"index":0,"value":"c"}],"modifications":[],"moves":[]}"#])
    }

    @Test func `a view of embedded objects selects and orders by their properties, and shows them whole`() throws {
        let fixture = try ChangeFixture()
        let (snapshot, sets) = try forms(
            ["class": "Person", "key": "ann", "property": "kids", "where": "city != 'Oslo'", "sort": "city"], fixture,
            [fixture.list("kids", #"{"add":{"city":"Cork"}}"#), fixture.list("kids", #"{"add":{"city":"Oslo"}}"#)],
            [#"{"patch":{"class":"Person","key":"ann","body":[{"op":"replace","path":"/kids/0/city","value":"Amman"}]}}"#])
        let bonn = #"{"value":{"city":"Bonn","rooms":[]}}"#
        let rome = #"{"value":{"city":"Rome","rooms":[]}}"#
        #expect(snapshot == #"{"count":2,"items":["# + bonn + "," + rome + #"],"last":true}"#)
        let cork = #"{"index":1,"value":{"city":"Cork","rooms":[]}}"#
        let amman = #"{"index":0,"value":{"city":"Amman","rooms":[]}}"#
        #expect(
            sets == [
                #"{"count":3,"deletions":[],"insertions":["# + cork + #"],"modifications":[],"moves":[]}"#,
                #"{"count":3,"deletions":[{"index":2}],"insertions":["# + amman + #"],"modifications":[],"moves":[]}"#,
            ])
    }

    @Test func `D16: dictionaries by entry, of values and of links`() throws {
        let fixture = try ChangeFixture()
        let marks = try forms(
            ["class": "Person", "key": "ann", "property": "marks"], fixture,
            [fixture.list("marks", #"{"remove":"art"},{"set":["gym",3]},{"set":["math",1]}"#, kind: "dictionary")])
        #expect(marks.snapshot == #"{"count":2,"items":[{"entry":"art","value":1},{"entry":"math","value":2}],"last":true}"#)
        #expect(
            marks.sets == [
                #"{"count":2,"deletions":[{"entry":"art"}],"insertions":[{"entry":"gym","value":3}],"modifications":[{"entry":"math","value":1}]}"#
            ])
        let seats = try forms(
            ["class": "Person", "key": "ann", "property": "seats", "fields": "age", "meta": "none"], fixture,
            [fixture.list("seats", #"{"set":["a3",4]}"#, kind: "dictionary"), fixture.delete("Dog", "2")])
        #expect(
            seats.sets == [
                #"{"count":3,"deletions":[],"insertions":[{"entry":"a3","key":"4","object":{"age":4}}],"modifications":[{"entry":"a2","value":null}]}"#
            ])
    }

    @Test func `D36, D38: an object: its properties with both values, linking objects last, and its end`() throws {
        let fixture = try ChangeFixture()
        let (snapshot, sets) = try forms(
            ["class": "Person", "key": "ann", "fields": "age", "meta": "none", "keyPaths": "age,boss,tags,staff"], fixture,
            [
                #"{"create":{"class":"Person","body":{"_id":"bob","age":1,"boss":"ann"}}}"#,
                fixture.patch(#"{"age":4,"boss":"bob"}"#),
                fixture.list("tags", #"{"add":"c"}"#),
            ], [fixture.delete("Person", "ann")])
        #expect(snapshot == #"{"object":{"age":3},"last":true}"#)
        #expect(
            sets == [
                #"{"properties":[{"name":"age","oldValue":3,"newValue":4},{"name":"boss","oldValue":null,"newValue":{"$link":{"class":"Person","key":"bob"}}},{"name":"tags","collection":true},{"name":"staff","linkingObjects":true}],"object":{"age":4}}"#,
                #"{"deleted":true}"#,
            ])
    }

    @Test func `C19: an embedded object is observed wherever it moves, and a collection in one`() throws {
        let fixture = try ChangeFixture()
        let kid = try forms(
            ["class": "Person", "key": "ann", "property": "kids[1]", "meta": "none"], fixture,
            [fixture.list("kids", #"{"move":[1,0]}"#)],
            [#"{"patch":{"class":"Person","key":"ann","body":[{"op":"replace","path":"/kids/0/city","value":"Graz"}]}}"#],
            [fixture.list("kids", #"{"remove":0}"#)])
        #expect(kid.snapshot == #"{"object":{"city":"Bonn","rooms":[]},"last":true}"#)
        #expect(
            kid.sets == [
                "nothing",
                #"{"properties":[{"name":"city","oldValue":"Bonn","newValue":"Graz"}],"object":{"city":"Graz","rooms":[]}}"#,
                #"{"deleted":true}"#,
            ])
        let rooms = try forms(
            ["class": "Person", "key": "ann", "property": "home.rooms"], fixture,
            [#"{"list":{"class":"Person","key":"ann","property":"home.rooms","ops":[{"add":2}]}}"#])
        #expect(rooms.sets == [#"{"count":2,"deletions":[],"insertions":[{"index":1,"value":2}],"modifications":[],"moves":[]}"#])
    }

    @Test(arguments: ["staff", "@links.Person.boss"])
    func `D48: linking objects by both of their names`(_ name: String) throws {
        let fixture = try ChangeFixture()
        let (snapshot, sets) = try forms(
            ["class": "Person", "key": "ann", "property": name, "include": "keys"], fixture,
            [#"{"create":{"class":"Person","body":{"_id":"bob","age":1,"boss":"ann"}}}"#],
            [#"{"patch":{"class":"Person","key":"bob","body":{"boss":null}}}"#])
        #expect(snapshot == #"{"count":0,"items":[],"last":true}"#)
        #expect(
            sets == [
                #"{"count":1,"deletions":[],"insertions":[{"index":0,"key":"bob"}],"modifications":[],"moves":[]}"#,
                #"{"count":0,"deletions":[{"index":0,"key":"bob"}],"insertions":[],"modifications":[],"moves":[]}"#,
            ])
    }

    @Test func `D10, D50, D52: sections`() throws {
        let fixture = try ChangeFixture()
        let (snapshot, sets) = try forms(
            ["class": "Dog", "sectionBy": "age:floor(2)", "include": "keys"], fixture,
            [fixture.create(9, age: 9)], [fixture.delete("Dog", "1")], [fixture.age(3, 3)])
        #expect(
            snapshot
                == #"{"count":5,"sections":[{"key":0,"items":[{"key":"1"}]},{"key":2,"items":[{"key":"2"},{"key":"3"}]},{"key":4,"items":[{"key":"4"},{"key":"5"}]}],"last":true}"#
        )
        #expect(
            sets == [
                #"{"count":6,"sectionsToDelete":[],"sectionsToInsert":[{"section":3,"key":8}],"deletions":[],"insertions":[{"section":3,"index":0,"key":"9"}],"modifications":[]}"#,
                #"{"count":5,"sectionsToDelete":[{"section":0,"key":0}],"sectionsToInsert":[],"deletions":[],"insertions":[],"modifications":[]}"#,
                #"{"count":5,"sectionsToDelete":[],"sectionsToInsert":[],"deletions":[],"insertions":[],"modifications":[{"oldSection":0,"oldIndex":1,"section":0,"index":1,"key":"3","properties":["age"]}]}"#,
            ])
    }

    @Test func `D50, D51: one section, that appears and goes`() throws {
        let fixture = try ChangeFixture()
        let (snapshot, sets) = try forms(
            ["class": "Dog", "sectionBy": "age:floor(2)", "section": "8", "include": "keys"], fixture,
            [fixture.create(9, age: 9)], [fixture.delete("Dog", "1")], [fixture.delete("Dog", "9")])
        #expect(snapshot == #"{"count":0,"sections":[],"last":true}"#)
        #expect(
            sets == [
                #"{"count":1,"sectionsToDelete":[],"sectionsToInsert":[{"section":3,"key":8}],"deletions":[],"insertions":[{"section":3,"index":0,"key":"9"}],"modifications":[]}"#,
                "nothing",
                #"{"count":0,"sectionsToDelete":[{"section":2,"key":8}],"sectionsToInsert":[],"deletions":[],"insertions":[],"modifications":[]}"#,
            ])
    }

    @Test func `A22: the whole realm: which classes were touched`() throws {
        let fixture = try ChangeFixture()
        let (snapshot, sets) = try forms([:], fixture, [fixture.age(1, 7), fixture.patch(#"{"age":9}"#)], [fixture.create(30)])
        #expect(snapshot == "none")
        #expect(sets == [#"{"classes":["Dog","Person"]}"#, #"{"classes":["Dog"]}"#])
        let before = try fixture.server.poll("app", "initial=false")["next"]?.text ?? ""
        try fixture.server.must("POST", "app/batch?dryRun=true", "{\"ops\":[\(fixture.create(31))]}")
        #expect(try fixture.server.poll("app", "since=\(before)")["changes"]?.elements?.isEmpty == true)
    }

    @Test func `include=keys leaves objects out, and include=none everything but counts`() throws {
        let fixture = try ChangeFixture()
        let none = try forms(["class": "Dog", "include": "none"], fixture, [fixture.create(9)])
        #expect(none.snapshot == #"{"count":5,"last":true}"#)
        #expect(none.sets == [#"{"count":6}"#])
        let object = try forms(["class": "Person", "key": "ann", "include": "none"], fixture, [fixture.patch(#"{"age":9}"#)])
        #expect(object.snapshot == #"{"last":true}"#)
        #expect(object.sets == ["{}"])
        let strings = try forms(
            ["class": "Dog", "include": "keys", "ints": "string", "limit": "1"], fixture, [fixture.age(1, 3)])
        #expect(strings.snapshot == #"{"count":"1","items":[{"key":"1"}],"last":true}"#)
    }
}
