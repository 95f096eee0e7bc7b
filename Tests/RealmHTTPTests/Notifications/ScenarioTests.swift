// SPDX-License-Identifier: Apache-2.0

import RealmEngine
import RealmTestSupport
import Testing

/// How a client hears of changes.
enum Transport: String, CaseIterable, Sendable { case events, polls }

/// Every scenario of the reference engine, told over the interface.
@Suite("Scenarios of the reference engine over HTTP (B24, B26, D4, D9, D10, D16, D36, D38, D48, D50, D52)")
struct ScenarioTests {
    private static let isThere = NotificationVectors.file("scenarios") != nil

    /// What a scenario is about. Each is about one thing.
    private enum Subject: String, CaseIterable {
        case results, list, set, dictionary, object, sectioned, keyPaths, linkingObjects, skipping

        init?(_ vector: ParsedJSON) {
            let id = vector["id"]?.text ?? ""
            if id.hasPrefix("skip-") {
                self = .skipping
            } else if id.contains("backlink") {
                self = .linkingObjects
            } else if id.contains("keypath") {
                self = .keyPaths
            } else {
                self.init(rawValue: vector["observers"]?.elements?.first?["kind"]?.text ?? "")
            }
        }
    }

    private func run(_ subject: Subject, _ transport: Transport) throws {
        let server = try ChangeServer()
        let all = try NotificationVectors.vectors("scenarios")
        #expect(all.count >= 134 && all.allSatisfy { Subject($0) != nil })
        let vectors = all.filter { Subject($0) == subject }
        #expect(!vectors.isEmpty)
        for (index, vector) in vectors.enumerated() {
            let id = vector["id"]?.text ?? ""
            do {
                var run = try ScenarioRun(server, "s\(index)", vector, transport)
                for problem in try run.problems() { Issue.record("\(id): \(problem)") }
            } catch {
                Issue.record("\(id): \(error)")
            }
        }
    }

    @Test(.enabled(if: isThere), arguments: Transport.allCases)
    func `B24, D9, D61: scenarios of results`(_ transport: Transport) throws { try run(.results, transport) }

    @Test(.enabled(if: isThere), arguments: Transport.allCases)
    func `B26, B27, D9, D61: scenarios of key paths`(_ transport: Transport) throws { try run(.keyPaths, transport) }

    @Test(.enabled(if: isThere), arguments: Transport.allCases)
    func `D4, D5, D9, D61: scenarios of lists`(_ transport: Transport) throws { try run(.list, transport) }

    @Test(.enabled(if: isThere), arguments: Transport.allCases)
    func `D9, D54, D61: scenarios of sets`(_ transport: Transport) throws { try run(.set, transport) }

    @Test(.enabled(if: isThere), arguments: Transport.allCases)
    func `D15, D16, D61: scenarios of dictionaries`(_ transport: Transport) throws { try run(.dictionary, transport) }

    @Test(.enabled(if: isThere), arguments: Transport.allCases)
    func `C19, D36, D38, D61: scenarios of objects`(_ transport: Transport) throws { try run(.object, transport) }

    @Test(.enabled(if: isThere), arguments: Transport.allCases)
    func `B33, D9, D10, D50, D52, D61: scenarios of sections`(_ transport: Transport) throws { try run(.sectioned, transport) }

    @Test(.enabled(if: isThere), arguments: Transport.allCases)
    func `D9, D48, D61: scenarios of linking objects`(_ transport: Transport) throws { try run(.linkingObjects, transport) }

    @Test(.enabled(if: isThere), arguments: Transport.allCases)
    func `A27, D61: scenarios of writes that are not told to all`(_ transport: Transport) throws { try run(.skipping, transport) }
}

/// On a busy machine the commits of a step are told one by one, which has to add up to what is expected.
@Suite("Change sets that follow each other")
struct CombinedSetTests {
    private func sum(_ sets: [String]) throws -> String? {
        try ScenarioRun.combined(sets.map { try ParsedJSON(parsing: $0) })?.serialized
    }

    @Test func `of a dictionary add up`() throws {
        let none = #""insertedKeys":[],"#
        let modified = #"{"deletedKeys":[],\#(none)"modifiedKeys":["b"]}"#
        let deleted = #"{"deletedKeys":["b"],\#(none)"modifiedKeys":[]}"#
        let inserted = #"{"deletedKeys":[],"insertedKeys":["b"],"modifiedKeys":[]}"#
        #expect(try sum([modified, deleted]) == deleted)
        #expect(try sum([inserted, deleted]) == nil)
        #expect(try sum([inserted, modified]) == inserted)
        #expect(try sum([deleted, inserted]) == modified)
    }

