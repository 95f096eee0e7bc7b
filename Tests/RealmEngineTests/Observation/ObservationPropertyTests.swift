// SPDX-License-Identifier: Apache-2.0

import Foundation
import RealmEngine
import RealmPlatform
import RealmQuery
import RealmStorage
import RealmTestSupport
import Testing

@Suite("Observation: random workloads")
struct ObservationPropertyTests {
    private static let seeds = 0..<(TestRun.isLong ? 300 : 6)

    @Test(arguments: seeds)
    func `change sets lead a copy to what a fresh read finds, and tell exactly what was modified`(_ seed: Int) throws {
        let realm = try EngineRealm(ObservationWorkload.classes, backlinkNames: ObservationWorkload.names)
        var generator = SeededGenerator(seed: UInt64(seed))
        let recorder = CommitRecorder(realm.database)
        try ObservationWorkload.write(realm, 30, &generator)
        let targets = try ObservationPropertyTests.targets(realm.database)
        let replays = try targets.flatMap { target in
            try [false, true].map { try ObservationReplay(target, in: realm.database, isActive: $0) }
        }
        for round in 0..<12 {
            let failures = try ObservationWorkload.round(realm, checking: replays, recorder, &generator)
            #expect(failures.isEmpty, "seed \(seed) round \(round): \(failures.joined(separator: "\n"))")
            if !failures.isEmpty { return }
        }
        try realm.finish()
    }

    @Test(arguments: seeds)
    func `what is committed while a target is evaluated on another thread is part of what it begins with`(_ seed: Int) throws {
        let realm = try EngineRealm(ObservationWorkload.classes, backlinkNames: ObservationWorkload.names)
        var generator = SeededGenerator(seed: UInt64(seed))
        let recorder = CommitRecorder(realm.database)
        try ObservationWorkload.write(realm, 30, &generator)
        var replays: [ObservationReplay] = []
        for target in try ObservationPropertyTests.targets(realm.database) {
            do {
                let replay = try ObservationReplay(
                    target, in: realm.database, isActive: seed % 2 == 0,
                    meanwhile: { try ObservationWorkload.write(realm, 2, &generator) })
                replays.append(replay)
            } catch ObservationError.notFound {
                // The workload has deleted the object.
            }
        }
        #expect(replays.count > 40, "seed \(seed)")
        for round in 0..<6 {
            let failures = try ObservationWorkload.round(realm, checking: replays, recorder, &generator)
            #expect(failures.isEmpty, "seed \(seed) round \(round): \(failures.joined(separator: "\n"))")
            if !failures.isEmpty { return }
        }
        try realm.finish()
    }

    @Test(arguments: seeds)
    func `targets that other threads advance tell the same, also while commits go on`(_ seed: Int) throws {
        var limits = ObservationLimits()
        limits.delayedTime = .seconds(-1)
        let realm = try EngineRealm(ObservationWorkload.classes, backlinkNames: ObservationWorkload.names, observation: limits)
        var generator = SeededGenerator(seed: UInt64(seed))
        let recorder = CommitRecorder(realm.database)
        try ObservationWorkload.write(realm, 30, &generator)
        let targets = try ObservationPropertyTests.targets(realm.database)
        let replays = try targets.enumerated().flatMap { index, target in
            let thread = EvaluationThread(client: ByteText("\(index % 3)")) { work in
                Threads.spawn("evaluation", work)
                return true
            }
            return try [false, true].map {
                try ObservationReplay(target, in: realm.database, isActive: $0, threads: [thread])
            }
        }
        for round in 0..<6 {
            let failures = try ObservationWorkload.round(realm, checking: replays, recorder, &generator)
            #expect(failures.isEmpty, "seed \(seed) round \(round): \(failures.joined(separator: "\n"))")
            if !failures.isEmpty { return }
        }
        try realm.finish()
    }

    private static let queries = [
        "TRUEPREDICATE", "value > 2", "value > 2 SORT(value ASC)", "TRUEPREDICATE SORT(next.value DESC, value ASC)",
        "TRUEPREDICATE DISTINCT(group)", "TRUEPREDICATE SORT(value DESC) DISTINCT(group)", "value < 5 LIMIT(3)",
        "TRUEPREDICATE SORT(group ASC, value ASC) LIMIT(4)", "next.value > 2", "ANY list.value == 2", "linkers.@count > 0",
        "@links.Node.list.value > 3", "other.value > 2 SORT(other.value ASC)", "next.next.value > 1", "list.@count > 1",
        "ints.@sum > 3", "child.node.value > 1", "dict.@count > 1 OR value == 1", "things.@count > 0",
    ]

