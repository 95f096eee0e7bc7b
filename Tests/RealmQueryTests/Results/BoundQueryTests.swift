// SPDX-License-Identifier: Apache-2.0

import RealmPlatform
import RealmQuery
import RealmStorage
import RealmTestSupport
import Testing

/// A fixture with many objects, indexes and links.
private func openStore() throws -> Snapshot { try Snapshot(file: try RealmFile(path: try Fixtures.path("store"))) }

@Suite("Bound queries")
struct BoundQueryTests {
    private let snapshot: Snapshot
    private let table: Table

    init() throws {
        snapshot = try openStore()
        table = try #require(snapshot.classTable(named: "Customer"))
    }

    private func numbers() -> [Column] { table.columns.filter { $0.collection == nil && $0.type == .int } }

    @Test func `windows cut the same result`() throws {
        let query = try Query.parse("TRUEPREDICATE").bind(to: table, in: snapshot)
        let all = try query.execute()
        #expect(all.count == table.count)
        for (offset, limit) in [(0, 10), (5, 300), (800, 7), (all.count - 3, 10), (all.count + 5, 10), (0, 0)] {
            let page = try query.execute(ResultWindow(offset: offset, limit: limit))
            #expect(page == Array(all.dropFirst(offset).prefix(limit)), "offset \(offset), limit \(limit)")
        }
        #expect(try query.execute(ResultWindow(offset: .max, limit: .max)).isEmpty)
    }

    @Test(arguments: [true, false])
    func `pages that start behind an object make up the whole result`(_ isAscending: Bool) throws {
        let column = try #require(table.columns.first { $0.collection == nil && $0.type == .string })
        for order in [ResultOrder.none, ResultOrder(sort: [.init(path: column.name, isAscending: isAscending)])] {
            let query = try Query.all.bind(to: table, in: snapshot, order: order)
            let all = try query.execute()
            var pages: [ObjectKey] = []
            var after: PagePosition?
            repeat {
                let page = try query.execute(ResultWindow(limit: 97, after: after))
                pages += page
                after = try page.last.flatMap { try table.find($0) }.map { try query.position(of: $0) }
            } while after != nil
            #expect(pages == all)
        }
    }

    @Test func `sorting by digits, by heap and by comparison agree`() throws {
        for column in table.columns where column.collection == nil && column.type != .link {
            for direction in ["ASC", "DESC"] {
                let sorted = try Query.parse("TRUEPREDICATE SORT(\(column.name) \(direction))").bind(to: table, in: snapshot)
                let all = try sorted.execute()
                let best = try sorted.execute(ResultWindow(limit: 25))
                #expect(best == Array(all.prefix(25)), "\(column.name) \(direction)")
                let values = try all.map { key in try #require(try table.find(key)).value(column) }
                for (left, right) in zip(values, values.dropFirst()) {
                    #expect(direction == "ASC" ? Value.order(left, right) <= 0 : Value.order(left, right) >= 0)
                }
            }
        }
    }

    @Test func `with a limit, the first of the whole order are kept`() throws {
        for table in snapshot.tables where table.count > 100 {
            let columns = table.columns.filter { $0.collection == nil && $0.type != .link && $0.type != .mixed }
            for (first, second) in columns.flatMap({ one in columns.prefix(3).map { (one, $0) } }) {
                for direction in ["ASC", "DESC"] {
                    let order = "TRUEPREDICATE SORT(\(first.name) \(direction), \(second.name) ASC)"
                    let all = try Query.parse(order).bind(to: table, in: snapshot).execute()
                    for limit in [1, 20, 300] {
                        let some = try Query.parse("\(order) LIMIT(\(limit))").bind(to: table, in: snapshot).execute()
                        #expect(some == Array(all.prefix(limit)), "\(table.name): \(order), \(limit)")
                    }
                }
            }
        }
    }

    @Test func `streaming and collecting give the same objects`() throws {
        for column in numbers() {
            let query = try Query.parse("\(column.name) > 3 LIMIT(300)").bind(to: table, in: snapshot)
            let cursor = try #require(try query.cursor(ResultWindow(offset: 11)))
            var keys: [ObjectKey] = []
            while let (leaf, rows) = try cursor.next() { rows.forEach { keys.append(leaf.key(at: $0)) } }
            #expect(keys == Array(try query.execute().dropFirst(11)))
            #expect(try query.count() == keys.count + min(11, try query.execute().count))
        }
    }

    @Test func `a check that says no stops the query`() throws {
        let query = try Query.parse("TRUEPREDICATE").bind(to: table, in: snapshot)
        #expect(throws: QueryError.cancelled) { try query.execute(check: { false }) }
        #expect(throws: QueryError.cancelled) {
            try Query.parse("TRUEPREDICATE DISTINCT(\(table.columns[0].name))").bind(to: table, in: snapshot).count(check: {
                false
            })
        }
    }

