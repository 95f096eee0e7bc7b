// SPDX-License-Identifier: Apache-2.0

import RealmEngine
import RealmPlatform
import RealmQuery
import RealmStorage
import RealmTestSupport
import Testing

/// Objects that leave what a listener may see and come back before it is told. It was told of the leaving alone, and lost them.
@Suite("Observation: objects that leave a view and come back") struct ReturningObjectTests {
    /// The rows of a listener with what they show, kept by change sets alone.
    private final class ShownRows {
        private let text: String
        private let observed: Observed
        private let database: Database
        private let scope: ScopedObservationTests.Scope
        private var contents: [String]

        struct NoRows: Error {}

        init(_ text: String, in database: Database, isActive: Bool, _ scope: ScopedObservationTests.Scope) throws {
            let node = try #require(database.current.snapshot.classTable(named: "Node"))
            let target = ObservedTarget(
                .results(node.key, ObservedQuery(try Query.parse(text))), filter: .all, identity: "shown \(text) \(isActive)")
            self.text = target.identity
            self.database = database
            self.scope = scope
            observed = try Observed(target, in: database, isActive: isActive, scope: scope)
            guard case .rows(_, let keys) = observed.attached.contents else { throw NoRows() }
            let view = observed.attached.version.snapshot
            contents = try keys.map { try ReturningObjectTests.content(of: $0, view) }
        }

        /// Brings the copy up to date. Returns what is wrong.
        func step() throws -> String? {
            for event in try observed.events() {
                guard case .rows(let change) = event.change else { throw NoRows() }
                let view = event.to.snapshot
                for index in change.changes.deletions.reversed() { contents.remove(at: index) }
                for (index, key) in zip(change.changes.insertions, change.insertedKeys) {
                    contents.insert(try ReturningObjectTests.content(of: key, view), at: index)
                }
                for (index, key) in zip(change.changes.modificationsNew, change.modifiedKeys) {
                    contents[index] = try ReturningObjectTests.content(of: key, view)
                }
            }
            guard case .rows(_, let keys) = try observed.contents() else { throw NoRows() }
            let view = database.current.shown(by: scope).snapshot
            let fresh = try keys.map { try ReturningObjectTests.content(of: $0, view) }
            return fresh == contents ? nil : "\(text): \(contents) instead of \(fresh)"
        }
    }

    /// What a node shows, with the values of the objects that it links to.
    private static func content(of key: ObjectKey, _ view: Snapshot) throws -> String {
        let table = try #require(view.classTable(named: "Node"))
        let row = try #require(try table.find(key))
        var parts = ["#\(key.rawValue)"]
        for name in ["value", "group", "next", "other", "list", "dict", "ints", "marks"] {
            let column = try #require(table.column(named: name))
            parts.append(name)
            switch column.collection {
            case nil: parts.append(try text(of: try row.value(column), view))
            case .list, .set:
                var elements = try row.list(column, in: view).elements()
                while let value = try elements.next() { parts.append(try text(of: value, view)) }
            case .dictionary:
                var entries = try row.dictionary(column, in: view).entries()
                while let entry = try entries.next() {
                    parts.append(entry.key.bytes.string)
                    parts.append(try text(of: entry.value, view))
                }
            }
        }
        return parts.joined(separator: " ")
    }

    private static func text(of value: Value, _ view: Snapshot) throws -> String {
        switch value {
        case .string(let bytes): return bytes.string
        case .link(let table, let key):
            guard let linked = view.table(table), let row = try linked.find(key), let column = linked.column(named: "value")
            else { return "nothing" }
            let value = try row.value(column)
            return "#\(key.rawValue):\(value)"
        default: return "\(value)"
        }
    }

    /// Writes one transaction in which nodes are likely to leave the view or to come back.
    private static func write(_ realm: EngineRealm, _ generator: inout SeededGenerator) throws {
        let seed = generator.next()
        try realm.write { session in
            var generator = SeededGenerator(seed: seed)
            for _ in 0..<3 {
                let key = ObjectName.text("\(Int.random(in: 0..<6, using: &generator))")
                let value = InputValue.integer(Bool.random(using: &generator) ? 0 : 5)
                if try session.find(key, class: "Node") != nil { _ = try session.patch("Node", key, ["value": value]) }
            }
            let other = Int64.random(in: 0..<5, using: &generator)
            let value = InputValue.integer(Bool.random(using: &generator) ? 0 : 5)
            _ = try session.upsert("Other", ["_id": .integer(other), "value": value], .all)
            try ObservationWorkload.step(session, &generator)
        }
    }

