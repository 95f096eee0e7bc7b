// SPDX-License-Identifier: Apache-2.0

import RealmEngine
import RealmPlatform
import RealmQuery
import RealmStorage
import RealmTestSupport
import Testing

/// How many targets a commit is shown to, and that none is missed when there are many.
@Suite("Observation: a commit is shown to few of many targets") struct FiledTargetTests {
    private static let classes = [
        ClassInput(
            "Item", primaryKey: "_id",
            [
                PropertyInput("_id", "int"), PropertyInput("value", "int"), PropertyInput("real", "double"),
                PropertyInput("name", "string"), PropertyInput("items", "object", collection: "list", objectType: "Item"),
            ])
    ]

    private func realm(_ count: Int, _ limits: ObservationLimits = ObservationLimits()) throws -> EngineRealm {
        let realm = try EngineRealm(FiledTargetTests.classes, observation: limits)
        try realm.write { session in
            for id in 0..<Int64(count) {
                _ = try session.create(
                    "Item",
                    ["_id": .integer(id), "value": .integer(id), "real": .real(Double(id)), "name": .text("n\(id)")])
            }
        }
        return realm
    }

    private func table(_ realm: EngineRealm) throws -> Table {
        try #require(realm.database.current.snapshot.classTable(named: "Item"))
    }

    private func target(_ realm: EngineRealm, _ text: String) throws -> ObservedTarget {
        ObservedTarget(.results(try table(realm).key, ObservedQuery(try Query.parse(text))), identity: text)
    }

    private func set(_ realm: EngineRealm, _ id: Int64, _ body: InputObject) throws {
        try realm.write { session in _ = try session.patch("Item", .text("\(id)"), body) }
    }

    /// The numbers of targets that a hub has looked at and passed over, after everything was delivered.
    private func counts(_ realm: EngineRealm, _ one: Observed) throws -> (visited: UInt64, passedOver: UInt64) {
        _ = try one.events()
        let metrics = realm.database.observations.metrics
        return (metrics.visited, metrics.passedOver)
    }

    @Test func `a commit is shown to the queries that its object matches before or after`() throws {
        let realm = try realm(300)
        let observed = try (0..<300).map { try Observed(try target(realm, "value == \($0)"), in: realm.database, isActive: true) }
        let before = try counts(realm, observed[0])
        try set(realm, 7, ["name": .text("x")])
        let named = try counts(realm, observed[0])
        #expect(named.visited - before.visited == 1 && named.passedOver - before.passedOver == 299)
        try set(realm, 7, ["value": .integer(9)])
        let moved = try counts(realm, observed[0])
        #expect(moved.visited - named.visited == 2 && moved.passedOver - named.passedOver == 298)
        try set(realm, 8, ["value": .integer(1000)])
        #expect(try counts(realm, observed[0]).visited - moved.visited == 1)
        #expect(try observed.map { try $0.events().count }.filter { $0 > 0 }.count == 3)
        try realm.finish()
    }

