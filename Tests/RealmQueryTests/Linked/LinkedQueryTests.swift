// SPDX-License-Identifier: Apache-2.0

import Foundation
import RealmEngine
import RealmPlatform
import RealmStorage
import RealmTestSupport
import Testing

@testable import RealmQuery

/// Conditions on linked objects and on collections, which are first tested object by object and then for a class as a whole.
@Suite("Conditions on linked objects and collections")
struct LinkedQueryTests {
    /// An object of the model.
    private struct Person {
        var id: Int64 = 0
        var age: Int64?
        var name: String?
        var boss: Int64?
        var friends: [Int64] = []
        var tags: [String?] = []
        var scores: [Int64?] = []
        var reals: [Double] = []
        var attributes: [String: String?] = [:]
        var misc = InputValue.null
        var place: (Double, Double)?
    }

    /// A query, and whether an object of the model matches it.
    private typealias Sample = (text: String, matches: (Person) -> Bool)

    private let realm: EngineRealm
    private let people: [Int64: Person]
    private let count: Int

    private static func classes() -> [ClassInput] {
        [
            ClassInput(
                "Place", type: "embedded",
                [PropertyInput("type", "string"), PropertyInput("coordinates", "double", collection: "list")]),
            ClassInput(
                "Person", primaryKey: "id",
                [
                    PropertyInput("id", "int"), PropertyInput("age", "int", optional: true),
                    PropertyInput("name", "string", optional: true),
                    PropertyInput("boss", "object", objectType: "Person"),
                    PropertyInput("friends", "object", collection: "list", objectType: "Person"),
                    PropertyInput("tags", "string", collection: "list", optional: true),
                    PropertyInput("scores", "int", collection: "set", optional: true),
                    PropertyInput("reals", "double", collection: "list"),
                    PropertyInput("attributes", "string", collection: "dictionary", optional: true),
                    PropertyInput("misc", "mixed"),
                    PropertyInput("place", "object", objectType: "Place"),
                ]),
        ]
    }

    /// Makes people, links between them, and then gaps among them.
    init() throws {
        let seed: UInt64 = 20
        var random = SeededGenerator(seed: seed)
        let count = 1500
        var people: [Int64: Person] = [:]
        for id in 0..<Int64(count) { people[id] = LinkedQueryTests.person(id, count, &random) }
        realm = try EngineRealm(LinkedQueryTests.classes())
        let made = (0..<Int64(count)).compactMap { people[$0] }.map(LinkedQueryTests.input)
        try realm.write { session in
            for (first, _) in made { _ = try session.create("Person", first) }
            for (id, (_, links)) in made.enumerated() { _ = try session.patch("Person", .primaryKey(.integer(Int64(id))), links) }
        }
        let gone = Set((0..<120).map { _ in Int64.random(in: 0..<Int64(count), using: &random) })
        try realm.write { session in
            for id in gone { _ = try session.delete("Person", .primaryKey(.integer(id))) }
        }
        for id in gone { people[id] = nil }
        for id in people.keys {
            if let boss = people[id]?.boss, gone.contains(boss) { people[id]?.boss = nil }
            people[id]?.friends.removeAll { gone.contains($0) }
        }
        self.people = people
        self.count = count
    }

