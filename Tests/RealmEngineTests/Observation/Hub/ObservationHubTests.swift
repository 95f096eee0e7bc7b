// SPDX-License-Identifier: Apache-2.0

import RealmEngine
import RealmPlatform
import RealmQuery
import RealmStorage
import RealmTestSupport
import Testing

@Suite("Observation: rounds, passive targets, schema changes, the end")
struct ObservationHubTests {
    private func realm(_ limits: ObservationLimits = ObservationLimits()) throws -> EngineRealm {
        let realm = try EngineRealm(
            ObservationWorkload.classes, backlinkNames: ObservationWorkload.names, observation: limits)
        try realm.write { session in
            for id in 0..<5 { try create(Int64(id), session) }
        }
        return realm
    }

    private func table(_ realm: EngineRealm, _ name: String = "Node") throws -> Table {
        try #require(realm.database.current.snapshot.classTable(named: name))
    }

    private func results(_ realm: EngineRealm, _ query: String = "TRUEPREDICATE", _ identity: String = "r") throws
        -> ObservedTarget
    {
        ObservedTarget(.results(try table(realm).key, ObservedQuery(try Query.parse(query))), identity: identity)
    }

    private func object(_ realm: EngineRealm, _ id: Int64) throws -> ObservedObject {
        let table = try table(realm)
        return ObservedObject(table.key, try #require(try table.findByPrimaryKey(.int(id))).key)
    }

    @discardableResult
    private func addNode(_ realm: EngineRealm, _ id: Int64, mark: CommitMark? = nil) throws -> Version {
        var request = EngineRealm.request()
        request.mark = mark
        request.isAlone = mark != nil
        return try realm.write(request) { session in try create(id, session) }.version
    }

    /// Holds the thread of the hub until it is let go.
    private func block(_ realm: EngineRealm) throws -> Awaited<Bool> {
        let blocked = Awaited<Bool>()
        let released = Awaited<Bool>()
        realm.database.observations.perform {
            blocked.set(true)
            _ = try? released.wait()
        }
        _ = try blocked.wait()
        return released
    }

    // MARK: - Evaluations on other threads

    @Test func `others get the changes of commits while a target is evaluated on another thread`() throws {
        let realm = try realm()
        let other = try Observed(try results(realm), in: realm.database, isActive: true)
        let late = try Observed(try results(realm, "value >= 0", "late"), in: realm.database, isActive: true) {
            for id in Int64(10)..<15 {
                try addNode(realm, id)
                #expect(try other.events().count == 1)
            }
            #expect(eventually { realm.database.observations.metrics.heldVersions == 1 })
        }
        #expect(eventually { realm.database.observations.metrics.heldVersions == 0 })
        guard case .rows(_, let keys) = late.attached.contents else {
            Issue.record("\(late.attached.contents)")
            return
        }
        #expect(keys.count == 10 && late.attached.version.token.version == realm.database.current.token.version)
        try addNode(realm, 20)
        #expect(try late.events().first?.change.rows?.changes.insertions == [10])
        try realm.finish()
    }

    @Test func `a target is evaluated again when the schema has changed meanwhile`() throws {
        let realm = try realm()
        let late = try Observed(try results(realm, "value >= 0", "late"), in: realm.database, isActive: true) {
            try realm.write { session in
                try session.fitSchema(SchemaInput(classes: [ClassInput("More", [PropertyInput("value", "int")])]))
            }
            try addNode(realm, 10)
        }
        guard case .rows(_, let keys) = late.attached.contents else {
            Issue.record("\(late.attached.contents)")
            return
        }
        #expect(keys.count == 6 && late.attached.version.token.version == realm.database.current.token.version)
        try realm.finish()
    }

    /// The filter was the one of the old schema, so changes of the new property were never told.
    @Test(arguments: [true, false])
    func `stars stand for what is added to the schema before an observation has begun`(_ isEvaluatedMeanwhile: Bool) throws {
        let realm = try realm()
        let filter = try KeyPathFilter.resolve(
            ["*"], of: try table(realm), in: realm.database.current.snapshot, names: realm.database.backlinkNames)
        let target = ObservedTarget(.object(try object(realm, 0)), filter: .keyPaths(filter), identity: "o")
        let extend = {
            try migrate(realm, [.addProperty(className: "Node", PropertyInput("extra", "int", optional: true), value: nil)])
        }
        if !isEvaluatedMeanwhile { try extend() }
        let observed = try Observed(target, in: realm.database, isActive: true, meanwhile: isEvaluatedMeanwhile ? extend : nil)
        try realm.write { session in _ = try session.patch("Node", .text("0"), ["extra": .integer(1)]) }
        guard case .object(let steps)? = try observed.events().last?.change else {
            Issue.record("nothing told")
            return
        }
        #expect(steps.count == 1)
        try realm.finish()
    }

    @Test func `a target whose schema is changed while it is evaluated has to be made anew`() throws {
        let realm = try realm()
        let target = try results(realm)
        #expect {
            try Observed(target, in: realm.database) {
                try migrate(realm, [.renameProperty(className: "Node", name: "group", to: "team")])
            }
        } throws: { error in
            if case .outdated? = error as? ObservationError { return true } else { return false }
        }
        #expect(try Observed(try results(realm), in: realm.database).attached.contents.rowKeys?.count == 5)
        try realm.finish()
    }

