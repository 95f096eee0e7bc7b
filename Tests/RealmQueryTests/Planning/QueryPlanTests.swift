// SPDX-License-Identifier: Apache-2.0

import RealmPlatform
import RealmQuery
import RealmStorage
import RealmTestSupport
import Testing

/// What a plan costs, in keys that are read from indexes.
@Suite("Query plans")
struct QueryPlanTests {
    /// Objects of the class.
    private static let count = 20_000

    private let snapshot: Snapshot
    private let table: Table

    init() throws {
        snapshot = try QueryPlanTests.items.get()
        table = try #require(snapshot.classTable(named: "Item"))
    }

    /// `Item {group int indexed, part int indexed, number int}`: two groups of 10,000, parts of 2,000. Made once for all tests.
    private static let items = Result { try makeItems() }

    private static func makeItems() throws -> Snapshot {
        let realm = try ScratchRealm()
        let transaction = realm.transaction
        let key = try transaction.createTable("class_Item")
        try transaction.addColumn(ColumnDefinition("group", .int, index: .general), to: key)
        try transaction.addColumn(ColumnDefinition("part", .int, index: .general), to: key)
        try transaction.addColumn(ColumnDefinition("number", .int), to: key)
        let columns = try transaction.table(key)
        let group = try #require(columns.column(named: "group"))
        let part = try #require(columns.column(named: "part"))
        let number = try #require(columns.column(named: "number"))
        for index in 0..<Int64(count) {
            let object = try transaction.createObject(in: key)
            try transaction.set(.int(index % 2), group, of: object, in: key)
            try transaction.set(.int(index % 10), part, of: object, in: key)
            try transaction.set(.int(index), number, of: object, in: key)
        }
        return try realm.commit()
    }

    private func bind(_ text: String, sort: String? = nil) throws -> BoundQuery {
        let order = ResultOrder(sort: sort.map { [.init(path: $0)] } ?? [])
        return try Query.parse(text).bind(to: table, in: snapshot, order: order)
    }

    /// What a look at all objects finds; `NOT NOT` takes the index away.
    private func scan(_ predicate: String) throws -> [ObjectKey] { try bind("NOT NOT (\(predicate))").execute() }

    @Test(
        arguments: ["group == 1", "part == 3", "part IN {3, 4, 5}", "group == 1 AND number >= 0", "group == 0 LIMIT(5000)"])
    func `a page reads few keys of the index, however many match`(_ text: String) throws {
        let predicate = text.replacing(" LIMIT(5000)", with: "")
        let all = try scan(predicate)
        for window in [ResultWindow(limit: 20), ResultWindow(offset: 40, limit: 20)] {
            let query = try bind(text)
            #expect(try query.execute(window) == Array(all.dropFirst(window.offset).prefix(20)))
            #expect(query.statistics.indexKeysRead <= 600, "\(text): \(query.statistics.indexKeysRead)")
        }
        let last = all[all.count / 2]
        let query = try bind(text)
        let page = try query.execute(ResultWindow(limit: 20, after: PagePosition(cells: [], key: last)))
        if !text.contains("LIMIT") { #expect(page == Array(all.drop { $0 <= last }.prefix(20))) }
        #expect(query.statistics.indexKeysRead <= 600, "\(text): \(query.statistics.indexKeysRead)")
    }

    @Test func `a cursor with a limit reads few keys of the index`() throws {
        let query = try bind("group == 1")
        let cursor = try #require(try query.cursor(ResultWindow(limit: 20)))
        var keys: [ObjectKey] = []
        while let (leaf, rows) = try cursor.next() { rows.forEach { keys.append(leaf.key(at: $0)) } }
        #expect(keys == Array(try scan("group == 1").prefix(20)))
        #expect(query.statistics.indexKeysRead <= 200)
    }

    @Test(arguments: [("group == 1", 0), ("part == 3", 2000)])
    func `a cursor over all matches reads an index only when few objects match`(_ text: String, _ keysRead: Int) throws {
        let query = try bind(text)
        let cursor = try #require(try query.cursor())
        var keys: [ObjectKey] = []
        while let (leaf, rows) = try cursor.next() { rows.forEach { keys.append(leaf.key(at: $0)) } }
        #expect(keys == (try scan(text)))
        #expect(query.statistics.indexKeysRead == keysRead)
    }

    @Test(
        arguments: [
            ("group == 1", nil, 10_000), ("group == 1", "number", 10_000), ("group == 7", nil, 0),
            ("part == 3", nil, 2000), ("part IN {3, 4, 11}", nil, 4000), ("group == 1 LIMIT(30)", nil, 30),
            ("part == 3 OR part == 4", nil, 4000), ("FALSEPREDICATE", nil, 0), ("TRUEPREDICATE", nil, 20_000),
        ] as [(String, String?, Int)])
    func `a count that an index knows reads no keys`(_ text: String, _ sort: String?, _ expected: Int) throws {
        let query = try bind(text, sort: sort)
        #expect(try query.count() == expected)
        #expect(query.statistics.indexKeysRead == 0)
    }

    @Test func `all keys of several values are found in order, each once`() throws {
        for text in ["part IN {5, 3, 4}", "part IN {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18}"] {
            #expect(try bind(text).execute() == (try scan(text)))
        }
    }

    @Test func `the fewest objects are looked up, and only what is looked up is called so`() throws {
        let lines = try bind("group == 1 AND part == 3").explain()
        #expect(lines[0] == "look up 2000 of 20000 objects of 'Item'")
        #expect(lines.contains("    search index: part == 3"))
        #expect(lines.contains("    compare packed column: group == 1"))
        #expect(try bind("group == 1", sort: "number").explain()[0] == "scan 20000 objects of 'Item'")
        #expect(try bind("group == 1", sort: "number").explain()[1] == "  compare packed column: group == 1")
        #expect(try bind("FALSEPREDICATE").explain() == ["look up 0 of 20000 objects of 'Item'", "  no object"])
    }
}