    private static func person(_ id: Int64, _ count: Int, _ random: inout SeededGenerator) -> Person {
        func any() -> Int64 { Int64.random(in: 0..<Int64(count), using: &random) }
        func few<Element>(_ limit: Int, _ element: () -> Element) -> [Element] {
            (0..<Int.random(in: 0...limit, using: &random)).map { _ in element() }
        }
        var person = Person(id: id)
        person.age = id % 11 == 0 ? nil : Int64.random(in: 0..<100, using: &random)
        person.name = id % 13 == 0 ? nil : "name \(any() % 50)"
        person.boss = id % 5 == 0 ? nil : any()
        person.friends = few(4, any)
        person.tags = few(3) { any() % 9 == 0 ? nil : "tag \(any() % 20)" }
        // Some are longer than the short form of texts, and some longer than a leaf.
        if id % 50 == 0 { person.tags.append(String(repeating: "x", count: Int(id) % 90)) }
        person.scores = Array(Set(few(5) { any() % 9 == 0 ? nil : any() % 100 }))
        person.reals = few(3) { Double(any() % 100) / 2 }
        if id == 7 { person.reals = (0..<2500).map { Double($0) } }
        for key in few(3, { ["red", "green", "blue"][Int(any() % 3)] }) {
            person.attributes[key] = .some(any() % 7 == 0 ? nil : "v\(any() % 5)")
        }
        person.misc =
            [
                .null, .integer(any() % 100), .real(Double(any() % 200) / 2), .text("text \(any() % 10)"), .bool(id % 2 == 0),
                .typed(.decimal(Decimal128(any() % 100))), .typed(.binary([1, UInt8(id % 5)])),
            ][Int(id % 7)]
        person.place = id % 3 == 0 ? nil : (Double(any() % 360) - 179.5, Double(any() % 170) - 84.5)
        return person
    }

    /// What a person is made of, and what links to others.
    private static func input(_ person: Person) -> (values: InputObject, links: InputObject) {
        func optional<Wrapped>(_ value: Wrapped?, _ make: (Wrapped) -> InputValue) -> InputValue { value.map(make) ?? .null }
        let attributes = person.attributes.map { (name: $0.key, value: optional($0.value) { .text($0) }) }
        let place = person.place.map { place in
            InputValue.object(["type": .text("Point"), "coordinates": .list([.real(place.0), .real(place.1)])])
        }
        let values: InputObject = [
            "id": .integer(person.id), "age": optional(person.age) { .integer($0) }, "name": optional(person.name) { .text($0) },
            "tags": .list(person.tags.map { optional($0) { .text($0) } }),
            "scores": .list(person.scores.map { optional($0) { .integer($0) } }), "reals": .list(person.reals.map { .real($0) }),
            "attributes": .object(InputObject(attributes)), "misc": person.misc, "place": place ?? .null,
        ]
        let links: InputObject = [
            "boss": optional(person.boss) { .integer($0) }, "friends": .list(person.friends.map { .integer($0) }),
        ]
        return (values, links)
    }

    /// Compares what queries count and find with the model, and what they say of each object by itself.
    private func check(_ samples: [Sample]) throws {
        let snapshot = realm.database.current.snapshot
        let table = try #require(snapshot.classTable(named: "Person"))
        let id = try #require(table.column(named: "id"))
        for (text, matches) in samples {
            let expected = people.values.filter(matches).map(\.id).sorted()
            let query = try Query.parse(text).bind(to: table, in: snapshot)
            var found: [Int64] = []
            for key in try query.execute() {
                guard case .int(let number)? = try table.find(key)?.value(id) else { continue }
                found.append(number)
            }
            #expect(found.sorted() == expected, "\(text)")
            #expect(try query.count() == expected.count, "\(text)")
            // One object alone is tested without the whole class.
            for number in [Int64(1), 77, 900] where people[number] != nil {
                let one = try Query.parse("id == \(number) AND (\(text))").bind(to: table, in: snapshot)
                #expect(try one.count() == (expected.contains(number) ? 1 : 0), "\(text) for \(number)")
            }
        }
        try realm.finish()
    }

    private func boss(_ person: Person) -> Person? { person.boss.flatMap { people[$0] } }
    private func friends(_ person: Person) -> [Person] { person.friends.compactMap { people[$0] } }