    // MARK: - Rounds

    @Test func `equal definitions are looked at once, however many listen`() throws {
        let realm = try realm()
        let first = try Observed(try results(realm), in: realm.database, isActive: true)
        let second = try Observed(try results(realm), in: realm.database, isActive: true)
        let before = realm.database.observations.metrics
        try addNode(realm, 10)
        #expect(try first.events().count == 1)
        #expect(try second.events().count == 1)
        let after = realm.database.observations.metrics
        #expect(after.evaluations - before.evaluations == 1)
        #expect(after.events - before.events == 1)
        #expect(after.active == 1 && after.passive == 0)
        try realm.finish()
    }

    @Test func `a commit elsewhere costs a target nothing`() throws {
        let realm = try realm()
        let targets = ["TRUEPREDICATE", "value > 3 SORT(value ASC)", "next.value > 1"]
        let observed = try targets.map { try Observed(try results(realm, $0, $0), in: realm.database, isActive: true) }
        let list = try #require(try table(realm).column(named: "list"))
        let kinds: [ObservedTarget.Kind] = [
            .collection(ObservedProperty(try object(realm, 0), list.key)), .object(try object(realm, 0)),
            .linkingObjects(to: try object(realm, 0), origin: try table(realm).key, list.key, nil),
        ]
        let others = try kinds.map { try Observed(ObservedTarget($0, identity: "\($0)"), in: realm.database, isActive: true) }
        let before = realm.database.observations.metrics.evaluations
        for id in Int64(0)..<3 {
            try realm.write { session in _ = try session.upsert("Lonely", ["_id": .integer(id), "value": .integer(1)], .all) }
        }
        for one in observed + others { #expect(try one.events().isEmpty) }
        #expect(realm.database.observations.metrics.evaluations == before)
        try realm.finish()
    }

    @Test func `commits that come too fast are told as one, and nothing is lost`() throws {
        let realm = try realm()
        let observed = try Observed(try results(realm), in: realm.database, isActive: true)
        let released = try block(realm)
        for id in 0..<30 { try addNode(realm, 100 + Int64(id)) }
        released.set(true)
        let events = try observed.events()
        #expect(events.count <= 9)
        var count = 5
        var position = observed.attached.version.token.version
        for event in events {
            let rows = try #require(event.change.rows)
            #expect(event.from.token.version == position)
            position = event.to.token.version
            #expect(rows.changes.insertions == Array(count..<rows.count))
            count = rows.count
        }
        #expect(count == 35 && position == realm.database.current.token.version)
        #expect(realm.database.observations.metrics.joinedCommits >= 21)
        try realm.finish()
    }

    @Test(arguments: [true, false])
    func `a commit with a mark is a round by itself, for those too whom nobody waits for`(_ isActive: Bool) throws {
        let realm = try realm()
        let marked = Monitor<[UInt64]>([])
        let observed = try Observed(try results(realm), in: realm.database, isActive: isActive)
        let mark = CommitMark(listeners: [ObjectIdentifier(observed.listener)]) { version, missed in
            if missed.isEmpty { marked.withLock { $0.append(version) } }
        }
        let released = try block(realm)
        for id in 0..<20 { try addNode(realm, 100 + Int64(id)) }
        let version = try addNode(realm, 200, mark: mark).token.version
        for id in 0..<20 { try addNode(realm, 300 + Int64(id)) }
        released.set(true)
        let events = try observed.events()
        let own = try #require(events.first { $0.to.token.version == version })
        #expect(own.from.token.version == version - 1)
        #expect(marked.withLock { $0 } == [version])
        #expect(try #require(own.change.rows).changes.insertions == [25])
        try realm.finish()
    }

    /// A client whose writes have such marks had all definitions of others evaluated at each of them.
    @Test func `a commit with a mark leaves others alone that nobody waits for`() throws {
        var limits = ObservationLimits()
        limits.passiveTime = .seconds(60)
        let realm = try realm(limits)
        let named = try Observed(try results(realm, "value >= 0", "named"), in: realm.database)
        let other = try Observed(try results(realm), in: realm.database)
        for id in 0..<5 {
            try addNode(realm, 100 + Int64(id), mark: CommitMark(listeners: [ObjectIdentifier(named.listener)]) { _, _ in })
        }
        #expect(try other.events().count == 1)
        #expect(try named.events().count == 5)
        try realm.finish()
    }

    /// All clients read their contents again when one client wrote fast with marks.
    @Test func `when too many commits with marks wait, they are told together, and who is named learns that`() throws {
        var limits = ObservationLimits()
        limits.waitingBarriers = 4
        let realm = try realm(limits)
        let named = try Observed(try results(realm, "value >= 0", "named"), in: realm.database, isActive: true)
        let other = try Observed(try results(realm), in: realm.database, isActive: true)
        let listener = ObjectIdentifier(named.listener)
        let marked = Monitor<[Bool]>([])
        let released = try block(realm)
        for id in 0..<20 {
            try addNode(
                realm, 100 + Int64(id),
                mark: CommitMark(listeners: [listener]) { _, missed in marked.withLock { $0.append(missed.contains(listener)) } })
        }
        released.set(true)
        for observed in [named, other] {
            let changes = try observed.events().map(\.change.rows)
            #expect(changes.count == 4 && changes.allSatisfy { $0 != nil })
        }
        #expect(marked.withLock { $0 } == [false, false, false, true])
        try realm.finish()
    }

    @Test func `when too much waits, contents have to be read again, and then it goes on`() throws {
        var limits = ObservationLimits()
        limits.waitingChanges = 20
        let realm = try realm(limits)
        let observed = try Observed(try results(realm, "value >= 0"), in: realm.database, isActive: true)
        let released = try block(realm)
        for id in 0..<30 { try addNode(realm, 100 + Int64(id)) }
        released.set(true)
        let events = try observed.events()
        #expect(events.contains { if case .unknown = $0.change { return true } else { return false } })
        #expect(try observed.contents().rowKeys?.count == 35)
        try addNode(realm, 500)
        let rows = try #require(try observed.events().last?.change.rows)
        #expect(rows.changes.insertions == [35])
        try realm.finish()
    }

    // MARK: - Passive targets

    @Test func `a target nobody waits for is told of all commits as one when somebody asks`() throws {
        var limits = ObservationLimits()
        limits.passiveTime = .seconds(60)
        let realm = try realm(limits)
        let observed = try Observed(try results(realm), in: realm.database)
        for id in 0..<5 { try addNode(realm, 10 + Int64(id)) }
        let events = try observed.events()
        #expect(events.count == 1)
        #expect(events.first?.from.token.version == observed.attached.version.token.version)
        #expect(events.first?.to.token.version == realm.database.current.token.version)
        try realm.finish()
    }

    @Test func `a target that falls behind too far catches up by itself and lets its version go`() throws {
        var limits = ObservationLimits()
        limits.passiveCommits = 3
        let realm = try realm(limits)
        let observed = try Observed(try results(realm), in: realm.database)
        for id in 0..<10 { try addNode(realm, 10 + Int64(id)) }
        try wait { !observed.listener.monitor.withLock { $0.events.isEmpty } }
        limits.passiveTime = .seconds(0.05)
        limits.passiveCommits = 1000
        let other = try self.realm(limits)
        let second = try Observed(try results(other), in: other.database)
        try addNode(other, 10)
        try wait { !second.listener.monitor.withLock { $0.events.isEmpty } }
        try realm.finish()
        try other.finish()
    }

    private struct Late: Error {}

    private func wait(_ condition: () -> Bool) throws {
        guard eventually(condition) else { throw Late() }
    }

    @Test func `who becomes active first hears of what was missed`() throws {
        let realm = try realm()
        let observed = try Observed(try results(realm), in: realm.database)
        try addNode(realm, 10)
        try addNode(realm, 11)
        realm.database.observations.setActive(observed.attached.attachment) { true }
        let version = try addNode(realm, 12)
        let events = try observed.events()
        #expect(events.count == 2)
        #expect(events.last?.from.token.version == version.token.version - 1)
        try realm.finish()
    }

    @Test func `after the last one left, commits are not heard of any more`() throws {
        let realm = try realm()
        let first = try Observed(try results(realm), in: realm.database, isActive: true)
        let second = try Observed(try results(realm), in: realm.database, isActive: true)
        first.detach()
        try addNode(realm, 10)
        #expect(try second.events().count == 1)
        #expect(first.listener.take().isEmpty)
        second.detach()
        let done = Awaited<Bool>()
        realm.database.observations.perform { done.set(true) }
        _ = try done.wait()
        let before = realm.database.observations.metrics.rounds
        try addNode(realm, 11)
        let again = try Observed(try results(realm), in: realm.database)
        #expect(again.attached.contents.rowKeys?.count == 7)
        #expect(realm.database.observations.metrics.rounds == before)
        try realm.finish()
    }

    // MARK: - What ends

    @Test func `a deleted object is told once, and nothing after it`() throws {
        let realm = try realm()
        let object = try object(realm, 1)
        let list = try #require(try table(realm).column(named: "list"))
        let targets = [
            ObservedTarget(.object(object), identity: "o"),
            ObservedTarget(.collection(ObservedProperty(object, list.key)), identity: "l"),
        ]
        let observed = try targets.map { try Observed($0, in: realm.database, isActive: true) }
        try realm.write { session in _ = try session.delete("Node", .text("1")) }
        try addNode(realm, 1)
        for one in observed {
            #expect(try one.events().count == 1)
            guard case .gone = try one.contents() else {
                Issue.record("not gone")
                return
            }
        }
        #expect {
            try Observed(ObservedTarget(.object(object), identity: "again"), in: realm.database)
        } throws: { error in
            if case .notFound? = error as? ObservationError { return true } else { return false }
        }
        try realm.finish()
    }