    /// The scenario `results-sorted-move-back-parse`, when the commits of its step were more than a second apart.
    @Test func `of a result add up, also where a row comes back to its place`() throws {
        func told(_ deletions: String, _ insertions: String) throws -> ParsedJSON {
            try ParsedJSON(parsing: "{\"deletions\":[\(deletions)],\"insertions\":[\(insertions)]}")
        }
        func total(_ sets: ParsedJSON...) -> String? { ScenarioRun.combinedRows(sets)?.serialized }
        let first = #"{"index":0,"key":"0"}"#
        let third = #"{"index":2,"key":"0"}"#
        let other = #"{"index":2,"key":"7"}"#
        #expect(
            try total(told(first, third), told(third, first))
                == #"{"deletions":[],"insertions":[],"modifications":[0],"modificationsNew":[0],"moves":[]}"#)
        #expect(
            try total(told(first, ""), told("", other))
                == #"{"deletions":[0],"insertions":[2],"modifications":[],"modificationsNew":[],"moves":[]}"#)
        #expect(try total(told("", other), told(other, "")) == nil)
    }

    @Test func `of an object add up`() throws {
        let first = #"{"properties":[{"name":"a","oldValue":null,"newValue":"x"},{"name":"b","oldValue":1,"newValue":2}]}"#
        let second = #"{"properties":[{"name":"a","oldValue":"x","newValue":"y"}]}"#
        let both = #"{"properties":[{"name":"a","oldValue":null,"newValue":"y"},{"name":"b","oldValue":1,"newValue":2}]}"#
        #expect(try sum([first, second]) == both)
    }
}

/// One scenario by one transport.
struct ScenarioRun {
    private let server: ChangeServer
    private let realm: ScenarioRealm
    private let vector: ParsedJSON
    private let transport: Transport
    private var observers: [ScenarioObserver] = []

    init(_ server: ChangeServer, _ name: String, _ vector: ParsedJSON, _ transport: Transport) throws {
        self.server = server
        self.vector = vector
        self.transport = transport
        realm = try ScenarioRealm(server, name, schema: vector["schema"]?.elements ?? [])
    }

    mutating func problems() throws -> [String] {
        try realm.commit(vector["initial"]?.elements ?? [])
        for observer in vector["observers"]?.elements ?? [] {
            observers.append(try ScenarioObserver(server, realm.name, observer, transport))
        }
        var problems: [String] = []
        for observer in observers { check(observer, step: 0, &problems) }
        for (index, step) in (vector["steps"]?.elements ?? []).enumerated() {
            for id in step["removeObservers"]?.elements ?? [] {
                try observers.first { $0.id == id.text }?.remove()
            }
            try run(step, index + 1, &problems)
        }
        for observer in observers { observer.close() }
        try realm.delete()
        return problems
    }

    private func run(_ step: ParsedJSON, _ number: Int, _ problems: inout [String]) throws {
        let commits = step["commits"]?.elements ?? []
        // A step is one delivery: over several commits that is what a client gets who comes back.
        if commits.count > 1 { for observer in observers { try observer.pause() } }
        var version = ""
        for commit in commits where commit["cancel"]?.isTrue != true {
            let skipped = (commit["withoutNotifying"]?.elements ?? []).compactMap { id in
                observers.first { $0.id == id.text }.map { $0.registration + "/o" }
            }
            let headers = skipped.isEmpty ? [] : [("Realm-Without-Notifying", skipped.joined(separator: ", "))]
            version = try realm.commit(commit["ops"]?.elements ?? [], headers)
        }
        for observer in observers where !observer.isRemoved {
            let sets = try observer.sets(upTo: version)
            for set in sets where !ScenarioChange.isAscending(set) {
                problems.append("step \(number), \(observer.id): not ascending: \(set.serialized)")
            }
            let told = sets.filter { $0["skipped"]?.isTrue != true }
            let expected = (vector["expect"]?.elements ?? []).first {
                $0["step"]?.integer == Int64(number) && $0["observer"]?.text == observer.id && $0["change"] != nil
            }?["change"]
            let combined =
                told.count > 1 && observer.kind == "results"
                ? ScenarioRun.combinedRows(told)
                : ScenarioRun.combined(told.compactMap { ScenarioChange.vectorForm($0, kind: observer.kind) })
            if combined != expected {
                problems.append(
                    "step \(number), \(observer.id): \(combined?.serialized ?? "nothing") instead of \(expected?.serialized ?? "nothing")"
                )
            }
            check(observer, step: number, &problems)
        }
    }

