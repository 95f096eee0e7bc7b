// SPDX-License-Identifier: Apache-2.0

import RealmEngine
import RealmPlatform
import RealmStorage
import RealmTestSupport
import Testing

@testable import RealmQuery

/// Searches of several words in a full-text index with long lists, compared with a search in each text.
@Suite("Searches of several words")
struct FullTextQueryTests {
    private static let seed: UInt64 = 47
    private static let words = ["harbor", "river", "bridge", "garden", "harvest", "silver"]
    private let texts: [String?]
    private let snapshot: Snapshot

    init() throws { (texts, snapshot) = try FullTextQueryTests.notes.get() }

    /// The texts, and objects that have them: made once, as no test changes them.
    private static let notes = Result { try makeNotes() }

    private static func makeNotes() throws -> (texts: [String?], snapshot: Snapshot) {
        var random = SeededGenerator(seed: seed)
        let texts: [String?] = (0..<5000).map { id in
            if id % 97 == 0 { return nil }
            var words = (0..<4).compactMap { _ in FullTextQueryTests.words.randomElement(using: &random) }
            if id % 501 == 3 { words.append("seldom") }
            return words.joined(separator: " ")
        }
        let realm = try EngineRealm([
            ClassInput(
                "Note", primaryKey: "id",
                [
                    PropertyInput("id", "int"), PropertyInput("text", "string", optional: true, indexed: "fulltext"),
                    PropertyInput("next", "object", objectType: "Note"),
                ])
        ])
        try realm.write { session in
            for (id, text) in texts.enumerated() {
                let next: InputValue = id > 0 ? .integer(Int64(id / 2)) : .null
                let text = text.map { InputValue.text($0) } ?? .null
                _ = try session.create("Note", ["id": .integer(Int64(id)), "text": text, "next": next])
            }
        }
        let snapshot = realm.database.current.snapshot
        try realm.finish()
        return (texts, snapshot)
    }

    @Test(arguments: [
        "harbor river", "harbor river bridge", "harbor -river", "harbor -river -bridge", "-river", "-river -seldom", "har*",
        "har* river", "har* -harbor", "seldom", "seldom river", "river seldom har*", "seldom -river", "river -seldom",
        "none river", "river -none", "ha* se* ri*",
    ])
    func `an index gives what the texts give`(_ search: String) throws {
        let table = try #require(snapshot.classTable(named: "Note"))
        let id = try #require(table.column(named: "id"))
        let storage = ByteStorage(search)
        let parsed = try FullTextSearch(storage.view)
        func matches(_ text: String?) -> Bool {
            let bytes = text.map { ByteStorage($0) }
            return withExtendedLifetime(bytes) { parsed.matches(bytes?.view) }
        }
        let isFound = texts.map(matches)
        let own = texts.indices.filter { isFound[$0] }
        let linked = texts.indices.filter { $0 > 0 && isFound[$0 / 2] }
        for (query, expected) in [
            ("text TEXT '\(search)'", own), ("next.text TEXT '\(search)'", linked),
            ("text TEXT '\(search)' OR id < 0", own), ("text TEXT '\(search)' AND (id < 100 OR id >= 100)", own),
            ("NOT text TEXT '\(search)'", texts.indices.filter { !isFound[$0] }),
        ] {
            let bound = try Query.parse(query).bind(to: table, in: snapshot)
            let found = try bound.execute().compactMap { key -> Int? in
                guard case .int(let number)? = try table.find(key)?.value(id) else { return nil }
                return Int(number)
            }
            #expect(found == expected, "\(query), seed \(FullTextQueryTests.seed)")
            #expect(try Query.parse(query).bind(to: table, in: snapshot).count() == expected.count, "\(query)")
        }
        withExtendedLifetime(storage) {}
    }

    /// A query of different searches that find the same objects.
    private static func chain(_ search: String, count: Int, joinedBy word: String) -> String {
        (0..<count).map { "text TEXT '\(search) -x\($0)'" }.joined(separator: " \(word) ")
    }

    @Test(arguments: ["har*", "river", "harbor river"], ["AND", "OR"])
    func `searches of one query keep a bit for each object, and all of them together have a bound`(
        _ search: String, _ word: String
    ) throws {
        let table = try #require(snapshot.classTable(named: "Note"))
        let expected = try Query.parse("text TEXT '\(search)'").bind(to: table, in: snapshot).count()
        #expect(expected > 1000)
        let text = FullTextQueryTests.chain(search, count: 200, joinedBy: word)
        // The bits of 5000 objects are 20 values; as a list each search would be hundreds.
        let fits = try Query.parse(text).bind(to: table, in: snapshot)
        fits.sortedValueLimit = 5000
        #expect(try fits.count() == expected, "\(text.prefix(100))")
        let refused = try Query.parse(text).bind(to: table, in: snapshot)
        refused.sortedValueLimit = 1000
        for _ in 0..<2 {
            #expect(throws: QueryError.storage(.stopped(.tooManyValues(limit: 1000)))) { try refused.count() }
        }
    }

    @Test func `searches have a bound where nobody has set one`() throws {
        let check = CancellationCheck()
        try check.keep(byteCount: 60 << 20)
        #expect(throws: StorageError.stopped(.tooManyValues(limit: 2 << 20))) { try check.keep(byteCount: 8 << 20) }
    }

    @Test func `lists of many prefixes and of many constants give what one condition gives`() throws {
        let table = try #require(snapshot.classTable(named: "Note"))
        func count(_ text: String) throws -> Int { try Query.parse(text).bind(to: table, in: snapshot).count() }
        let prefixes = ["h*", "ha*", "har*", "r*", "ri*", "riv*", "rive*"].joined(separator: " ")
        #expect(try count("text TEXT '\(prefixes)'") == count("text TEXT 'har* river'"))
        // Few objects in all, so that the indexes are used, by more lists than are merged on demand.
        let seldom = (0..<20).map { "text TEXT 'seldom -x\($0)'" }.joined(separator: " OR ")
        #expect(try count("text TEXT 'seldom'") > 0)
        #expect(try count(seldom) == count("text TEXT 'seldom'"))
    }

    @Test func `keys of groups and of sorts share the leaves that a query may keep`() throws {
        let table = try #require(snapshot.classTable(named: "Note"))
        let everything = 1 << 18
        for (path, isShared) in [("id", false), ("next.next.id", true), ("next.id", true)] {
            let groups = try Query.all.bind(to: table, in: snapshot)
            #expect(try groups.group([GroupRequest(by: [.init(path)], atMost: 10_000)]).count == 1)
            #expect(groups.cancellation.takesLeaves(everything) == !isShared, "groups by \(path)")
            let totals = try Query.all.bind(to: table, in: snapshot)
            #expect(try totals.aggregate([AggregateRequest(.max, path)]).count == 5000)
            #expect(totals.cancellation.takesLeaves(everything) == !isShared, "the greatest \(path)")
            let order = ResultOrder(sort: [ResultOrder.Key(path: path, isAscending: false)], distinct: [])
            let sorted = try Query.all.bind(to: table, in: snapshot, order: order)
            #expect(try sorted.execute().count == 5000)
            #expect(sorted.cancellation.takesLeaves(everything) == !isShared, "sorted by \(path)")
        }
    }
}
