// SPDX-License-Identifier: Apache-2.0

import RealmEngine
import RealmPlatform
import RealmQuery
import RealmStorage
import RealmTestSupport
import Testing

/// Work that one object, one comparison or one step of a write can make long looks at its time on the way.
@Suite struct WorkInsideTests {
    private static let classes = [
        ClassInput(
            "Item", primaryKey: "id",
            [
                PropertyInput("id", "int"), PropertyInput("text", "string", optional: true),
                PropertyInput("mixed", "mixed", optional: true),
                PropertyInput("numbers", "int", collection: "list"), PropertyInput("names", "string", collection: "list"),
                PropertyInput("entries", "int", collection: "dictionary"),
                PropertyInput("kids", "object", collection: "list", objectType: "Kid"),
                PropertyInput("favourite", "object", optional: true, objectType: "Kid"),
            ]),
        ClassInput(
            "Kid", primaryKey: "id",
            [
                PropertyInput("id", "int"), PropertyInput("a", "int"), PropertyInput("b", "int"),
                PropertyInput("text", "string", optional: true),
            ]),
    ]

    /// One item with thousands of everything, and the kids that it links to.
    private func realm(kids: Int = 5000) throws -> EngineRealm {
        let realm = try EngineRealm(WorkInsideTests.classes)
        try realm.write { session in
            let text = InputValue.text(String(repeating: "a", count: 3000))
            for id in 0..<kids {
                let id = Int64(id)
                _ = try session.create(
                    "Kid", ["id": .integer(id), "a": .integer(id), "b": .integer(-id - 1), "text": id == 0 ? text : .null])
            }
            let numbers = (0..<5000).map { InputValue.integer(Int64($0)) }
            _ = try session.create(
                "Item",
                [
                    "id": .integer(0), "text": .text(String(repeating: "a", count: 60_000)), "mixed": .list(numbers),
                    "numbers": .list(numbers),
                    "names": .list((0..<5000).map { .text("name \($0)") }),
                    "entries": .object(InputObject((0..<5000).map { (name: "k\($0)", value: InputValue.integer(Int64($0))) })),
                    "kids": .list((0..<kids).map { .integer(Int64($0)) }), "favourite": .integer(0),
                ])
        }
        return realm
    }

    private func bind(_ text: String, _ realm: EngineRealm, _ arguments: [QueryArgument] = []) throws -> (BoundQuery, Row) {
        let snapshot = realm.database.current.snapshot
        let table = try #require(snapshot.classTable(named: "Item"))
        return (
            try Query.parse(text).bind(to: table, in: snapshot, arguments: arguments), try #require(try table.objects.row(at: 0))
        )
    }

    @Test func `a query stops within one object`() throws {
        let realm = try realm()
        let like = "*" + String(repeating: "a", count: 8000) + "?b*"
        let texts = [
            "text LIKE $0", "text LIKE[c] $0", "ANY mixed[*] == -1", "ANY numbers == -1", "ALL numbers >= 0",
            "numbers.@sum == -1",
            "names.length == 1", "ANY entries == -1", "entries.@max == -1", "ANY entries.@keys == 'x'", "kids.@sum.a == -1",
            "ANY kids.a == -1",
            "NONE kids.a == ANY kids.b", "ALL kids.a != ALL kids.b", "NONE numbers + 1 == -1",
            "SUBQUERY(kids, $x, $x.a == -1).@count > 0",
            "numbers IN {1, 2}",
        ]
        for text in texts {
            let (query, row) = try bind(text, realm, [.string(like)])
            #expect(throws: QueryError.cancelled, "\(text)") { try query.matches(row, check: { false }) }
        }
        try realm.finish()
    }

