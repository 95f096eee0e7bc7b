// SPDX-License-Identifier: Apache-2.0

import RealmEngine
import RealmPlatform
import RealmStorage
import RealmTestSupport
import Testing

@Suite("Vectors: notifications")
struct ScenarioTests {
    static let scenarios = NotificationVectors.file("scenarios")
    static let histories = NotificationVectors.file("histories")

    @Test(.enabled(if: scenarios != nil, "the scenarios are not at hand"))
    func `every scenario is told as the reference engine tells it`() throws {
        var failures: [String] = []
        let scenarios = try #require(ScenarioTests.scenarios?["vectors"]?.elements)
        #expect(scenarios.count >= 134)
        for vector in scenarios {
            for isActive in [false, true] {
                do {
                    failures += try ScenarioRun(vector, isActive: isActive).run()
                } catch {
                    failures.append("\(vector["id"]?.text ?? ""): \(error)")
                }
            }
        }
        #expect(failures.isEmpty, "\(failures.count):\n\(failures.joined(separator: "\n"))")
    }

    @Test(.enabled(if: histories != nil, "the histories are not at hand"))
    func `from every version to every later one the direct difference is told`() throws {
        var failures: [String] = []
        let histories = try #require(ScenarioTests.histories?["vectors"]?.elements)
        #expect(histories.count >= 16)
        for vector in histories {
            for from in try #require(vector["commits"]?.elements).indices {
                do {
                    failures += try history(vector, from: from)
                } catch {
                    failures.append("\(vector["id"]?.text ?? "") from \(from): \(error)")
                }
            }
        }
        #expect(failures.isEmpty, "\(failures.count):\n\(failures.joined(separator: "\n"))")
    }

    /// Each range needs an observer of its own that is passive meanwhile.
    private func history(_ vector: ParsedJSON, from: Int) throws -> [String] {
        var failures: [String] = []
        let file = try #require(ScenarioTests.histories)
        let realm = try VectorRealm(schema: file["schema"]?.elements ?? [], initial: file["initial"]?.elements ?? [])
        let commits = (vector["commits"]?.elements ?? []).map { $0.elements ?? [] }
        for commit in commits[..<from] { try realm.commit(commit) }
        let observer = VectorObserver(json: vector["observer"] ?? .null, database: realm.database)
        let target = try observer.target()
        let observed = try (from..<commits.count).map { end in
            try Observed(ObservedTarget(target.kind, filter: target.filter, identity: "\(end)"), in: realm.database)
        }
        for (end, one) in zip(from..<commits.count, observed) {
            try realm.commit(commits[end])
            let label = "\(vector["id"]?.text ?? "") \(from)→\(end + 1)"
            let expected =
                vector["pairs"]?.elements?.first {
                    $0["from"]?.integer == Int64(from) && $0["to"]?.integer == Int64(end + 1)
                }?["change"] ?? .null
            let wanted = expected == .null ? [] : [VectorObserver.expected(expected)]
            let told = try one.events().map { try observer.text($0) }
            if told != wanted { failures.append("\(label): \(told) instead of \(wanted)") }
            let contents = observer.own(vector["contents"]?.elements?[end + 1] ?? .null)
            let state = try observer.text(try one.contents())
            if state != VectorObserver.expectedContents(contents) { failures.append("\(label): contents \(state)") }
        }
        try realm.realm.finish()
        return failures
    }
}

/// One scenario, by observers that are asked once after each step or that are told after each commit.
private struct ScenarioRun {
    private let vector: ParsedJSON
    private let isActive: Bool
    private let realm: VectorRealm

    init(_ vector: ParsedJSON, isActive: Bool) throws {
        self.vector = vector
        self.isActive = isActive
        realm = try VectorRealm(schema: vector["schema"]?.elements ?? [], initial: vector["initial"]?.elements ?? [])
    }

    func run() throws -> [String] {
        var failures: [String] = []
        var observed: [(observer: VectorObserver, observed: Observed)] = []
        for (number, step) in (vector["steps"]?.elements ?? []).enumerated() {
            for json in vector["observers"]?.elements ?? [] where (json["attachBeforeStep"]?.integer ?? 1) == Int64(number + 1) {
                let observer = VectorObserver(json: json, database: realm.database)
                observed.append((observer, try Observed(try observer.target(), in: realm.database, isActive: isActive)))
            }
            for id in step["removeObservers"]?.elements ?? [] {
                observed.removeAll { entry in
                    if entry.observer.id == id.text { entry.observed.detach() }
                    return entry.observer.id == id.text
                }
            }
            let skipped = try commit(step, observed)
            for (observer, one) in observed {
                failures += try check(observer, one, number + 1, skipped)
            }
        }
        try realm.realm.finish()
        return failures
    }

    /// Returns the versions that each observer skips.
    private func commit(_ step: ParsedJSON, _ observed: [(observer: VectorObserver, observed: Observed)]) throws -> [String: Set<
        UInt64
    >] {
        var skipped: [String: Set<UInt64>] = [:]
        for commit in step["commits"]?.elements ?? [] {
            let names = commit["withoutNotifying"]?.elements?.compactMap(\.text) ?? []
            guard commit["cancel"] != .bool(true) else { continue }
            let listeners = observed.filter { names.contains($0.observer.id) }.map { ObjectIdentifier($0.observed.listener) }
            try realm.commit(
                commit["ops"]?.elements ?? [], mark: names.isEmpty ? nil : CommitMark(listeners: Set(listeners)) { _, _ in })
            for name in names { skipped[name, default: []].insert(realm.database.current.token.version) }
        }
        return skipped
    }

    private func check(
        _ observer: VectorObserver, _ one: Observed, _ step: Int, _ skipped: [String: Set<UInt64>]
    ) throws -> [String] {
        let label = "\(vector["id"]?.text ?? "")\(isActive ? " active" : "") step \(step) \(observer.id)"
        var failures: [String] = []
        let events = try one.events().filter { skipped[observer.id]?.contains($0.to.token.version) != true }
        let expected = vector["expect"]?.elements?.first {
            $0["step"]?.integer == Int64(step) && $0["observer"]?.text == observer.id && $0["change"] != nil
        }?["change"]
        let wanted = expected.map { [VectorObserver.expected($0)] } ?? []
        let isOneRange = events.count <= 1 && (vector["steps"]?.elements?[step - 1]["commits"]?.elements?.count ?? 0) <= 1
        if isOneRange || !isActive && skipped.isEmpty {
            let told = try events.map { try observer.text($0) }
            if told != wanted { failures.append("\(label): \(told) instead of \(wanted)") }
        } else if let joined = ScenarioRun.join(events), !isActive {
            let told = joined.isEmpty ? [] : [VectorObserver.text(joined)]
            if told != wanted { failures.append("\(label): \(told) joined instead of \(wanted)") }
        }
        let contents = observer.own(vector["contents"]?[observer.id]?.elements?[step] ?? .null)
        let state = try observer.text(try one.contents())
        if state != VectorObserver.expectedContents(contents) {
            failures.append("\(label): contents \(state) instead of \(VectorObserver.expectedContents(contents))")
        }
        return failures
    }

    /// Several change sets as one.
    private static func join(_ events: [ObservationEvent]) -> CollectionChanges? {
        var log = ListChangeLog()
        for event in events {
            guard case .rows(let rows) = event.change else { return nil }
            log.merge(
                ListChangeLog(
                    deletions: rows.changes.deletions, insertions: rows.changes.insertions,
                    modified: rows.changes.modificationsNew, moves: rows.changes.moves))
        }
        return log.changes()
    }
}