    @Test func `what is added to the schema is announced and changes nothing else, but stars stand for more`() throws {
        let realm = try realm()
        let table = try table(realm)
        let filter = try KeyPathFilter.resolve(["*"], of: table, in: realm.database.current.snapshot, names: .none)
        let observed = try Observed(
            ObservedTarget(.object(try object(realm, 0)), filter: .keyPaths(filter), identity: "o"), in: realm.database)
        let rows = try Observed(try results(realm), in: realm.database, isActive: true)
        try migrate(realm, [.addProperty(className: "Node", PropertyInput("extra", "int", optional: true), value: nil)])
        try realm.write { session in _ = try session.patch("Node", .text("0"), ["extra": .integer(1)]) }
        let events = try observed.events()
        guard case .object(let steps)? = events.last?.change else {
            Issue.record("\(events)")
            return
        }
        #expect(steps.count == 1)
        #expect(observed.listener.schemas.map(\.isAdditive) == [true])
        #expect(try rows.events().count >= 1)
        #expect(rows.listener.schemas == observed.listener.schemas)
        try realm.finish()
    }

    @Test func `what is taken from the schema ends everything; whoever wants to go on attaches anew`() throws {
        let realm = try realm()
        let observed = try Observed(try results(realm), in: realm.database, isActive: true)
        try addNode(realm, 10)
        try migrate(realm, [.renameProperty(className: "Node", name: "group", to: "team")])
        #expect(try observed.events().count == 1)
        #expect(observed.listener.schemas.map(\.isAdditive) == [false])
        #expect(throws: (any Error).self) { try observed.contents() }
        let again = try Observed(try results(realm), in: realm.database, isActive: true)
        try addNodeOfTeam(realm)
        #expect(try again.events().count == 1)
        try realm.finish()
    }