    @Test func `one link`() throws {
        try check([
            ("boss.age > 90", { (self.boss($0)?.age ?? -1) > 90 }),
            ("boss.age != 7", { self.boss($0)?.age != 7 }),
            ("boss.age == nil", { self.boss($0)?.age == nil }),
            ("boss.age != nil", { self.boss($0)?.age != nil }),
            ("boss.name == 'name 7'", { self.boss($0)?.name == "name 7" }),
            ("boss.name ENDSWITH '7'", { self.boss($0)?.name?.hasSuffix("7") ?? false }),
            ("boss.boss.age < 10", { self.boss($0).flatMap(self.boss).flatMap(\.age).map { $0 < 10 } ?? false }),
            ("boss.boss.boss.name != 'name 3'", { self.boss($0).flatMap(self.boss).flatMap(self.boss)?.name != "name 3" }),
            ("NOT boss.age > 20 AND boss.age < 50", { self.boss($0)?.age.map { $0 <= 20 } ?? false }),
        ])
    }

    @Test func `many links`() throws {
        try check([
            ("ANY friends.age > 95", { self.friends($0).contains { ($0.age ?? -1) > 95 } }),
            ("ALL friends.age > 50", { self.friends($0).allSatisfy { ($0.age ?? -1) > 50 } }),
            ("NONE friends.age > 50", { !self.friends($0).contains { ($0.age ?? -1) > 50 } }),
            ("ANY friends.age == nil", { self.friends($0).contains { $0.age == nil } }),
            ("friends.name == 'name 4'", { self.friends($0).contains { $0.name == "name 4" } }),
            ("friends.boss.age == 20", { self.friends($0).compactMap(self.boss).contains { $0.age == 20 } }),
            ("ALL friends.boss.age > 20", { self.friends($0).compactMap(self.boss).allSatisfy { ($0.age ?? -1) > 20 } }),
            ("boss.friends.age > 90", { self.boss($0).map(self.friends)?.contains { ($0.age ?? -1) > 90 } ?? false }),
            ("NONE boss.friends.age > 90", { !(self.boss($0).map(self.friends)?.contains { ($0.age ?? -1) > 90 } ?? false) }),
            ("friends.friends.age == 3", { self.friends($0).flatMap(self.friends).contains { $0.age == 3 } }),
            ("friends.@count == 2", { self.friends($0).count == 2 }),
            (
                "SUBQUERY(friends, $f, $f.age > 30 AND $f.boss.age > 30).@count == 1",
                { person in
                    self.friends(person).count(where: { ($0.age ?? -1) > 30 && (self.boss($0)?.age ?? -1) > 30 }) == 1
                }
            ),
            ("@links.Person.boss.@count > 1", { person in self.people.values.count(where: { $0.boss == person.id }) > 1 }),
            ("@links.Person.boss.age == 50", { person in self.people.values.contains { $0.boss == person.id && $0.age == 50 } }),
            (
                "@links.@count == 0",
                { person in
                    !self.people.values.contains { $0.boss == person.id || $0.friends.contains(person.id) }
                }
            ),
        ])
    }

    @Test func `collections of values`() throws {
        try check([
            ("ANY tags == 'tag 3'", { $0.tags.contains("tag 3") }),
            ("ALL tags == 'tag 3'", { $0.tags.allSatisfy { $0 == "tag 3" } }),
            ("NONE tags == 'tag 3'", { !$0.tags.contains("tag 3") }), ("tags == nil", { $0.tags.contains(nil) }),
            ("ANY tags != 'tag 3'", { $0.tags.contains { $0 != "tag 3" } }),
            ("ANY tags CONTAINS[c] 'G 1'", { $0.tags.contains { $0?.contains("g 1") ?? false } }),
            ("ANY tags ==[c] 'TAG 9'", { $0.tags.contains("tag 9") }), ("tags.@count > 2", { $0.tags.count > 2 }),
            ("ANY scores > 90", { $0.scores.contains { ($0 ?? -1) > 90 } }),
            ("ALL scores >= 20", { $0.scores.allSatisfy { ($0 ?? -1) >= 20 } }),
            ("scores == nil", { $0.scores.contains(nil) }), ("NONE scores != 5", { !$0.scores.contains { $0 != 5 } }),
            ("ANY scores == 7.0", { $0.scores.contains(7) }), ("scores.@count == 3", { $0.scores.count == 3 }),
            ("ANY reals > 40.5", { $0.reals.contains { $0 > 40.5 } }), ("ALL reals < 30", { $0.reals.allSatisfy { $0 < 30 } }),
            ("ANY reals == 2499.0", { $0.reals.contains(2499) }), ("reals.@count > 1000", { $0.reals.count > 1000 }),
            ("attributes['red'] == 'v1'", { $0.attributes["red"] == "v1" }),
            ("attributes['red'] != 'v1'", { !$0.attributes.isEmpty && $0.attributes["red"] != "v1" }),
            ("attributes['red'] == nil", { !$0.attributes.isEmpty && ($0.attributes["red"] ?? nil) == nil }),
            ("ANY attributes == 'v2'", { $0.attributes.values.contains("v2") }),
            ("ALL attributes == 'v2'", { $0.attributes.values.allSatisfy { $0 == "v2" } }),
            ("NONE attributes.@values == 'v2'", { !$0.attributes.values.contains("v2") }),
            ("ANY attributes.@keys == 'blue'", { $0.attributes.keys.contains("blue") }),
            ("ALL attributes.@keys BEGINSWITH 'b'", { $0.attributes.keys.allSatisfy { $0.hasPrefix("b") } }),
            ("attributes.@count == 2", { $0.attributes.count == 2 }),
        ])
    }