    private static let paths: [[String]] = [
        ["value"], ["next.value"], ["list.value", "group"], ["next.next.value"], ["linkers"], ["linkers.value"], ["listers.next"],
        ["*"], ["child.node.value"], ["dict.value"], ["*.value"],
    ]

    static func targets(_ database: Database) throws -> [ObservedTarget] {
        let snapshot = database.current.snapshot
        let node = try #require(snapshot.classTable(named: "Node"))
        var targets: [ObservedTarget] = []
        func add(_ kind: ObservedTarget.Kind, _ name: String, _ filter: ObservedTarget.Filter = .all) {
            targets.append(ObservedTarget(kind, filter: filter, identity: name))
        }
        for text in queries {
            let query = try Query.parse(text)
            _ = try query.bind(to: node, in: snapshot, mapping: database.backlinkNames.mapping)
            add(.results(node.key, ObservedQuery(query)), text)
        }
        add(
            .results(
                node.key, ObservedQuery(try Query.parse("value > 1"), order: ResultOrder(sort: [.init(path: "value")]), limit: 3)),
            "limited")
        for paths in paths {
            let filter = try KeyPathFilter.resolve(paths, of: node, in: snapshot, names: database.backlinkNames)
            add(.results(node.key, ObservedQuery(try Query.parse("value > 0"))), "filter \(paths)", .keyPaths(filter))
        }
        // The workload may have deleted some.
        let ids = try (0..<14).filter { try node.findByPrimaryKey(.int($0)) != nil }.prefix(2)
        try #require(ids.count == 2)
        for id in ids { try addObject(id, node, database, add) }
        for section in ["group", "value"] {
            let order = ResultOrder(sort: [.init(path: section), .init(path: "_id")])
            add(.sections(node.key, ObservedQuery(order: order), sections), "sections \(section)")
        }
        add(.realm, "realm")
        return targets
    }

    /// By first letter, or by the remainder, which does not keep the order.
    private static let sections = ObservedSections(key: { cell in
        guard case .value(let value) = cell else { return SectionIdentity("") }
        switch value {
        case .string(let text): return SectionIdentity(String(text.prefix(1)))
        case .int(let number): return SectionIdentity("\(number % 2)")
        default: return SectionIdentity("")
        }
    })

    private static func addObject(
        _ id: Int64, _ node: Table, _ database: Database,
        _ add: (ObservedTarget.Kind, String, ObservedTarget.Filter) -> Void
    ) throws {
        let row = try #require(try node.findByPrimaryKey(.int(id)))
        let object = ObservedObject(node.key, row.key)
        add(.object(object), "object \(id)", .all)
        for paths in paths {
            let filter = try KeyPathFilter.resolve(
                paths, of: node, in: database.current.snapshot, names: database.backlinkNames)
            add(.object(object), "object \(id) \(paths)", .keyPaths(filter))
        }
        for name in ["list", "set", "dict", "ints", "intSet", "marks", "things", "children"] {
            let column = try #require(node.column(named: name))
            add(.collection(ObservedProperty(object, column.key)), "\(name) of \(id)", .all)
        }
        let list = try #require(node.column(named: "list"))
        let ints = try #require(node.column(named: "ints"))
        let next = try #require(node.column(named: "next"))
        let sort = ResultOrder(sort: [.init(path: "value")])
        add(
            .view(ObservedProperty(object, list.key), ObservedQuery(try Query.parse("value > 1"))), "filtered list of \(id)", .all
        )
        add(.view(ObservedProperty(object, list.key), ObservedQuery(order: sort)), "sorted list of \(id)", .shallow)
        let ascending = ResultOrder(sort: [.init(path: "self")])
        add(
            .view(ObservedProperty(object, ints.key), ObservedQuery(try Query.parse("self > 1"), order: ascending)),
            "sorted ints of \(id)", .all)
        add(.linkingObjects(to: object, origin: node.key, next.key, nil), "linkers of \(id)", .all)
        add(.linkingObjects(to: object, origin: node.key, list.key, ObservedQuery(order: sort)), "sorted listers of \(id)", .all)
    }
}
