// SPDX-License-Identifier: Apache-2.0

import RealmEngine
import RealmPlatform
import RealmQuery
import RealmStorage
import RealmTestSupport
import Testing

@Suite("Observation: collections, their views, and objects that link to one")
struct CollectionChangeTests {
    private let realm: EngineRealm

    init() throws {
        realm = try EngineRealm(ObservationWorkload.classes, backlinkNames: ObservationWorkload.names)
        try realm.write { session in
            for id in 0..<6 {
                _ = try session.create("Node", ["_id": .integer(Int64(id)), "value": .integer(Int64(id)), "group": .text("g")])
            }
            let nodes = [1, 2, 3].map(Self.link)
            _ = try session.patch(
                "Node", .text("0"),
                [
                    "list": .list(nodes), "ints": .list([3, 8, 5].map { .integer($0) }), "marks": .object(["a": .integer(1)]),
                    "dict": .object(["a": Self.link(1)]),
                ])
            for id in [4, 5] { _ = try session.patch("Node", .text("\(id)"), ["next": Self.link(0)]) }
        }
    }

    private static func link(_ id: Int) -> InputValue { .link(.stub(className: "Node", key: .text("\(id)"))) }

    private func table() throws -> Table { try #require(realm.database.current.snapshot.classTable(named: "Node")) }

    private func object(_ id: Int64) throws -> ObservedObject {
        let table = try table()
        return ObservedObject(table.key, try #require(try table.findByPrimaryKey(.int(id))).key)
    }

    private func property(_ name: String, of id: Int64 = 0) throws -> ObservedProperty {
        ObservedProperty(try object(id), try #require(try table().column(named: name)).key)
    }

    private func observe(_ kind: ObservedTarget.Kind, _ filter: ObservedTarget.Filter = .all) throws -> Observed {
        try Observed(ObservedTarget(kind, filter: filter, identity: "\(kind) \(filter)"), in: realm.database)
    }

    private func observe(paths: [String], of query: String) throws -> Observed {
        let table = try table()
        let filter = try KeyPathFilter.resolve(
            paths, of: table, in: realm.database.current.snapshot, names: realm.database.backlinkNames)
        return try observe(.results(table.key, ObservedQuery(try Query.parse(query))), .keyPaths(filter))
    }

    /// What was told; nothing is an empty change, several sets are a failure.
    private func told(_ observed: Observed) throws -> CollectionChanges {
        let events = try observed.events()
        #expect(events.count <= 1)
        switch events.first?.change {
        case .rows(let rows): return rows.changes
        case .values(let values): return values.changes
        case .dictionary(let dictionary):
            var changes = CollectionChanges()
            changes.deletions = Array(0..<dictionary.deleted.count)
            changes.modifications = Array(0..<dictionary.modified.count)
            changes.isCleared = dictionary.isCleared
            changes.isRootDeleted = dictionary.isRootDeleted
            return changes
        default: return CollectionChanges()
        }
    }

    // MARK: - The owner

    @Test
    func `of a deleted owner its collections tell, also that they were emptied before; views of it only have no rows any more`()
        throws
    {
        let list = try observe(.collection(try property("list")))
        let ints = try observe(.collection(try property("ints")))
        let marks = try observe(.collection(try property("marks")))
        let view = try observe(.view(try property("list"), ObservedQuery(try Query.parse("value > 1"))))
        let none = try observe(.view(try property("list"), ObservedQuery(try Query.parse("value > 9"))))
        let origin = try table()
        let next = try #require(origin.column(named: "next")).key
        let linkers = try observe(.linkingObjects(to: try object(0), origin: origin.key, next, nil))
        try realm.write { session in
            _ = try session.editList("Node", .text("0"), PropertyAddress("ints"), [.clear])
            _ = try session.editDictionary("Node", .text("0"), PropertyAddress("marks"), [.clear])
            _ = try session.delete("Node", .text("0"))
        }
        for (observed, isCleared, count) in [(list, false, 3), (ints, true, 3), (marks, true, 1)] {
            let changes = try told(observed)
            #expect(changes.isRootDeleted && changes.isCleared == isCleared && changes.deletions.count == count)
            guard case .gone = try observed.contents() else {
                Issue.record("not gone")
                return
            }
        }
        for (observed, count) in [(view, 2), (none, 0), (linkers, 2)] {
            let changes = try told(observed)
            #expect(changes == CollectionChanges(deletions: Array(0..<count), insertions: [], modified: []))
            guard case .rows(_, let keys) = try observed.contents(), keys.isEmpty else {
                Issue.record("not empty")
                return
            }
        }
        try realm.finish()
    }

    // MARK: - Elements

    @Test func `of two neighbours that are swapped the second one moved`() throws {
        let list = try observe(.collection(try property("list")))
        try realm.write { session in _ = try session.editList("Node", .text("0"), PropertyAddress("list"), [.swap(0, 1)]) }
        let changes = try told(list)
        #expect(changes.moves == [CollectionChanges.Move(from: 1, to: 0)])
        #expect(changes.deletions == [1] && changes.insertions == [0] && changes.modifications.isEmpty)
        try realm.finish()
    }

    @Test func `in a view in the order of values nobody sees that one moved in the list`() throws {
        let order = ResultOrder(sort: [ResultOrder.Key(path: "self", isAscending: true)], distinct: [])
        let sorted = try observe(.view(try property("ints"), ObservedQuery(order: order)))
        try realm.write { session in _ = try session.editList("Node", .text("0"), PropertyAddress("ints"), [.move(2, 0)]) }
        #expect(try told(sorted).isEmpty)
        try realm.finish()
    }

    @Test func `changes of elements are left out when they are of no interest, but not elements that are replaced`() throws {
        let list = try observe(.collection(try property("list")), .shallow)
        let dictionary = try observe(.collection(try property("dict")), .shallow)
        try realm.write { session in _ = try session.patch("Node", .text("1"), ["value": .integer(7)]) }
        #expect(try told(list).isEmpty)
        #expect(try told(dictionary).isEmpty)
        try realm.write { session in
            _ = try session.editList("Node", .text("0"), PropertyAddress("list"), [.set(1, Self.link(4))])
            _ = try session.editDictionary("Node", .text("0"), PropertyAddress("dict"), [.set("a", Self.link(4))])
        }
        #expect(try told(list).modifications == [1])
        #expect(try told(dictionary).modifications == [0])
        try realm.finish()
    }

    // MARK: - Linking objects

    @Test func `a path that goes on behind linking objects sees those that are new or go, one that ends there every one`() throws
    {
        let end = try observe(paths: ["linkers"], of: "_id == 0")
        let further = try observe(paths: ["linkers.value"], of: "_id == 0")
        func change(_ body: @escaping @Sendable (WriteSession) throws -> Void) throws -> [[Int]] {
            try realm.write { session in try body(session) }
            return [try told(end).modifications, try told(further).modifications]
        }
        #expect(try change { _ = try $0.patch("Node", .text("3"), ["next": Self.link(0)]) } == [[0], []])
        #expect(try change { _ = try $0.patch("Node", .text("3"), ["value": .integer(9)]) } == [[], [0]])
        #expect(try change { _ = try $0.patch("Node", .text("3"), ["next": .null]) } == [[0], [0]])
        #expect(
            try change { session in
                _ = try session.create(
                    "Node", ["_id": .integer(9), "value": .integer(1), "group": .text("g"), "next": Self.link(0)])
            } == [[0], [0]])
        try realm.finish()
    }

    @Test func `setting the link that is there changes nothing about the order of the objects that link`() throws {
        try realm.write { session in _ = try session.patch("Node", .text("1"), ["next": Self.link(0)]) }
        let origin = try table()
        let next = try #require(origin.column(named: "next")).key
        let linkers = try observe(.linkingObjects(to: try object(0), origin: origin.key, next, nil))
        try realm.write { session in _ = try session.patch("Node", .text("4"), ["next": Self.link(0)]) }
        let changes = try told(linkers)
        #expect(changes.deletions.isEmpty && changes.insertions.isEmpty && !changes.modifications.isEmpty)
        try realm.finish()
    }

    // MARK: - Ranges

    @Test func `the first link to a class in a mixed value does not part what is told as one`() throws {
        try realm.write { session in _ = try session.create("Lonely", ["_id": .integer(1), "value": .integer(1)]) }
        let rows = try observe(.results(try table().key, ObservedQuery(try Query.parse("TRUEPREDICATE"))))
        try realm.write { session in _ = try session.patch("Node", .text("2"), ["value": .integer(7)]) }
        try realm.write { session in
            _ = try session.patch("Node", .text("4"), ["any": .link(.stub(className: "Lonely", key: .text("1")))])
        }
        try realm.write { session in _ = try session.patch("Lonely", .text("1"), ["value": .integer(2)]) }
        // The first one links to the second, and the last ones to the first.
        #expect(try told(rows).modifications == [0, 2, 4, 5])
        try realm.finish()
    }

    // MARK: - Sections

    /// Rows by the number of their section, before and after; `flat` has their positions in the result.
    @Test(
        arguments: [
            // The first row goes to the section before, one comes from the section behind, and one of the others is modified.
            ([1, 1, 1, 2], [0, 1, 1, 1], [], [0, 1, 3], [[0, 1]], [[0, 0], [1, 2]], [[0, 0, 1, 0]]),
            ([1, 1, 1, 2], [0, 1, 1, 1], [], [0, 3], [[0, 0]], [[0, 0], [1, 2]], []),
            ([1, 1, 2], [0, 1, 1], [], [0, 1, 2], [], [[0, 0]], [[0, 0, 1, 0], [0, 1, 1, 1]]),
            // One that was not modified would be taken for the one that stands where it stood.
            ([0, 1, 1], [1, 1, 1, 2], [0], [1, 3], [[1, 1]], [[0, 0], [0, 1], [1, 0]], []),
        ] as [([Int], [Int], [Int], [Int], [[Int]], [[Int]], [[Int]])])
    func `a row may stand modified where another one stood, if whoever makes the places anew has all rows in line then`(
        _ before: [Int], _ after: [Int], _ inserted: [Int], _ modified: [Int], _ deletions: [[Int]], _ insertions: [[Int]],
        _ modifications: [[Int]]
    ) {
        let changes = SectionChanges.make(
            flat: CollectionChanges(deletions: [], insertions: inserted, modified: modified), old: SectionMap(rows: before),
            new: SectionMap(rows: after))
        #expect(changes.insertions.map { [$0.section, $0.row] } == insertions)
        #expect(changes.deletions.map { [$0.section, $0.row] } == deletions)
        #expect(changes.modifications.map { [$0.old.section, $0.old.row, $0.new.section, $0.new.row] } == modifications)
    }
}