    @Test func `links at the end of a path, where null is a value of one link only`() throws {
        let wanted = try #require(people.values.filter { !$0.friends.isEmpty }.map(\.id).min())
        let object = "obj('Person', \(wanted))"
        try check([
            ("boss.boss == \(object)", { self.boss($0)?.boss == wanted }),
            ("boss.boss != \(object)", { self.boss($0)?.boss != wanted }),
            ("ANY friends.boss == \(object)", { self.friends($0).contains { $0.boss == wanted } }),
            ("ANY friends.boss != \(object)", { self.friends($0).contains { $0.boss != nil && $0.boss != wanted } }),
            ("ALL friends.boss == \(object)", { self.friends($0).allSatisfy { $0.boss == nil || $0.boss == wanted } }),
        ])
    }

    @Test func `aggregates of linked objects and of collections`() throws {
        func ages(_ person: Person) -> [Int64] { friends(person).compactMap(\.age) }
        func average(_ person: Person) -> Double? {
            ages(person).isEmpty ? nil : Double(ages(person).reduce(0, +)) / Double(ages(person).count)
        }
        try check([
            ("friends.@avg.age > 60", { (average($0) ?? 0) > 60 }), ("friends.@max.age == 99", { ages($0).max() == 99 }),
            ("friends.@sum.age == 0", { ages($0).reduce(0, +) == 0 }), ("friends.@min.age == nil", { ages($0).isEmpty }),
            ("scores.@sum > 200", { $0.scores.compactMap(\.self).reduce(0, +) > 200 }),
            ("scores.@max == nil", { $0.scores.compactMap(\.self).isEmpty }),
            (
                "scores.@avg > 70",
                { person in
                    let scores = person.scores.compactMap(\.self)
                    return !scores.isEmpty && Double(scores.reduce(0, +)) / Double(scores.count) > 70
                }
            ),
            ("reals.@sum > 60", { $0.reals.reduce(0, +) > 60 }),
        ])
    }

    @Test func `orders by properties of linked objects`() throws {
        let snapshot = realm.database.current.snapshot
        let table = try #require(snapshot.classTable(named: "Person"))
        let id = try #require(table.column(named: "id"))
        // Who has no boss comes last, whose boss has no age comes first.
        func rank(_ person: Person) -> Int64 { boss(person).map { $0.age ?? -1 } ?? 1000 }
        let expected = people.values.sorted { (rank($0), $0.id) < (rank($1), $1.id) }.map(\.id)
        var found: [Int64] = []
        for key in try Query.parse("TRUEPREDICATE SORT(boss.age ASC, id ASC)").bind(to: table, in: snapshot).execute() {
            guard case .int(let number)? = try table.find(key)?.value(id) else { continue }
            found.append(number)
        }
        #expect(found == expected)
        try realm.finish()
    }