    /// One change set of several that follow each other.
    static func combined(_ sets: [ParsedJSON]) -> ParsedJSON? {
        guard let first = sets.first, sets.count > 1 else { return sets.first }
        if first["deletedKeys"] != nil { return keys(of: sets) }
        if first["properties"] != nil { return properties(of: sets) }
        var log = ListChangeLog()
        for set in sets {
            let changes = CollectionChanges(vector: set)
            log.merge(
                ListChangeLog(
                    deletions: changes.deletions, insertions: changes.insertions, modified: changes.modificationsNew,
                    moves: changes.moves,
                    isCleared: changes.isCleared))
        }
        // Sets of their own, of commits that were a while apart on a busy machine, may add up to nothing.
        let changes = log.changes().vectorForm
        return changes == CollectionChanges().vectorForm ? nil : changes
    }

    /// One change set of several of a result that follow each other. Rows are known by their keys, so one that comes back to its place
    /// has only been modified.
    static func combinedRows(_ sets: [ParsedJSON]) -> ParsedJSON? {
        var log = ListChangeLog()
        for set in sets {
            guard let vector = ScenarioChange.vectorForm(set, kind: "results") else { continue }
            let changes = CollectionChanges(vector: vector)
            let moves = ScenarioChange.movedRows(set)
            log.merge(
                ListChangeLog(
                    deletions: changes.deletions.filter { index in !moves.contains { $0.from == index } },
                    insertions: changes.insertions.filter { index in !moves.contains { $0.to == index } },
                    modified: (changes.modificationsNew + moves.map(\.to)).sorted(), moves: moves, isCleared: changes.isCleared))
        }
        var changes = log.changes()
        // Results tell of no moves.
        changes.moves = []
        return changes == CollectionChanges() ? nil : changes.vectorForm
    }

    /// One change set of several of a dictionary that follow each other; nil when they add up to nothing.
    private static func keys(of sets: [ParsedJSON]) -> ParsedJSON? {
        var (deleted, inserted, modified): (Set<String>, Set<String>, Set<String>) = ([], [], [])
        for set in sets {
            for key in texts(set, "deletedKeys") {
                modified.remove(key)
                if inserted.remove(key) == nil { deleted.insert(key) }
            }
            for key in texts(set, "insertedKeys") {
                if deleted.remove(key) == nil { inserted.insert(key) } else { modified.insert(key) }
            }
            for key in texts(set, "modifiedKeys") where !inserted.contains(key) { modified.insert(key) }
        }
        guard !(deleted.isEmpty && inserted.isEmpty && modified.isEmpty) else { return nil }
        return .object(
            [("deletedKeys", deleted), ("insertedKeys", inserted), ("modifiedKeys", modified)].map { name, keys in
                (name, .array(keys.sorted().map { .string($0) }))
            })
    }

    /// One change set of several of an object that follow each other: the values before the first and after the last.
    private static func properties(of sets: [ParsedJSON]) -> ParsedJSON? {
        var changes: [ParsedJSON] = []
        for change in sets.flatMap({ $0["properties"]?.elements ?? [] }) {
            guard let known = changes.firstIndex(where: { $0["name"] == change["name"] }) else {
                changes.append(change)
                continue
            }
            guard case .object(let members) = change else { continue }
            changes[known] = .object(
                members.map { ($0.name, $0.name == "oldValue" ? changes[known]["oldValue"] ?? .null : $0.value) })
        }
        return .object([("properties", .array(changes))])
    }

    private static func texts(_ set: ParsedJSON, _ list: String) -> [String] { (set[list]?.elements ?? []).compactMap(\.text) }

    private func check(_ observer: ScenarioObserver, step: Int, _ problems: inout [String]) {
        guard let contents = vector["contents"]?[observer.id]?.elements, contents.indices.contains(step), !observer.isPart else {
            return
        }
        let shown = observer.contents
        if shown != contents[step] {
            problems.append("after step \(step), \(observer.id) has \(shown.serialized) instead of \(contents[step].serialized)")
        }
    }
}

/// An observer of a scenario: a registration, a reader, and a copy that is kept up by change sets.
final class ScenarioObserver {
    let id: String
    let kind: String
    let registration: String
    /// Whether its copy is none of the whole: it shows one section, or something was kept from it.
    private(set) var isPart: Bool
    private(set) var isRemoved = false
    private let server: ChangeServer
    private let realm: String
    private let transport: Transport
    private var copy = ClientCopy()
    private var position: String
    private var stream: EventClient?

