// SPDX-License-Identifier: Apache-2.0

import Foundation
import RealmEngine
import RealmPlatform
import RealmQuery
import RealmStorage
import RealmTestSupport
import Testing

/// Times are compared with each other, the best of several, in the same run: nothing depends on the speed of a machine.
@Suite("Observation: what a commit costs")
struct ObservationCostTests {
    private static let count = TestRun.isLong ? 100_000 : 20_000

    @Test func `a change in an unsorted result costs what changed, not what there is`() throws {
        let realm = try EngineRealm([
            ClassInput(
                "Item", primaryKey: "_id",
                [
                    PropertyInput("_id", "int"), PropertyInput("value", "int"), PropertyInput("name", "string"),
                ]),
            ClassInput("Other", primaryKey: "_id", [PropertyInput("_id", "int"), PropertyInput("value", "int")]),
        ])
        try realm.write { session in
            for id in 0..<ObservationCostTests.count {
                let id = Int64(id)
                _ = try session.create("Item", ["_id": .integer(id), "value": .integer(id % 100), "name": .text("n")])
            }
            _ = try session.create("Other", ["_id": .integer(0), "value": .integer(0)])
        }
        let table = try #require(realm.database.current.snapshot.classTable(named: "Item"))
        // Written in a way that no index or kernel makes short.
        let query = try Query.parse("name ENDSWITH[c] 'N' AND value < 50")
        let whole = try best { _ in
            _ = try query.bind(to: table, in: realm.database.current.snapshot).execute()
        }
        let observed = try Observed(
            ObservedTarget(.results(table.key, ObservedQuery(query)), identity: "q"), in: realm.database, isActive: true)
        let matching = try best { round in
            try change(realm, "Item", Int64(round * 100 + 1), 2)
            try tell(observed, realm)
        } of: {
            realm.database.observations.metrics.lastRound.inSeconds
        }
        let coming = try best { round in
            try change(realm, "Item", Int64(round * 100 + 70), 2)
            try tell(observed, realm)
        } of: {
            realm.database.observations.metrics.lastRound.inSeconds
        }
        let evaluations = realm.database.observations.metrics.evaluations
        let unrelated = try best { round in
            try change(realm, "Other", 0, Int64(round))
            #expect(try observed.events().isEmpty)
        } of: {
            realm.database.observations.metrics.lastRound.inSeconds
        }
        #expect(realm.database.observations.metrics.evaluations == evaluations)
        print("whole query \(whole) s, modified row \(matching) s, new row \(coming) s, other class \(unrelated) s")
        #expect(matching < whole / 4)
        #expect(coming < whole / 4)
        #expect(unrelated < whole / 4)
        try realm.finish()
    }

    @Test func `key paths that end alike cost little more than one of them`() throws {
        let realm = try EngineRealm([
            ClassInput(
                "Item", primaryKey: "_id",
                [
                    PropertyInput("_id", "int"), PropertyInput("value", "int"),
                    PropertyInput("next", "object", objectType: "Item"),
                    PropertyInput("list", "object", collection: "list", objectType: "Item"),
                ])
        ])
        let count: Int64 = 2000
        try realm.write { session in
            for id in 0..<count { _ = try session.create("Item", ["_id": .integer(id), "value": .integer(0)]) }
            for id in 0..<count {
                let links = (Int64(1)...3).map { InputValue.integer((id + 7 * $0) % count) }
                _ = try session.patch("Item", .text("\(id)"), ["next": .integer((id + 1) % count), "list": .list(links)])
            }
        }
        // All words of `next` and `list` with up to six letters.
        var words = ["next", "list"]
        var paths = words
        for _ in 1..<6 {
            words = words.flatMap { ["next.\($0)", "list.\($0)"] }
            paths += words
        }
        let one = try seconds(ofKeyPaths: ["next.value"], realm)
        let many = try seconds(ofKeyPaths: paths.map { "\($0).value" }, realm)
        print("one key path \(one) s, \(paths.count) key paths \(many) s")
        #expect(many < one * 20)
        try realm.finish()
    }

    /// How long a round takes in which all items change, for an observed item with key paths.
    private func seconds(ofKeyPaths paths: [String], _ realm: EngineRealm) throws -> Double {
        let snapshot = realm.database.current.snapshot
        let table = try #require(snapshot.classTable(named: "Item"))
        let row = try #require(try table.objects.row(at: 0))
        let filter = try KeyPathFilter.resolve(paths, of: table, in: snapshot, names: .none)
        let observed = try Observed(
            ObservedTarget(.object(ObservedObject(table.key, row.key)), filter: .keyPaths(filter), identity: "\(paths)"),
            in: realm.database, isActive: true)
        defer { observed.detach() }
        return try best { round in
            let value = InputValue.integer(Int64(paths.count * 100 + round))
            try realm.write { session in _ = try session.patchWhere("Item", Query.all, ["value": value]) }
            try tell(observed, realm)
        } of: {
            realm.database.observations.metrics.lastRound.inSeconds
        }
    }

    private func change(_ realm: EngineRealm, _ className: String, _ id: Int64, _ value: Int64) throws {
        try realm.write { session in _ = try session.patch(className, .text("\(id)"), ["value": .integer(value)]) }
    }

    private func tell(_ observed: Observed, _ realm: EngineRealm) throws {
        let events = try observed.events()
        #expect(events.count == 1)
    }

    /// The shortest of some runs, in seconds.
    private func best(_ body: (Int) throws -> Void) throws -> Double {
        var best = Double.infinity
        for round in 0..<8 {
            let start = Instant.now()
            try body(round)
            best = min(best, Instant.now().seconds(since: start))
        }
        return best
    }

    private func best(_ body: (Int) throws -> Void, of seconds: () -> Double) throws -> Double {
        var best = Double.infinity
        for round in 0..<8 {
            try body(round)
            best = min(best, seconds())
        }
        return best
    }
}
