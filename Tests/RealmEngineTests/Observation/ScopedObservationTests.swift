// SPDX-License-Identifier: Apache-2.0

import RealmEngine
import RealmPlatform
import RealmQuery
import RealmStorage
import RealmTestSupport
import Testing

/// What listeners are told who may not see everything.
@Suite("Observation: listeners who see a part") struct ScopedObservationTests {
    /// Shows the nodes that match a query, and all of the other classes, without some properties.
    final class Scope: VersionScope {
        let identity: String
        private let rule: RowRule.Alternative
        private let hidden: Set<String>

        init(_ rule: String, hiding hidden: Set<String>) throws {
            identity = "\(rule) without \(hidden.sorted())"
            self.rule = RowRule.Alternative(try Query.parse(rule), [])
            self.hidden = hidden
        }

        func shown(of snapshot: Snapshot) -> SnapshotScope? {
            var shown: [TableKey: SnapshotScope.Shown] = [:]
            for table in snapshot.classes {
                let columns = table.columns.filter { hidden.contains($0.name) }
                var rule: (@Sendable (Table, Snapshot) -> ObjectRule)?
                if table.className == "Node" {
                    rule = { [alternative = self.rule] table, base in RowRule.make([alternative], for: table, in: base) }
                }
                shown[table.key] = SnapshotScope.Shown(hidden: columns, rule: rule)
            }
            return SnapshotScope(showing: shown, of: snapshot)
        }
    }

    /// Whoever came between the moment in which a hub was given up and the one in which it was closed observed a closed one.
    @Test func `a hub that is given up gives way to another at once`() throws {
        let realm = try EngineRealm(ObservationWorkload.classes, backlinkNames: ObservationWorkload.names)
        let scope = try Scope("value > 1", hiding: [])
        let first = realm.database.observations(for: scope)
        realm.database.forgetObservations(first, for: scope)
        let second = realm.database.observations(for: scope)
        #expect(second !== first)
        realm.database.forgetObservations(first, for: scope)
        #expect(realm.database.observations(for: scope) === second)
        first.close()
        let answer = Awaited<Result<Attached, ObservationError>>()
        second.attach(ObservedTarget(.realm, identity: "realm"), RecordingListener(), isActive: true) { answer.set($0) }
        _ = try answer.wait().get()
        try realm.finish()
    }

    /// Rules that read the object alone, or others that it links to or that link to it.
    private static let rules = [
        "value > 1", "group BEGINSWITH 'a' OR value == 3", "next.value > 1", "@links.Node.next.@count > 0", "other.value > 2",
        "ANY list.value == 2", "next == NULL", "child.node.value > 1",
    ]

    /// Objects that are hidden cannot be observed, and neither can what a hidden property leads to.
    static func isSeen(_ target: ObservedTarget, in view: Snapshot) throws -> Bool {
        switch target.kind {
        case .object(let object), .linkingObjects(let object, _, _, _):
            return try view.table(object.table)?.find(object.key) != nil
        case .collection(let property), .view(let property, _):
            let table = view.table(property.object.table)
            return try table?.find(property.object.key) != nil && table?.column(property.column) != nil
        default: return true
        }
    }

    @Test(arguments: 0..<(TestRun.isLong ? 80 : 2), rules)
    func `change sets lead a copy to what a fresh read of the view finds`(_ seed: Int, _ rule: String) throws {
        let realm = try EngineRealm(ObservationWorkload.classes, backlinkNames: ObservationWorkload.names)
        var generator = SeededGenerator(seed: UInt64(seed))
        let recorder = CommitRecorder(realm.database)
        try ObservationWorkload.write(realm, 40, &generator)
        let scope = try Scope(rule, hiding: seed % 2 == 0 ? [] : ["other", "intSet"])
        let view = realm.database.current.shown(by: scope)
        let targets = try ObservationPropertyTests.targets(realm.database).filter { target in
            if case .results(_, let query) = target.kind, seed % 2 != 0, query.query.text.contains("other") { return false }
            return try ScopedObservationTests.isSeen(target, in: view.snapshot)
        }
        #expect(targets.count > 20)
        let replays = try targets.flatMap { target in
            try [false, true].map { try ObservationReplay(target, in: realm.database, isActive: $0, scope: scope) }
        }
        for round in 0..<10 {
            let failures = try ObservationWorkload.round(realm, checking: replays, recorder, &generator)
            #expect(failures.isEmpty, "seed \(seed), \(rule), round \(round): \(failures.joined(separator: "\n"))")
            if !failures.isEmpty { return }
        }
        try realm.finish()
    }

    @Test func `a commit of hidden things only is not told`() throws {
        let realm = try EngineRealm(ObservationWorkload.classes, backlinkNames: ObservationWorkload.names)
        try realm.write { session in
            for id in 0..<6 {
                _ = try session.create(
                    "Node", ["_id": .integer(Int64(id)), "value": .integer(id < 3 ? 1 : 5), "group": .text("a")])
            }
            // Visible nodes link to hidden ones.
            _ = try session.patch("Node", .text("4"), ["next": .link(.stub(className: "Node", key: .text("0")))])
        }
        let scope = try Scope("value > 1", hiding: ["ints"])
        let node = try #require(realm.database.current.snapshot.classTable(named: "Node"))
        let results = ObservedTarget(
            .results(node.key, ObservedQuery(try Query.parse("TRUEPREDICATE"))), filter: .all, identity: "all")
        let whole = ObservedTarget(.realm, filter: .all, identity: "realm")
        let observed = try [results, whole].map { try Observed($0, in: realm.database, isActive: true, scope: scope) }
        try realm.write { session in
            _ = try session.patch("Node", .text("0"), ["group": .text("b")])
            _ = try session.delete("Node", .text("1"))
            _ = try session.patch("Node", .text("5"), ["ints": .list([.integer(1)])])
            _ = try session.create("Node", ["_id": .integer(9), "value": .integer(0), "group": .text("c")])
        }
        for one in observed { #expect(try one.events().isEmpty) }
        try realm.write { session in _ = try session.patch("Node", .text("2"), ["value": .integer(2)]) }
        for one in observed { #expect(try one.events().count == 1) }
        try realm.finish()
    }
}