    private func addNodeOfTeam(_ realm: EngineRealm) throws {
        try realm.write { session in
            _ = try session.create("Node", ["_id": .integer(77), "value": .integer(1), "team": .text("x")])
        }
    }

    private func migrate(_ realm: EngineRealm, _ steps: [MigrationStep]) throws {
        let version = realm.database.current.snapshot.schemaVersion ?? 0
        let done = Awaited<String>()
        realm.database.migrate(
            Migration(from: version, to: version + 1, steps, allowsDataLoss: true), EngineRealm.request()
        ) { result in
            switch result {
            case .success: done.set("")
            case .failure(let error): done.set("\(error)")
            }
        }
        #expect(try done.wait() == "")
    }

    @Test func `a database that is closed tells its observers`() throws {
        let realm = try realm()
        let observed = try Observed(try results(realm), in: realm.database, isActive: true)
        try realm.finish()
        guard case .closed? = observed.listener.error else {
            Issue.record("not told")
            return
        }
        #expect(throws: ObservationError.self) { try Observed(try results(realm), in: realm.database) }
    }

    // MARK: - Details of what is told

    @Test func `a change inside an element of a list of mixed values is a change of the element`() throws {
        let realm = try realm()
        try realm.write { session in
            _ = try session.patch(
                "Node", .text("0"), ["things": .list([.integer(1), .list([.integer(2), .list([.integer(3)])])])])
        }
        let things = try #require(try table(realm).column(named: "things"))
        let observed = try Observed(
            ObservedTarget(.collection(ObservedProperty(try object(realm, 0), things.key)), identity: "t"), in: realm.database)
        try realm.write { session in
            let address = PropertyAddress("things[1][1]", steps: [.name("things"), .index(1), .index(1)])
            _ = try session.editList("Node", .text("0"), address, [.add(.integer(4))])
        }
        guard case .values(let change)? = try observed.events().first?.change else {
            Issue.record("no values")
            return
        }
        #expect(change.changes.modifications == [1] && change.changes.insertions.isEmpty)
        try realm.finish()
    }

