// SPDX-License-Identifier: Apache-2.0

import RealmEngine
import RealmPlatform
import RealmQuery
import RealmStorage
import RealmTestSupport
import Testing

@Suite struct ObjectWritingTests {
    private static let empty =
        "age:null weight:null ratio:null price:null born:null photo:null tag:null any:null boss:null friends:[] fans:[] team:{} "
        + "tags:[] scores:[] colors:[] marks:{} things:[] address:null homes:[] places:{}}"

    private func realm() throws -> EngineRealm { try EngineRealm(TestSchema.classes) }

    @Test func `absent members are null and empty`() throws {
        let realm = try realm()
        let receipt = try realm.write { try $0.create("Person", ["_id": .integer(1), "name": .text("Ann")]) }
        #expect(receipt.isCommitted && receipt.value.isCreated)
        #expect(try realm.show("Person", 1) == "{_id:1 name:'Ann' " + Self.empty)
        try realm.finish()
    }

    @Test func `every type is read from its plain form and from the one with a type`() throws {
        let realm = try realm()
        let date = Timestamp(seconds: 5, nanoseconds: 7)
        try realm.write { session in
            _ = try session.create(
                "Person",
                [
                    "_id": .text("1"), "name": .text("Ann"), "age": .typed(.int(3)), "weight": .real(1.5), "ratio": .integer(2),
                    "price": .text("12.50"), "born": .text("1970-01-01T00:00:05.000000007Z"), "photo": .text("AQI="),
                    "tag": .text("00112233-4455-6677-8899-aabbccddeeff"), "any": .typed(.timestamp(date)),
                    "scores": .list([.integer(1), .null, .text("3")]), "colors": .list([.text("b"), .text("a"), .text("b")]),
                    "marks": .object(["x": .integer(1), "a": .null]),
                    "things": .list([.list([.integer(1), .object(["k": .text("v")])]), .null, .real(2)]),
                ])
            _ = try session.create(
                "Person",
                [
                    "_id": .integer(2), "name": .typed(.stringBytes([0x42])), "photo": .typed(.binary([9])),
                    "born": .typed(.timestamp(date)), "price": .integer(7), "weight": .text("-Infinity"),
                ])
        }
        let shown = try #require(try realm.show("Person", 1))
        for part in [
            "age:3 weight:1.5 ratio:2.0f price:12.50d born:1970-01-01T00:00:05.000000007Z photo:<1,2>",
            "tag:00112233-4455-6677-8899-aabbccddeeff any:1970-01-01T00:00:05.000000007Z", "scores:[1 null 3]",
            "colors:['a' 'b']", "marks:{a:null x:1}", "things:[[1 {k:'v'}] null 2.0]",
        ] { #expect(shown.contains(part), "\(shown)") }
        #expect(try realm.show("Person", 2)?.contains("name:'B' age:null weight:-inf ratio:null price:7d") == true)
        try realm.finish()
    }

    @Test(
        arguments: [
            (["_id": .integer(1)], "missing_property", ""),
            (["_id": .integer(1), "name": .null], "null_not_allowed", "/name"),
            (["name": .text("x")], "missing_property", ""),
            (["_id": .integer(1), "name": .text("x"), "agee": .null], "unknown_property", "/agee"),
            (["_id": .integer(1), "name": .text("x"), "$x": .null], "unknown_property", "/$x"),
            (["_id": .integer(1), "name": .integer(1)], "type_mismatch", "/name"),
            (["_id": .integer(1), "name": .text("x"), "age": .real(1.5)], "type_mismatch", "/age"),
            (["_id": .integer(1), "name": .text("x"), "age": .wideInteger("9223372036854775808")], "out_of_range", "/age"),
            (["_id": .integer(1), "name": .text("x"), "ratio": .real(1e300)], "out_of_range", "/ratio"),
            (["_id": .integer(1), "name": .text("x"), "price": .real(1)], "decimal_needs_string", "/price"),
            (
                ["_id": .integer(1), "name": .text("x"), "price": .text("1.2345678901234567890123456789012345")], "out_of_range",
                "/price"
            ),
            (["_id": .integer(1), "name": .text("x"), "born": .text("1970-01-01T00:00:00")], "type_mismatch", "/born"),
            (["_id": .integer(1), "name": .text("x"), "born": .integer(0)], "type_mismatch", "/born"),
            (["_id": .integer(1), "name": .text("x"), "photo": .text("AQI")], "type_mismatch", "/photo"),
            (["_id": .integer(1), "name": .text("x"), "tags": .null], "null_not_allowed", "/tags"),
            (["_id": .integer(1), "name": .text("x"), "tags": .list([.text("a"), .null])], "null_not_allowed", "/tags/1"),
            (["_id": .integer(1), "name": .text("x"), "friends": .list([.null])], "null_not_allowed", "/friends/0"),
            (["_id": .integer(1), "name": .text("x"), "marks": .object(["a.b": .null])], "invalid_dictionary_key", "/marks/a.b"),
            (["_id": .integer(1), "name": .text("x"), "any": .object(["$k": .null])], "invalid_dictionary_key", "/any/$k"),
            (["_id": .integer(1), "name": .text("x"), "boss": .integer(9)], "link_target_missing", "/boss"),
            (["_id": .integer(1), "name": .text("x"), "boss": .object(["_id": .integer(9)])], "nested_object", "/boss"),
            (
                ["_id": .integer(1), "name": .text("x"), "boss": .link(.stub(className: "Log", key: .text("@k0")))],
                "type_mismatch", "/boss"
            ),
            (
                ["_id": .integer(1), "name": .text("x"), "address": .link(.stub(className: "Address", key: .text("@k0")))],
                "type_mismatch", "/address"
            ),
            (["_id": .integer(1), "name": .text("x"), "address": .object(["zip": .text("1")])], "missing_property", "/address"),
            (
                ["_id": .integer(1), "name": .text("x"), "homes": .list([.object(["city": .text("O"), "geo": .integer(1)])])],
                "type_mismatch", "/homes/0/geo"
            ),
        ] as [(InputObject, String, String)])
    func `mistakes are told with their place`(_ body: InputObject, _ code: String, _ path: String) throws {
        let realm = try realm()
        let error = realm.failure { try $0.create("Person", body) }
        #expect(error?.code.rawValue == code, "\(String(describing: error))")
        #expect(error?.path.description == path, "\(String(describing: error))")
        #expect(realm.count("Person") == 0)
        try realm.finish()
    }

    @Test func `links lead to objects by stub, key, reference and to the object itself`() throws {
        let realm = try realm()
        try realm.write { session in
            _ = try session.create("Person", ["_id": .integer(1), "name": .text("Ann"), "boss": .integer(1)], as: "a")
            _ = try session.create(
                "Person",
                [
                    "_id": .integer(2), "name": .text("Bob"), "boss": .link(.reference("a")),
                    "friends": .list([.text("1"), .link(.stub(className: "Person", key: .text("2")))]),
                    "fans": .list([.integer(2), .integer(1), .integer(2)]), "team": .object(["x": .integer(1), "y": .null]),
                    "any": .link(.stub(className: "Person", key: .text("1"))),
                ])
        }
        #expect(try realm.show("Person", 1)?.contains("boss:Person#1") == true)
        let shown = try #require(try realm.show("Person", 2))
        for part in ["any:Person#1 boss:Person#1 friends:[Person#1 Person#2]", "team:{x:Person#1 y:null}"] {
            #expect(shown.contains(part), "\(shown)")
        }
        try realm.write { _ = try $0.delete("Person", .text("1")) }
        #expect(
            try realm.show("Person", 2)?.contains("any:null boss:null friends:[Person#2] fans:[Person#2] team:{x:null y:null}")
                == true)
        try realm.finish()
    }