    @Test(
        arguments: 0..<(TestRun.isLong ? 60 : 4), ["value > 1", "next.value > 1", "other.value > 1", "ANY list.value > 2"])
    func `what is told of several commits leads to what a fresh read finds, rows and contents`(
        _ seed: Int, _ rule: String
    ) throws {
        var limits = ObservationLimits()
        limits.passiveTime = .seconds(60)
        // Commits that find the thread of the hub busy are joined.
        limits.waitingCommits = seed % 2 == 0 ? 8 : 1
        let realm = try EngineRealm(
            ObservationWorkload.classes, backlinkNames: ObservationWorkload.names, observation: limits)
        var generator = SeededGenerator(seed: UInt64(seed))
        let recorder = CommitRecorder(realm.database)
        try ObservationWorkload.write(realm, 40, &generator)
        let scope = try ScopedObservationTests.Scope(rule, hiding: [])
        let view = realm.database.current.shown(by: scope).snapshot
        let targets = try ObservationPropertyTests.targets(realm.database).filter { target in
            try ScopedObservationTests.isSeen(target, in: view)
        }
        let copies = try ["TRUEPREDICATE", "value > 2 SORT(value ASC)", "next.value > 2"].flatMap { text in
            try [false, true].map { try ShownRows(text, in: realm.database, isActive: $0, scope) }
        }
        let replays = try targets.map { try ObservationReplay($0, in: realm.database, isActive: false, scope: scope) }
        for round in 0..<12 {
            for _ in 0..<Int.random(in: 2...6, using: &generator) { try ReturningObjectTests.write(realm, &generator) }
            var failures = try copies.compactMap { try $0.step() }
            for replay in replays { failures += try replay.step(recorder) }
            #expect(failures.isEmpty, "seed \(seed), \(rule), round \(round): \(failures.joined(separator: "\n"))")
            if !failures.isEmpty { return }
        }
        try realm.finish()
    }

    @Test func `an object that left and came back is modified, and what was written meanwhile is told`() throws {
        var limits = ObservationLimits()
        limits.passiveTime = .seconds(60)
        let realm = try EngineRealm(
            ObservationWorkload.classes, backlinkNames: ObservationWorkload.names, observation: limits)
        try realm.write { session in
            for id in 0..<4 {
                _ = try session.create("Node", ["_id": .integer(Int64(id)), "value": .integer(5), "group": .text("a")])
            }
            _ = try session.patch("Node", .text("0"), ["next": .link(.stub(className: "Node", key: .text("2")))])
            _ = try session.patch("Node", .text("2"), ["ints": .list([.integer(1), .integer(2), .integer(3)])])
            _ = try session.editDictionary(
                "Node", .text("2"), PropertyAddress("marks"), [.set("a", .integer(1)), .set("b", .integer(2))])
        }
        let scope = try ScopedObservationTests.Scope("value > 1", hiding: [])
        let node = try #require(realm.database.current.snapshot.classTable(named: "Node"))
        let found = try #require(try node.findByPrimaryKey(.int(2)))
        let object = ObservedObject(node.key, found.key)
        let group = try #require(node.column(named: "group"))
        let list = ObservedProperty(object, try #require(node.column(named: "ints")).key)
        let dictionary = ObservedProperty(object, try #require(node.column(named: "marks")).key)
        func observe(_ kind: ObservedTarget.Kind, _ name: String) throws -> Observed {
            try Observed(ObservedTarget(kind, filter: .all, identity: name), in: realm.database, scope: scope)
        }
        let all = try observe(.results(node.key, ObservedQuery(try Query.parse("TRUEPREDICATE"))), "rows")
        let one = try observe(.object(object), "object")
        let ints = try observe(.collection(list), "ints")
        let large = try observe(.view(list, ObservedQuery(try Query.parse("self > 1"))), "large ints")
        let marks = try observe(.collection(dictionary), "marks")
        try realm.write { session in _ = try session.patch("Node", .text("2"), ["value": .integer(0)]) }
        try realm.write { session in
            _ = try session.patch(
                "Node", .text("2"), ["group": .text("b"), "ints": .list([.integer(4), .integer(5)])])
            _ = try session.editDictionary(
                "Node", .text("2"), PropertyAddress("marks"), [.remove("a"), .set("c", .integer(3))])
        }
        try realm.write { session in _ = try session.patch("Node", .text("2"), ["value": .integer(7)]) }

        guard case .rows(let rows)? = try all.events().first?.change, case .object(let steps)? = try one.events().first?.change,
            case .values(let values)? = try ints.events().first?.change,
            case .values(let selected)? = try large.events().first?.change,
            case .dictionary(let entries)? = try marks.events().first?.change
        else {
            Issue.record("an event is lacking")
            return
        }
        #expect(rows.changes.deletions.isEmpty && rows.changes.insertions.isEmpty && rows.count == 4)
        // The one that links to it shows it.
        #expect(rows.modifiedKeys.count == 2 && rows.modifiedKeys.contains(object.key))
        #expect(steps.contains(.property(node.key, group.key)))
        #expect(values.changes.deletions == [0, 1, 2] && values.changes.insertions == [0, 1] && values.count == 2)
        #expect(selected.changes.deletions == [0, 1] && selected.changes.insertions == [0, 1] && selected.count == 2)
        #expect(entries.deleted.map { $0.bytes.string } == ["a"] && entries.inserted.map { $0.bytes.string } == ["c"])
        #expect(entries.modified.map { $0.bytes.string } == ["b"] && entries.count == 2)
        try realm.finish()
    }
}