    @Test func `a commit is shown to the objects and the lists that it concerns`() throws {
        let realm = try realm(100)
        let table = try table(realm)
        let list = try #require(table.column(named: "items"))
        let keys = try (0..<100).map { try #require(try table.findByPrimaryKey(.int($0))).key }
        var observed: [Observed] = []
        for (id, key) in keys.enumerated() {
            let object = ObservedObject(table.key, key)
            observed.append(
                try Observed(ObservedTarget(.object(object), identity: "object \(id)"), in: realm.database, isActive: true))
            let property = ObservedProperty(object, list.key)
            observed.append(
                try Observed(
                    ObservedTarget(.collection(property), filter: .shallow, identity: "list \(id)"), in: realm.database,
                    isActive: true))
        }
        let before = try counts(realm, observed[0])
        try set(realm, 5, ["value": .integer(3)])
        #expect(try counts(realm, observed[0]).visited - before.visited == 2)
        try realm.write { session in _ = try session.delete("Item", .text("6")) }
        #expect(try observed.map { try $0.events().count } == (0..<200).map { [10, 12, 13].contains($0) ? 1 : 0 })
        try set(realm, 7, ["value": .integer(3)])
        #expect(try observed[12].events().isEmpty)
        try realm.finish()
    }

    @Test func `a result in sections is shown what its query demands`() throws {
        let realm = try realm(100)
        let order = ResultOrder(sort: [.init(path: "value")])
        let sections = ObservedSections(key: { cell in
            guard case .value(.int(let number)) = cell else { return SectionIdentity("") }
            return SectionIdentity("\(number / 10)")
        })
        let query = ObservedQuery(try Query.parse("value < 50"), order: order)
        let observed = try Observed(
            ObservedTarget(.sections(try table(realm).key, query, sections), identity: "sections"), in: realm.database,
            isActive: true)
        let before = try counts(realm, observed)
        try set(realm, 70, ["value": .integer(60)])
        #expect(try counts(realm, observed).visited == before.visited)
        try set(realm, 70, ["value": .integer(12)])
        try set(realm, 70, ["name": .text("in")])
        try set(realm, 70, ["value": .integer(32)])
        try set(realm, 70, ["value": .integer(80)])
        #expect(try observed.events().count == 4)
        try realm.finish()
    }

    @Test func `targets that nobody waits for keep one version, although commits concern one after the other`() throws {
        var limits = ObservationLimits()
        (limits.passiveCommits, limits.passiveVersions, limits.passiveTime) = (1000, 1000, .seconds(600))
        let realm = try realm(60, limits)
        let observed = try (0..<50).map { try Observed(try target(realm, "value == \($0)"), in: realm.database) }
        let active = try Observed(try target(realm, "value == 55"), in: realm.database, isActive: true)
        for id in 0..<50 { try set(realm, Int64(id), ["value": .integer(1000)]) }
        _ = try active.events()
        #expect(eventually { realm.database.observations.metrics.heldVersions == 1 })
        #expect(try observed.map { try $0.events().count } == (0..<50).map { _ in 1 })
        try realm.finish()
    }

    @Test func `no query is missed when many objects change in one commit`() throws {
        let realm = try realm(3000)
        let texts = ["value == 1", "value > 2990", "name ENDSWITH '77'", "real BETWEEN {10, 20} SORT(value DESC) LIMIT(3)"]
        let observed = try texts.map { try Observed(try target(realm, $0), in: realm.database, isActive: true) }
        try realm.write { session in
            _ = try session.patchWhere("Item", try Query.parse("TRUEPREDICATE"), ["name": .text("77")])
        }
        #expect(try observed.map { try $0.events().count } == [1, 1, 1, 1])
        try realm.write { session in _ = try session.deleteWhere("Item", try Query.parse("value != 15")) }
        #expect(try observed.map { try $0.events().count } == [1, 1, 1, 1])
        try realm.finish()
    }

    /// Ranges are sorted when there are many, so they come and go here.
    @Test(arguments: 0..<(TestRun.isLong ? 60 : 3))
    func `each of many ranges is told of the objects in it`(_ seed: Int) throws {
        let realm = try realm(200)
        var random = SeededGenerator(seed: UInt64(seed))
        var ranges: [(lower: Int64?, upper: Int64?, observed: Observed)] = []
        func add(_ number: Int) throws {
            let lower: Int64? = Int.random(in: 0..<5, using: &random) == 0 ? nil : Int64.random(in: -10..<210, using: &random)
            let length = Int64([0, 1, 5, 200].randomElement(using: &random) ?? 0)
            let upper =
                Int.random(in: 0..<5, using: &random) == 0 ? nil : (lower ?? Int64.random(in: 0..<200, using: &random)) + length
            let parts = [lower.map { "value >= \($0)" }, upper.map { "value <= \($0)" }].compactMap { $0 }
            // The name never matters, but makes each query another one.
            let text = (parts + ["name != 'none \(number)'"]).joined(separator: " AND ")
            ranges.append((lower, upper, try Observed(try target(realm, text), in: realm.database, isActive: true)))
        }
        for number in 0..<400 { try add(number) }
        for round in 0..<40 {
            for number in 0..<Int.random(in: 0..<30, using: &random) {
                if ranges.count > 50, Bool.random(using: &random) {
                    ranges.remove(at: Int.random(in: ranges.indices, using: &random)).observed.detach()
                } else {
                    try add(1000 + round * 100 + number)
                }
            }
            let id = Int64.random(in: 0..<200, using: &random)
            let old = try #require(try table(realm).findByPrimaryKey(.int(id)))
            guard case .int(let before) = try old.value(try #require(try table(realm).column(named: "value"))) else { return }
            let after = Int64.random(in: -5..<205, using: &random)
            try set(realm, id, ["value": .integer(after)])
            let told = try ranges.map { try $0.observed.events().count }
            let expected = ranges.map { range in
                [before, after].contains { $0 >= range.lower ?? .min && $0 <= range.upper ?? .max } ? 1 : 0
            }
            #expect(told == expected, "seed \(seed), round \(round), \(before) to \(after)")
            if told != expected { return }
        }
        for range in ranges { range.observed.detach() }
        try realm.finish()
    }
}