    @Test func `a path that multiplies objects without end is stopped within one object`() throws {
        let suite = try #require(
            try QueryVectors(group: "collections").suites.first { $0.json["classes"]?.elements?.first?["name"]?.text == "Li" })
        let snapshot = try Snapshot(file: try RealmFile(path: suite.realmPath))
        let table = try #require(snapshot.classTable(named: "Li"))
        let text = String(repeating: "kids.@links.Li.kids.", count: 40) + "kids.@count == 12345"
        let query = try Query.parse(text).bind(to: table, in: snapshot)
        var checks = 0
        #expect(throws: QueryError.cancelled) {
            try query.count {
                checks += 1
                return checks < 50
            }
        }
    }

    @Test func `a condition behind a path that multiplies objects is tested once for each of them`() throws {
        let suite = try #require(
            try QueryVectors(group: "collections").suites.first { $0.json["classes"]?.elements?.first?["name"]?.text == "Li" })
        let snapshot = try Snapshot(file: try RealmFile(path: suite.realmPath))
        let table = try #require(snapshot.classTable(named: "Li"))
        let path = String(repeating: "kids.@links.Li.kids.", count: 40)
        let query = try Query.parse(path + "n == 12345").bind(to: table, in: snapshot)
        var checks = 0
        let found = try query.count {
            checks += 1
            return checks < 5000
        }
        #expect(found == 0)
    }

    @Test func `a path of thousands of names is refused`() {
        #expect(throws: QueryError.self) { try Query.parse(String(repeating: "kids.", count: 2_000) + "n == 1") }
    }

    @Test func `aggregates agree with the values one by one`() throws {
        for column in numbers() {
            let query = try Query.all.bind(to: table, in: snapshot)
            let requests = [AggregateRequest.Function.min, .max, .sum, .average].map { AggregateRequest($0, column.name) }
            let (count, results) = try query.aggregate(requests)
            var values: [Int64] = []
            for key in try query.execute() {
                if case .int(let number)? = try table.find(key)?.value(column) { values.append(number) }
            }
            #expect(count == table.count)
            #expect(
                results.map { text($0) } == [
                    text(values.min().map(Value.int) ?? .null), text(values.max().map(Value.int) ?? .null),
                    text(.int(values.reduce(0, &+))),
                    text(values.isEmpty ? .null : .double(values.reduce(0.0) { $0 + Double($1) } / Double(values.count))),
                ], "\(column.name)")
        }
    }

    private func text(_ result: AggregateResult) -> String {
        switch result {
        case .value(let value): return text(value)
        case .overflow: return "overflow"
        }
    }

    private func text(_ value: Value) -> String { "\(value)" }

    @Test func `aggregating text is invalid, and so is an unknown property`() throws {
        let query = try Query.all.bind(to: table, in: snapshot)
        let column = try #require(table.columns.first { $0.collection == nil && $0.type == .string })
        #expect(throws: QueryError.self) { try query.aggregate([AggregateRequest(.sum, column.name)]) }
        #expect(throws: QueryError.self) { try query.aggregate([AggregateRequest(.sum, "noSuchProperty")]) }
    }

    @Test func `a sequence of objects is filtered, sorted and cut by position, duplicates included`() throws {
        let column = try #require(numbers().first)
        let keys = try Query.parse("TRUEPREDICATE LIMIT(50)").bind(to: table, in: snapshot).execute()
        let sequence = keys + keys.reversed()
        let query = try Query.parse("\(column.name) != null SORT(\(column.name) DESC) LIMIT(20)").bind(to: table, in: snapshot)
        let positions = try query.execute(over: sequence)
        #expect(positions.count == 20)
        #expect(Set(positions).count == 20)
        let values = try positions.map { position in try #require(try table.find(sequence[position])).value(column) }
        for (left, right) in zip(values, values.dropFirst()) { #expect(Value.order(left, right) >= 0) }
    }

    @Test func `indexes find what a scan finds`() throws {
        var tested = 0
        for table in snapshot.classes {
            for column in table.columns
            where column.hasSearchIndex && column.collection == nil && column.declaredIndex != .fullText {
                for position in [0, 1, table.count / 2, table.count - 1] where position >= 0 {
                    guard let row = try table.objects.row(at: position) else { continue }
                    let value = try row.value(column)
                    guard !value.isNull else { continue }
                    let found = try Query.parse("\(column.name) == $0")
                        .bind(to: table, in: snapshot, arguments: [QueryArgument(copying: value)])
                    // NOT NOT takes the index away.
                    let scanned = try Query.parse("NOT \(column.name) != $0")
                        .bind(to: table, in: snapshot, arguments: [QueryArgument(copying: value)])
                    #expect(try found.execute() == (try scanned.execute()), "\(table.name).\(column.name)")
                    tested += 1
                }
            }
        }
        #expect(tested > 0)
    }

    @Test func `incoming links find what a scan finds`() throws {
        var tested = 0
        for table in snapshot.classes {
            for column in table.columns where column.type == .link && column.collection != .dictionary {
                guard let target = column.targetTable.flatMap({ snapshot.table($0) }), target.kind == .topLevel,
                    let row = try target.objects.row(at: 0)
                else { continue }
                let argument = QueryArgument.link(target.key, row.key)
                let found = try Query.parse("\(column.name) == $0").bind(to: table, in: snapshot, arguments: [argument])
                let scanned = try Query.parse("NOT NONE {$0} == \(column.name)").bind(
                    to: table, in: snapshot, arguments: [argument])
                #expect(try found.execute() == (try scanned.execute()), "\(table.name).\(column.name)")
                tested += 1
            }
        }
        #expect(tested > 0)
    }

    @Test func `dependencies name the tables and columns on the way`() throws {
        let origin = try #require(snapshot.classes.first { $0.columns.contains { $0.type == .link } })
        let link = try #require(origin.columns.first { $0.type == .link })
        let target = try #require(link.targetTable.flatMap { snapshot.table($0) })
        let property = try #require(target.columns.first { $0.type != .link && $0.collection == nil })
        let query = try Query.parse("\(link.name).\(property.name) == null").bind(to: origin, in: snapshot)
        #expect(query.dependencies.tables == [origin.key, target.key])
        #expect(
            query.dependencies.columns == [
                .init(table: origin.key, leafIndex: link.leafIndex), .init(table: target.key, leafIndex: property.leafIndex),
            ])
        #expect(!query.dependencies.mayReachAnyTable)
    }

    @Test func `deep trees run on a thread with two megabytes of stack`() throws {
        let column = try #require(numbers().first).name
        let text =
            String(repeating: "(\(column) == 1 AND (\(column) == 2 OR ", count: 400) + "\(column) == 3"
            + String(repeating: "))", count: 400)
        let chain = Array(repeating: "\(column) != 77", count: 2_000).joined(separator: " AND ")
        let isEmpty = try SmallStack.run(byteCount: 2 << 20) { [snapshot, table] in
            let deep = try Query.parse(text).bind(to: table, in: snapshot).count()
            _ = try Query.parse(chain).bind(to: table, in: snapshot).count()
            return deep >= 0
        }
        #expect(isEmpty)
    }
}