    @Test func `nested objects are created and updated on request`() throws {
        let realm = try realm()
        let options = WriteSession.Options(writesNestedObjects: true)
        try realm.write { session in
            _ = try session.create(
                "Person",
                [
                    "_id": .integer(1), "name": .text("Ann"), "boss": .object(["_id": .integer(2), "name": .text("Bob")]),
                    "friends": .list([.object(["_id": .integer(2), "age": .integer(9)])]),
                ], options: options)
            _ = try session.create(
                "Log", ["line": .text("x"), "about": .object(["_id": .integer(1), "name": .text("Al")])], options: options)
        }
        #expect(try realm.show("Person", 2)?.hasPrefix("{_id:2 name:'Bob' age:9") == true)
        #expect(try realm.show("Person", 1)?.hasPrefix("{_id:1 name:'Al'") == true)
        #expect(realm.count("Person") == 2)
        try realm.finish()
    }

    @Test func `embedded objects live and die with their owner`() throws {
        let realm = try realm()
        try realm.write { session in
            _ = try session.create(
                "Person",
                [
                    "_id": .integer(1), "name": .text("Ann"),
                    "address": .object(["city": .text("Oslo"), "geo": .object(["lat": .real(1), "lon": .real(2)])]),
                    "homes": .list([.object(["city": .text("A")]), .object(["city": .text("B"), "phones": .list([.text("7")])])]),
                    "places": .object(["k": .object(["city": .text("C"), "owner": .integer(1)])]),
                ])
        }
        #expect(realm.count("Address") == 4 && realm.count("Geo") == 1)
        #expect(
            try realm.show("Person", 1)?.contains("address:{city:'Oslo' zip:null phones:[] owner:null geo:{lat:1.0 lon:2.0}}")
                == true)
        try realm.write { session in
            _ = try session.patch("Person", .text("1"), ["address": .object(["zip": .text("0150"), "geo": .null])])
            _ = try session.patch("Person", .text("1"), ["homes": .list([])])
            _ = try session.patch(
                "Person", .text("1"),
                ["places": .object(["k": .object(["zip": .text("9")]), "l": .object(["city": .text("D")])])])
        }
        #expect(realm.count("Address") == 3 && realm.count("Geo") == 0)
        let shown = try #require(try realm.show("Person", 1))
        #expect(shown.contains("address:{city:'Oslo' zip:'0150' phones:[] owner:null geo:null}"), "\(shown)")
        #expect(shown.contains("places:{k:{city:'C' zip:'9' phones:[] owner:Person#1 geo:null} l:{city:'D' zip:null"), "\(shown)")
        try realm.write { _ = try $0.delete("Person", .text("1")) }
        #expect(realm.count("Address") == 0)
        #expect(realm.failure { try $0.create("Address", ["city": .text("x")]) }?.code == .embeddedClass)
        try realm.finish()
    }

    @Test func `put replaces, patch merges, upsert writes what is given`() throws {
        let realm = try realm()
        let full: InputObject = [
            "_id": .integer(1), "name": .text("Ann"), "age": .integer(3), "tags": .list([.text("a")]),
            "marks": .object(["x": .integer(1), "y": .integer(2)]), "any": .object(["k": .integer(1)]),
        ]
        try realm.write { _ = try $0.create("Person", full) }
        #expect(realm.failure { try $0.create("Person", full) }?.code == .duplicateKey)
        try realm.write { session in
            let known = try session.upsert("Person", ["_id": .integer(1), "age": .integer(4)], .all)
            let other = try session.upsert("Person", ["_id": .integer(2), "name": .text("Bob")], .modified)
            #expect(!known.isCreated && other.isCreated)
            _ = try session.patch(
                "Person", .text("1"),
                [
                    "marks": .object(["x": .null, "z": .integer(3)]), "any": .object(["l": .null]), "_id": .integer(1),
                ])
        }
        let merged = try #require(try realm.show("Person", 1))
        #expect(merged.contains("age:4") && merged.contains("tags:['a']") && merged.contains("marks:{y:2 z:3}"))
        #expect(merged.contains("any:{l:null}"))
        #expect(try realm.write { try $0.put("Person", .text("1"), ["name": .text("Al")]) }.value.isCreated == false)
        #expect(try realm.show("Person", 1) == "{_id:1 name:'Al' " + Self.empty)
        #expect(realm.failure { try $0.put("Person", .text("1"), ["age": .integer(1)]) }?.code == .missingProperty)
        #expect(
            realm.failure { try $0.put("Person", .text("1"), ["_id": .integer(2), "name": .text("x")]) }?.code == .keyMismatch)
        #expect(realm.failure { try $0.patch("Person", .text("1"), ["_id": .integer(2)]) }?.code == .primaryKeyImmutable)
        #expect(realm.failure { try $0.patch("Person", .text("x"), [:]) }?.code == .objectNotFound)
        #expect(realm.failure { try $0.put("Log", .text("@k7"), ["line": .text("x")]) }?.code == .objectNotFound)
        #expect(realm.failure { try $0.upsert("Log", ["line": .text("x")], .all) }?.code == .noPrimaryKey)
        #expect(try realm.write { try $0.put("Person", .text("7"), ["name": .text("New")]) }.value.isCreated)
        #expect(try realm.show("Person", 7) == "{_id:7 name:'New' " + Self.empty)
        try realm.finish()
    }

    @Test func `an upsert that leaves equal values alone changes nothing`() throws {
        let realm = try realm()
        let body: InputObject = [
            "_id": .integer(1), "name": .text("Ann"), "tags": .list([.text("a")]), "colors": .list([.text("b"), .text("a")]),
            "marks": .object(["x": .integer(1)]), "address": .object(["city": .text("Oslo")]), "any": .list([.integer(1)]),
            "boss": .integer(1), "price": .text("1.0"),
        ]
        let first = try realm.write { _ = try $0.create("Person", body) }
        let second = try realm.write { _ = try $0.upsert("Person", body, .modified) }
        #expect(first.version.token == second.version.token)
        let third = try realm.write { _ = try $0.upsert("Person", ["_id": .integer(1), "price": .text("1.00")], .modified) }
        #expect(third.version.token != second.version.token)
        try realm.finish()
    }

    @Test func `keys are made up for ids`() throws {
        let realm = try realm()
        let places = try realm.write { session in
            try (0..<3).map { _ in try session.create("Note", ["text": .text("hello there")]).place }
        }
        #expect(Set(places.value).count == 3)
        let table = try #require(realm.database.current.snapshot.classTable(named: "Note"))
        let column = try #require(table.primaryKey)
        let ids = try places.value.map { place -> ObjectID in
            guard case .objectID(let id)? = try table.find(place.object)?.value(column) else {
                Issue.record("an id of another type")
                return ObjectID(first: 0, last: 0)
            }
            return id
        }
        #expect(ids == ids.sorted())
        try realm.finish()
    }

    @Test func `unknown members are ignored on request`() throws {
        let realm = try realm()
        let options = WriteSession.Options(ignoresUnknownMembers: true)
        try realm.write {
            _ = try $0.create("Person", ["_id": .integer(1), "name": .text("x"), "foo": .integer(1)], options: options)
        }
        #expect(realm.count("Person") == 1)
        try realm.finish()
    }
}
