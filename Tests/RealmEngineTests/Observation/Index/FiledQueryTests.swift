// SPDX-License-Identifier: Apache-2.0

import RealmEngine
import RealmPlatform
import RealmQuery
import RealmStorage
import RealmTestSupport
import Testing

/// A hub looks at those targets alone that a commit may concern. What all targets are told is compared with what is found without a
/// hub: the queries before and after, and what was written.
@Suite("Observation: queries by what they demand") struct FiledQueryTests {
    /// One observed query.
    private struct Followed {
        let target: ObservedTarget
        let query: ObservedQuery
        let isActive: Bool
        let observed: Observed
        /// The version up to which its events were taken.
        var version: Version
        /// What the query finds there.
        var rows: [ObjectKey]
    }

    private static let seeds = 0..<(TestRun.isLong ? 600 : 9)

    @Test(arguments: seeds)
    func `what a hub tells is what each query finds before and after each commit`(_ seed: Int) throws {
        var limits = ObservationLimits()
        // Passive targets do not catch up by themselves.
        (limits.passiveCommits, limits.passiveVersions, limits.passiveTime) = (1000, 1000, .seconds(600))
        limits.maximumPassiveTime = .seconds(600)
        let realm = try EngineRealm(FiledQueryModel.classes, backlinkNames: FiledQueryModel.names, observation: limits)
        var random = SeededGenerator(seed: UInt64(seed))
        let recorder = CommitRecorder(realm.database)
        try write(realm, 40, &random)
        var followed: [Followed] = []
        // With few queries, few properties are filed.
        let count = [4, 20, 150][seed % 3]
        while followed.count < count { if let one = try follow(followed.count, realm, &random) { followed.append(one) } }
        let rounds = count < 100 ? 200 : 60
        for round in 0..<rounds {
            try change(realm, round, &random)
            for index in followed.indices where followed[index].isActive || round % 7 == 6 || round == rounds - 1 {
                let failure = try check(&followed[index], realm, recorder)
                guard let failure else { continue }
                Issue.record("seed \(seed), round \(round), \(followed[index].target.identity): \(failure)")
                return
            }
        }
        let metrics = realm.database.observations.metrics
        if count == 150 { #expect(metrics.passedOver > metrics.visited / 4, "\(metrics)") }
        for one in followed { one.observed.detach() }
        try realm.finish()
    }

    private func write(_ realm: EngineRealm, _ count: Int, _ random: inout SeededGenerator) throws {
        let seed = random.next()
        try realm.write { session in
            var random = SeededGenerator(seed: seed)
            for _ in 0..<count { try FiledQueryModel.step(session, &random) }
        }
    }

    /// Mostly a small commit; now and then one that changes the schema, or many objects.
    private func change(_ realm: EngineRealm, _ round: Int, _ random: inout SeededGenerator) throws {
        switch round {
        case 20: try realm.write { session in try session.fitSchema(FiledQueryModel.more) }
        case 30: try realm.write { session in _ = try session.deleteAllObjects() }
        case 31: try write(realm, 60, &random)
        case 40:
            try realm.write { session in _ = try session.patchWhere("Thing", try Query.parse("TRUEPREDICATE"), ["j": .integer(3)])
            }
        default: try write(realm, Int.random(in: 1...3, using: &random), &random)
        }
    }

    // MARK: - Queries

    /// Observes a random query; nil for one that does not fit the types.
    private func follow(_ number: Int, _ realm: EngineRealm, _ random: inout SeededGenerator) throws -> Followed? {
        let database = realm.database
        let version = database.current
        let table = try #require(version.snapshot.classTable(named: "Thing"))
        var draft = FiledQueryModel.Draft()
        let text = FiledQueryModel.condition(&draft, 2, &random) + (FiledQueryModel.endings.randomElement(using: &random) ?? "")
        let limit = Int.random(in: 0..<12, using: &random) == 0 ? 2 : nil
        let query = ObservedQuery(try Query.parse(text), draft.arguments, limit: limit)
        guard let rows = try? find(query, version, database) else { return nil }
        let filter: ObservedTarget.Filter
        switch Int.random(in: 0..<4, using: &random) {
        case 0: filter = .shallow
        case 1:
            let paths = FiledQueryModel.paths.randomElement(using: &random) ?? []
            filter = .keyPaths(try KeyPathFilter.resolve(paths, of: table, in: version.snapshot, names: database.backlinkNames))
        default: filter = .all
        }
        let isActive = number % 3 != 0
        let target = ObservedTarget(.results(table.key, query), filter: filter, identity: "\(number) \(text) \(draft.arguments)")
        let observed = try Observed(target, in: database, isActive: isActive)
        return Followed(
            target: target, query: query, isActive: isActive, observed: observed, version: version, rows: rows)
    }

    private func find(_ query: ObservedQuery, _ version: Version, _ database: Database) throws -> [ObjectKey] {
        let table = try #require(version.snapshot.classTable(named: "Thing"))
        return try query.query.bind(
            to: table, in: version.snapshot, arguments: query.arguments, mapping: database.backlinkNames.mapping
        ).execute(ResultWindow(limit: query.limit))
    }

    // MARK: - Checking

    /// Takes the events of a query, and returns what is wrong with them.
    private func check(_ one: inout Followed, _ realm: EngineRealm, _ recorder: CommitRecorder) throws -> String? {
        let events = try one.observed.events()
        if let error = one.observed.listener.error { return "\(error)" }
        let version = realm.database.current
        let rows = try find(one.query, version, realm.database)
        defer { (one.version, one.rows) = (version, rows) }
        let model = ObservationModel(
            from: one.version.snapshot, to: version.snapshot,
            written: recorder.changes(after: one.version.token.version, upTo: version.token.version))
        let table = try #require(version.snapshot.classTable(named: "Thing")).key
        let modified = try rows.map { try isModified($0, table, one.target.filter, model) }
        let expected = SequenceDiff.changes(
            from: one.rows.map(\.rawValue), to: rows.map(\.rawValue), isModified: { modified[$0] }, canReorder: true)
        guard events.count <= 1 else { return "\(events.count) events" }
        var told = CollectionChanges(deletions: [], insertions: [], modified: [])
        if case .rows(let change)? = events.first?.change { told = change.changes }
        return told == expected ? nil : "\(told) instead of \(expected), rows \(one.rows) and \(rows)"
    }

    private func isModified(
        _ key: ObjectKey, _ table: TableKey, _ filter: ObservedTarget.Filter, _ model: ObservationModel
    ) throws -> Bool {
        switch filter {
        case .shallow: return false
        case .all: return try model.isAffected(key, in: table)
        case .keyPaths(let filter): return try filter.chains.contains { try model.isHit(key, $0[...]) }
        }
    }
}