    init(_ server: ChangeServer, _ realm: String, _ observer: ParsedJSON, _ transport: Transport) throws {
        self.server = server
        self.realm = realm
        self.transport = transport
        id = observer["id"]?.text ?? ""
        kind = observer["kind"]?.text ?? ""
        isPart = observer["section"] != nil
        // The whole realm tells when a commit has been told.
        let body = "{\"subscriptions\":{\"o\":\(ScenarioRealm.definition(observer).serialized),\"fence\":{}}}"
        let answer = try server.must("POST", "\(realm)/subscriptions", body)
        registration = answer["id"]?.text ?? ""
        position = answer["version"]?.text ?? ""
        try begin()
    }

    private func begin() throws {
        guard transport == .events else {
            let answer = try server.poll(realm, "subscription=\(registration)")
            for snapshot in answer["snapshots"]?.elements ?? [] { copy.take(snapshot: snapshot) }
            position = answer["next"]?.text ?? ""
            return
        }
        let stream = try server.stream(realm, "subscription=\(registration)")
        self.stream = stream
        while let event = try stream.next(), event.name != "ready" {
            if event.name == "snapshot" { copy.take(snapshot: event.json) }
        }
        position = stream.lastID ?? ""
    }

    /// Lets the stream go, so that what comes is told at once when it is back.
    func pause() throws {
        guard stream != nil else { return }
        position = stream?.lastID ?? position
        stream = nil
        let isQuiet = try eventually { [server, realm, registration] in
            try server.must("GET", "\(realm)/subscriptions/\(registration)")["streams"]?.integer == 0
        }
        guard isQuiet else { throw EventClient.Failure(description: "the stream is not let go of") }
    }

    func remove() throws {
        isRemoved = true
        stream = nil
        try server.must("DELETE", "\(realm)/subscriptions/\(registration)")
    }

    func close() { stream = nil }

    /// The change sets of the observer until that of a version.
    func sets(upTo version: String) throws -> [ParsedJSON] {
        let sets = try transport == .events ? streamed(upTo: version) : polled()
        if sets.contains(where: { $0["skipped"]?.isTrue == true }) { isPart = true }
        for set in sets where !isPart { try copy.apply(set) }
        return sets
    }

    private func polled() throws -> [ParsedJSON] {
        let answer = try server.poll(realm, "subscription=\(registration)&since=\(position)")
        position = answer["next"]?.text ?? ""
        guard answer["reset"] == .null else { throw EventClient.Failure(description: "reset: \(answer.serialized)") }
        return (answer["changes"]?.elements ?? []).filter { $0["sub"]?.text == "o" }
    }

    private func streamed(upTo version: String) throws -> [ParsedJSON] {
        if stream == nil { stream = try server.stream(realm, "subscription=\(registration)", [("Last-Event-ID", position)]) }
        var sets: [ParsedJSON] = []
        // A commit of nothing makes no version.
        if (stream?.lastID ?? position) == version { return [] }
        while let event = try stream?.next() {
            guard event.name != "reset", event.name != "error" else {
                throw EventClient.Failure(description: "\(event.name): \(event.data)")
            }
            guard event.name == "changes" else { continue }
            let set = event.json
            if set["sub"]?.text == "o" { sets.append(set) }
            if event.id == version { return sets }
        }
        throw EventClient.Failure(description: "the stream ended before \(version)")
    }

    /// What the copy holds, in the words of the vectors.
    var contents: ParsedJSON {
        switch kind {
        case "object": return .bool(!copy.isGone)
        case "sectioned":
            return .array(
                copy.sections.map { section in
                    .object([("key", section.key), ("rows", .array(section.rows.map(ScenarioObserver.content)))])
                })
        default: return copy.isGone ? .null : .array(copy.rows.map(ScenarioObserver.content))
        }
    }

    private static func content(_ row: ParsedJSON) -> ParsedJSON {
        if let entry = row["entry"] { return entry }
        if let key = row["key"]?.text { return .integer(Int64(key) ?? -1) }
        let value = row["value"] ?? .null
        guard let inner = value["value"] else { return value }
        return .object([("value", inner)])
    }
}

extension CollectionChanges {
    var vectorForm: ParsedJSON {
        func array(_ numbers: [Int]) -> ParsedJSON { .array(numbers.map { .integer(Int64($0)) }) }
        var members: [(String, ParsedJSON)] = [
            ("deletions", array(deletions)), ("insertions", array(insertions)), ("modifications", array(modifications)),
            ("modificationsNew", array(modificationsNew)), ("moves", .array(moves.map { array([$0.from, $0.to]) })),
        ]
        if isCleared { members.append(("cleared", .bool(true))) }
        if isRootDeleted { members.append(("rootDeleted", .bool(true))) }
        return .object(members)
    }
}