    @Test(arguments: [5, 700, 10_000])
    func `the first by texts of linked objects`(_ limit: Int) throws {
        let snapshot = realm.database.current.snapshot
        let table = try #require(snapshot.classTable(named: "Person"))
        let id = try #require(table.column(named: "id"))
        // Who has no boss comes last, whose boss has no name comes first.
        func rank(_ person: Person) -> String { boss(person).map { $0.name ?? "" } ?? "z" }
        let expected = people.values.sorted { (rank($0), $0.id) < (rank($1), $1.id) }.map(\.id).prefix(limit)
        let text = "TRUEPREDICATE SORT(boss.name ASC, id ASC) LIMIT(\(limit))"
        let found = try Query.parse(text).bind(to: table, in: snapshot).execute().compactMap { key -> Int64? in
            guard case .int(let number)? = try table.find(key)?.value(id) else { return nil }
            return number
        }
        #expect(found == Array(expected))
        try realm.finish()
    }

    @Test func `mixed values and places`() throws {
        func number(_ person: Person) -> Double? {
            switch person.misc {
            case .integer(let number): Double(number)
            case .real(let number): number
            case .typed(.decimal(let number)): Double(number.description)
            default: nil
            }
        }
        func text(_ person: Person) -> String? {
            if case .text(let text) = person.misc { text } else { nil }
        }
        func isNull(_ person: Person) -> Bool { if case .null = person.misc { true } else { false } }
        try check([
            ("misc > 50", { (number($0) ?? 0) > 50 }), ("misc == 7", { number($0) == 7 }), ("misc != 7", { number($0) != 7 }),
            ("misc <= 12.5", { number($0).map { $0 <= 12.5 } ?? false }), ("misc == 'text 3'", { text($0) == "text 3" }),
            ("misc != 'text 3'", { text($0) != "text 3" }), ("misc ==[c] 'TEXT 3'", { text($0) == "text 3" }),
            ("misc !=[c] 'TEXT 3'", { text($0) != "text 3" }), ("misc BEGINSWITH 'text'", { text($0) != nil }),
            ("misc == nil", { isNull($0) }), ("misc != nil", { !isNull($0) }),
            ("misc == true", { if case .bool(true) = $0.misc { true } else { false } }),
            ("misc.@type == 'string'", { text($0) != nil }), ("misc.@type != 'string'", { text($0) == nil }),
            ("misc.@type == 'numeric'", { number($0) != nil }), ("misc.@type == 'null'", isNull),
            ("misc.@type != 'null'", { !isNull($0) }),
            ("misc.@type == 'decimal'", { if case .typed(.decimal) = $0.misc { true } else { false } }),
            ("boss.misc > 90", { (self.boss($0).flatMap(number) ?? 0) > 90 }),
            (
                "place GEOWITHIN geoBox([-20.0, -30.0], [60.0, 50.0])",
                { person in
                    person.place.map { GeoSample.box.contains(longitude: $0.0, latitude: $0.1) } ?? false
                }
            ),
            (
                "NONE place GEOWITHIN geoCircle([10.0, 40.0], 1.0)",
                { person in
                    !(person.place.map { GeoSample.circle.contains(longitude: $0.0, latitude: $0.1) } ?? false)
                }
            ),
            (
                "friends.place GEOWITHIN geoCircle([10.0, 40.0], 1.0)",
                { person in
                    self.friends(person).compactMap(\.place).contains {
                        GeoSample.circle.contains(longitude: $0.0, latitude: $0.1)
                    }
                }
            ),
        ])
    }
}

/// The regions that the queries on places name.
private enum GeoSample {
    static let box = region(.box(GeoPoint(longitude: -20, latitude: -30), GeoPoint(longitude: 60, latitude: 50)))
    static let circle = region(.circle(center: GeoPoint(longitude: 10, latitude: 40), radius: 1))

    private static func region(_ shape: GeoShape) -> GeoRegion {
        guard let region = try? GeoRegion(shape) else { preconditionFailure("the shape is valid") }
        return region
    }
}