    @Test func `properties beyond the sixty-fourth are told like others`() throws {
        let properties = (0..<80).map { PropertyInput("p\($0)", "int") }
        let realm = try EngineRealm([ClassInput("Wide", primaryKey: "_id", [PropertyInput("_id", "int")] + properties)])
        try realm.write { session in
            let members = [("_id", InputValue.integer(1))] + (0..<80).map { ("p\($0)", InputValue.integer(0)) }
            _ = try session.create("Wide", InputObject(members))
        }
        let table = try table(realm, "Wide")
        let object = ObservedObject(table.key, try #require(try table.findByPrimaryKey(.int(1))).key)
        let observed = try Observed(ObservedTarget(.object(object), identity: "o"), in: realm.database)
        let query = ObservedQuery(try Query.parse("p70 > 0"))
        let rows = try Observed(ObservedTarget(.results(table.key, query), identity: "r"), in: realm.database)
        try realm.write { session in _ = try session.patch("Wide", .text("1"), ["p3": .integer(1), "p70": .integer(1)]) }
        guard case .object(let steps)? = try observed.events().first?.change else {
            Issue.record("nothing told")
            return
        }
        #expect(steps == ["p3", "p70"].compactMap { table.column(named: $0) }.map { .property(table.key, $0.key) })
        guard case .rows(let change)? = try rows.events().first?.change else {
            Issue.record("nothing told")
            return
        }
        #expect(change.changes.insertions == [0])
        try realm.finish()
    }

    @Test func `links in mixed values are followed, also the first of their kind`() throws {
        let realm = try realm()
        try realm.write { session in _ = try session.create("Lonely", ["_id": .integer(1), "value": .integer(1)]) }
        let observed = try Observed(try results(realm), in: realm.database, isActive: true)
        let link = InputValue.link(.stub(className: "Lonely", key: .text("1")))
        try realm.write { session in _ = try session.patch("Node", .text("2"), ["any": link]) }
        try realm.write { session in _ = try session.patch("Lonely", .text("1"), ["value": .integer(2)]) }
        let events = try observed.events()
        #expect(events.count == 2)
        for event in events {
            let rows = try #require(event.change.rows)
            #expect(rows.changes.modifications == [2])
        }
        #expect(observed.listener.schemas.isEmpty)
        try realm.finish()
    }

    @Test func `a collection that loses a deleted object counts as written`() throws {
        let realm = try realm()
        try realm.write { session in
            let link = InputValue.link(.stub(className: "Node", key: .text("1")))
            _ = try session.patch(
                "Node", .text("0"),
                [
                    "list": .list([link, link]), "set": .list([link]), "dict": .object(["a": link]), "next": link,
                    "things": .list([.list([link])]),
                ])
        }
        let observed = try Observed(ObservedTarget(.object(try object(realm, 0)), identity: "o"), in: realm.database)
        try realm.write { session in _ = try session.delete("Node", .text("1")) }
        guard case .object(let steps)? = try observed.events().first?.change else {
            Issue.record("nothing told")
            return
        }
        let table = try table(realm)
        let names = steps.compactMap { step -> String? in
            guard case .property(_, let column) = step else { return nil }
            return table.column(column)?.name
        }
        #expect(names == ["next", "list", "set", "dict", "things"])
        try realm.finish()
    }
}

private func create(_ id: Int64, _ session: WriteSession) throws {
    _ = try session.create("Node", ["_id": .integer(id), "value": .integer(id), "group": .text("g")])
}

extension ObservedContents {
    /// The keys of the rows, or nil when it is no collection of rows.
    fileprivate var rowKeys: [ObjectKey]? {
        if case .rows(_, let keys) = self { return keys }
        return nil
    }
}
