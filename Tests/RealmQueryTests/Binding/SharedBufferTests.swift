// SPDX-License-Identifier: Apache-2.0

import RealmEngine
import RealmPlatform
import RealmStorage
import RealmTestSupport
import Testing

@testable import RealmQuery

/// The comparisons of a long query share what they hold, and its binding looks at its time.
@Suite("Long queries")
struct SharedBufferTests {
    private static let kidCount = 9000

    private let realm: EngineRealm
    private let snapshot: Snapshot
    private let table: Table

    /// One item with thousands of kids and of numbers.
    init() throws {
        realm = try EngineRealm([
            ClassInput(
                "Item", primaryKey: "id",
                [
                    PropertyInput("id", "int"), PropertyInput("numbers", "int", collection: "list"),
                    PropertyInput("kids", "object", collection: "list", objectType: "Kid"),
                ]),
            ClassInput("Kid", primaryKey: "id", [PropertyInput("id", "int"), PropertyInput("a", "int")]),
        ])
        try realm.write { session in
            for id in 0..<Int64(SharedBufferTests.kidCount) {
                _ = try session.create("Kid", ["id": .integer(id), "a": .integer(id)])
            }
            let kids = (0..<SharedBufferTests.kidCount).map { InputValue.integer(Int64($0)) }
            _ = try session.create("Item", ["id": .integer(0), "numbers": .list(Array(kids.prefix(5000))), "kids": .list(kids)])
        }
        snapshot = realm.database.current.snapshot
        table = try #require(snapshot.classTable(named: "Item"))
    }

    private func bind(_ text: String, check: BoundQuery.Check? = nil) throws -> BoundQuery {
        try Query.parse(text).bind(to: table, in: snapshot, check: check)
    }

    /// A query of many parts, of which none holds.
    private func chain(_ part: String, count: Int) -> String { Array(repeating: part, count: count).joined(separator: " OR ") }

    @Test(arguments: ["kids.@sum.a == -1", "kids.@max.a == -1", "kids.@avg.a + 1 == -1"])
    func `aggregates of one query keep the keys of one of them`(_ part: String) throws {
        let query = try bind(chain(part, count: 50))
        #expect(try query.count() == 0)
        let spare = query.cancellation.spareKeys
        #expect(spare.count == 1 && spare.allSatisfy { $0.capacity <= 1 << 14 }, "\(part): \(spare.map(\.capacity))")
        try realm.finish()
    }

    @Test func `comparisons of one query keep the values of one of them`() throws {
        let query = try bind(chain("kids.a + 1 == id - 1", count: 50))
        #expect(try query.count() == 0)
        // Both sides of the comparison, and both of the sum.
        #expect(query.cancellation.spareGroups.count == 4)
        #expect(query.cancellation.spareGroups.allSatisfy { $0.values.isEmpty && $0.values.capacity <= 1 << 14 })
        try realm.finish()
    }

    @Test func `the bound of values counts both sides of a comparison, and what they gave back no more`() throws {
        let query = try bind("ANY kids.a == ANY numbers")
        query.sortedValueLimit = 10_000
        for _ in 0..<3 {
            #expect(throws: QueryError.storage(.stopped(.tooManyValues(limit: 10_000)))) { try query.count() }
        }
        query.sortedValueLimit = 20_000
        for _ in 0..<3 { #expect(try query.count() == 1) }
        try realm.finish()
    }

    @Test func `a helper of a query keeps its share of what the query may keep`() throws {
        let check = CancellationCheck()
        check.limitToShare(of: 4, holding: 4000)
        try check.hold(1000)
        #expect(throws: StorageError.stopped(.tooManyValues(limit: 1000))) { try check.hold(1) }
        #expect(check.takesBits(1 << 27) && !check.takesBits(1))
        #expect(check.takesLeaves(1 << 16) && !check.takesLeaves(1))
        try realm.finish()
    }

    @Test(arguments: ["id == 7", "NOT kids.a == 7", "ANY numbers == 7"])
    func `the binding of a long query can be stopped`(_ part: String) throws {
        let text = chain(part, count: 2000)
        var asked = 0
        #expect(throws: QueryError.cancelled) {
            try bind(text) {
                asked += 1
                return asked < 3
            }
        }
        #expect(asked == 3)
        let column = try #require(table.column(named: "numbers"))
        let values = try Query.parse(chain("self == 7", count: 2000))
        #expect(throws: QueryError.cancelled) {
            try ElementQuery.bind(values, to: column, of: table, in: snapshot, check: { false })
        }
        try realm.finish()
    }
}