    @Test func `two long lists are compared value by value, and not to their end when there is no time`() throws {
        let realm = try realm()
        let (query, row) = try bind("ALL kids.a != ALL kids.b", realm)
        var checks = 0
        #expect(throws: QueryError.cancelled) {
            try query.matches(
                row,
                check: {
                    checks += 1
                    return checks < 20
                })
        }
        try realm.finish()
    }

    @Test func `a sort stops among long texts that are equal`() throws {
        let realm = try EngineRealm(WorkInsideTests.classes)
        try realm.write { session in
            _ = try session.create(
                "Kid",
                ["id": .integer(0), "a": .integer(0), "b": .integer(0), "text": .text(String(repeating: "a", count: 30_000))])
            for id in 0..<1500 { _ = try session.create("Item", ["id": .integer(Int64(id)), "favourite": .integer(0)]) }
        }
        for text in [
            "TRUEPREDICATE SORT(favourite.text ASC)", "TRUEPREDICATE DISTINCT(favourite.text)",
            "TRUEPREDICATE SORT(id ASC) SORT(favourite.text ASC)",
        ] {
            let (query, _) = try bind(text, realm)
            var checks = 0
            _ = try query.execute(check: {
                checks += 1
                return true
            })
            #expect(checks > 25, "\(text) asked \(checks) times")
            let last = checks - 1
            checks = 0
            #expect(throws: QueryError.cancelled, "\(text)") {
                try query.execute(check: {
                    checks += 1
                    return checks < last
                })
            }
        }
        try realm.finish()
    }

    @Test func `values that a comparison holds have a bound`() throws {
        let realm = try realm(kids: 9000)
        let (query, row) = try bind("ANY kids.a == id - 100000", realm)
        query.sortedValueLimit = 4000
        #expect(throws: QueryError.storage(.stopped(.tooManyValues(limit: 4000)))) { try query.matches(row) }
        query.sortedValueLimit = 20_000
        #expect(try !query.matches(row))
        try realm.finish()
    }

    @Test func `arguments that are named often have a bound in all`() throws {
        let realm = try realm(kids: 10)
        let list = QueryArgument.list((0..<100_000).map { .int($0) })
        let cases: [(text: String, argument: QueryArgument, fits: Int)] = [
            ("id IN $0", list, 5), ("text == $0", .string(String(repeating: "a", count: 8 << 20)), 4),
        ]
        for (text, argument, fits) in cases {
            _ = try bind(Array(repeating: text, count: fits).joined(separator: " OR "), realm, [argument])
            #expect(throws: QueryError.self, "\(text)") {
                try bind(Array(repeating: text, count: fits + 1).joined(separator: " OR "), realm, [argument])
            }
        }
        try realm.finish()
    }

    @Test func `a full-text search of many words is read at once`() throws {
        let words = (0..<50_000).map { "x\($0)" }.joined(separator: " ")
        let storage = ByteStorage(Array(words.utf8))
        #expect(try FullTextSearch(storage.view).included.count == 50_000)
    }

    @Test func `a value that goes into every object stops at the memory of a write`() throws {
        var limits = WriteLimits()
        limits.writeBytes = 4 << 20
        let realm = try EngineRealm(WorkInsideTests.classes, limits: limits)
        try realm.write { session in
            for id in 0..<100 { _ = try session.create("Item", ["id": .integer(Int64(id)), "text": .text("x")]) }
        }
        let text = InputValue.text(String(repeating: "n", count: 100_000))
        let error = realm.failure { session in _ = try session.patchWhere("Item", Query.all, ["text": text]) }
        #expect(error?.code == .tooManyAffected && error?.limit == 4 << 20 && error?.exceeded == .writeBytes)
        try realm.write { session in _ = try session.patchWhere("Item", try Query.parse("id < 20"), ["text": text]) }
        let snapshot = realm.database.current.snapshot
        let table = try #require(snapshot.classTable(named: "Item"))
        #expect(try Query.parse("text == 'x'").bind(to: table, in: snapshot).count() == 80)
        try realm.finish()
    }

    /// The error of a change that begins when its time is over.
    private func late(_ realm: EngineRealm, _ change: @escaping @Sendable (WriteSession) throws -> Void) -> WriteError.Code? {
        realm.failure { session in
            session.budget.deadline = .now()
            try change(session)
        }?.code
    }

    @Test func `one step of a write stops when its time is over`() throws {
        let realm = try realm()
        #expect(late(realm) { session in _ = try session.delete("Item", .text("0")) } == .deadlineExceeded)
        let hub = try EngineRealm(WorkInsideTests.classes)
        try hub.write { session in
            _ = try session.create("Kid", ["id": .integer(0), "a": .integer(0), "b": .integer(0)])
            for id in 0..<1000 { _ = try session.create("Item", ["id": .integer(Int64(id)), "favourite": .integer(0)]) }
        }
        #expect(late(hub) { session in _ = try session.delete("Kid", .text("0")) } == .deadlineExceeded)
        #expect(hub.database.current.snapshot.classTable(named: "Kid")?.count == 1)
        try hub.finish()
        #expect(realm.database.current.snapshot.classTable(named: "Item")?.count == 1)
        #expect(realm.database.current.snapshot.classTable(named: "Kid")?.count == 5000)
        try realm.finish()
    }

    @Test func `a long value counts by its bytes, wherever a write copies, compares or writes it`() throws {
        let realm = try realm(kids: 1)
        let long = InputValue.text(String(repeating: "l", count: 3 << 20))
        #expect(late(realm) { session in _ = try session.patch("Item", .text("0"), ["text": long]) } == .deadlineExceeded)
        try realm.write { session in _ = try session.patch("Item", .text("0"), ["text": long]) }
        for edit in [PathEdit.copy(from: [.name("text")], path: [.name("mixed")]), .test(path: [.name("text")], long)] {
            #expect(late(realm) { session in _ = try session.edit("Item", .text("0"), [edit]) } == .deadlineExceeded, "\(edit)")
        }
        try realm.finish()
    }

    @Test func `the rounds of a migration that join long texts stop when its time is over`() throws {
        let realm = try realm(kids: 1)
        let long = InputValue.text(String(repeating: "l", count: 3 << 20))
        try realm.write { session in _ = try session.patch("Item", .text("0"), ["text": long]) }
        let set = LoopStep.set(object: "item", values: ["mixed": .expression("item.text + item.text + item.text + item.text")])
        let inner = MigrationLoop(.elements(path: "item.numbers"), as: "n", [set])
        let loop = MigrationLoop(.objects(MigrationMatch("Item")), as: "item", [.forEach(inner)])
        let begin = Instant.now()
        let error = realm.failure(EngineRealm.request(seconds: 0.5)) { session in
            _ = try session.migrate(Migration(from: 0, to: 1, [.forEach(loop)], allowsDataLoss: false))
        }
        #expect(error?.code == .deadlineExceeded, "\(String(describing: error))")
        #expect(Instant.now().seconds(since: begin) < 4)
        try realm.finish()
    }

    @Test func `one write notes only so many changes, however often it changes the same`() throws {
        var limits = WriteLimits()
        limits.writeBytes = 8 << 20
        let realm = try EngineRealm(WorkInsideTests.classes, limits: limits)
        try realm.write { session in
            _ = try session.create("Item", ["id": .integer(1), "numbers": .list((0..<5000).map { .integer($0) })])
        }
        let copy = PathEdit.copy(from: [.name("numbers")], path: [.name("numbers")])
        try realm.write { session in _ = try session.edit("Item", .primaryKey(.integer(1)), Array(repeating: copy, count: 2)) }
        let error = realm.failure { session in
            _ = try session.edit("Item", .primaryKey(.integer(1)), Array(repeating: copy, count: 100))
        }
        #expect(error?.code == .tooManyAffected && error?.limit == 8 << 20)
        try realm.finish()
    }
}
