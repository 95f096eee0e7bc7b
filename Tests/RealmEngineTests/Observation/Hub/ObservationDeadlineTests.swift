// SPDX-License-Identifier: Apache-2.0

import RealmEngine
import RealmPlatform
import RealmQuery
import RealmStorage
import RealmTestSupport
import Testing

@Suite("Observation: queries that take for ever")
struct ObservationDeadlineTests {
    /// Objects that all link to all: every step of a path multiplies what it reaches.
    private func realm(_ limits: ObservationLimits) throws -> EngineRealm {
        let realm = try EngineRealm(ObservationWorkload.classes, observation: limits)
        try realm.write { session in
            for id in 0..<40 {
                _ = try session.create("Node", ["_id": .integer(Int64(id)), "value": .integer(1), "group": .text("a")])
            }
        }
        return realm
    }

    private func linkAll(_ realm: EngineRealm) throws {
        try realm.write { session in
            let all = InputValue.list((0..<40).map { .integer(Int64($0)) })
            for id in 0..<40 { _ = try session.patch("Node", .text("\(id)"), ["list": all]) }
        }
    }

    private static let endless = "ANY list.list.list.list.list.list.list.value == _id - 100"

    private func target(_ realm: EngineRealm, _ text: String) throws -> ObservedTarget {
        let table = try #require(realm.database.current.snapshot.classTable(named: "Node"))
        return ObservedTarget(.results(table.key, ObservedQuery(try Query.parse(text))), identity: text)
    }

    @Test func `one that would not end fails when it is first looked at, and the others go on`() throws {
        var limits = ObservationLimits()
        limits.evaluationTime = .seconds(0.1)
        let realm = try realm(limits)
        try linkAll(realm)
        let other = try Observed(try target(realm, "value > 0"), in: realm.database, isActive: true)
        #expect(throws: ObservationError.self) { try Observed(try target(realm, Self.endless), in: realm.database) }
        try realm.write { session in _ = try session.patch("Node", .text("1"), ["value": .integer(0)]) }
        #expect(try other.events().count == 1)
        try realm.finish()
    }

    @Test func `one that comes not to end is over, and its listeners are told`() throws {
        var limits = ObservationLimits()
        limits.evaluationTime = .seconds(0.1)
        let realm = try realm(limits)
        let observed = try Observed(try target(realm, Self.endless), in: realm.database, isActive: true)
        let other = try Observed(try target(realm, "value > 0"), in: realm.database, isActive: true)
        try linkAll(realm)
        #expect(try other.events().count == 1)
        guard case .query(.cancelled)? = observed.listener.error else {
            Issue.record("\(String(describing: observed.listener.error))")
            return
        }
        try realm.finish()
    }

    /// Observes one object; the time of these tests may be over before an observation has begun.
    private func observe(_ realm: EngineRealm, _ paths: [String]) throws -> Observed {
        let snapshot = realm.database.current.snapshot
        let table = try #require(snapshot.classTable(named: "Node"))
        let row = try #require(try table.objects.row(at: 1))
        let filter: ObservedTarget.Filter =
            paths.isEmpty ? .all : .keyPaths(try KeyPathFilter.resolve(paths, of: table, in: snapshot, names: .none))
        let target = ObservedTarget(.object(ObservedObject(table.key, row.key)), filter: filter, identity: "\(paths)")
        for _ in 0..<50 {
            if let observed = try? Observed(target, in: realm.database, isActive: true) { return observed }
        }
        return try Observed(target, in: realm.database, isActive: true)
    }

    @Test func `key paths that lead to too many objects are over, and the others go on`() throws {
        var limits = ObservationLimits()
        limits.evaluationTime = .seconds(0.001)
        let realm = try EngineRealm(ObservationWorkload.classes, observation: limits)
        try realm.write { session in
            for id in 0..<400 {
                _ = try session.create("Node", ["_id": .integer(Int64(id)), "value": .integer(1), "group": .text("a")])
            }
        }
        try realm.write { session in
            let all = InputValue.list((0..<400).map { .integer(Int64($0)) })
            for id in 0..<400 { _ = try session.patch("Node", .text("\(id)"), ["list": all]) }
        }
        let observed = try observe(realm, ["list.list.value"])
        let other = try observe(realm, [])
        try realm.write { session in
            for id in 0..<400 { _ = try session.patch("Node", .text("\(id)"), ["value": .integer(2)]) }
        }
        #expect(try other.events().count == 1)
        guard case .query(.cancelled)? = observed.listener.error else {
            Issue.record("\(String(describing: observed.listener.error))")
            return
        }
        try realm.finish()
    }

    @Test func `a database that is closed does not wait for one`() throws {
        var limits = ObservationLimits()
        limits.evaluationTime = .seconds(3600)
        let realm = try realm(limits)
        try linkAll(realm)
        let answer = Awaited<Result<Attached, ObservationError>>()
        realm.database.observations.attach(try target(realm, Self.endless), RecordingListener(), isActive: true) {
            answer.set($0)
        }
        try realm.finish()
        #expect(throws: ObservationError.self) { try answer.wait().get() }
    }

    @Test func `one whose client has left is not evaluated, nor is one whose time has passed, and others are`() throws {
        var limits = ObservationLimits()
        limits.evaluationTime = .seconds(3600)
        let realm = try realm(limits)
        try linkAll(realm)
        var left = ObservedMemory.Admission()
        let asked = Awaited<Bool>()
        left.isWanted = {
            asked.set(true)
            return false
        }
        var late = ObservedMemory.Admission()
        late.deadline = Instant.now()
        for admission in [left, late] {
            let answer = Awaited<Result<Attached, ObservationError>>()
            realm.database.observations.attach(try target(realm, Self.endless), RecordingListener(), isActive: true, admission) {
                answer.set($0)
            }
            guard case .failure(.query(.cancelled)) = try answer.wait() else {
                Issue.record("an observation began")
                return
            }
        }
        #expect(try asked.wait())
        // Later evaluations do not ask that client.
        let other = try Observed(try target(realm, "value > 0"), in: realm.database, isActive: true)
        try realm.write { session in _ = try session.patch("Node", .text("1"), ["value": .integer(0)]) }
        #expect(try other.events().count == 1)
        try realm.finish()
    }
}
