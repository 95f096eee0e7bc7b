// SPDX-License-Identifier: Apache-2.0

import RealmPlatform
import RealmQuery
import RealmStorage
import RealmTestSupport
import Testing

/// Results in groups, compared with the values read one by one.
@Suite struct GroupTests {
    /// Every file whose classes have properties of other forms: enumerated strings, links, all types, Mixed, nulls.
    static let fixtures = ["enumerated", "links", "types-single", "mixed", "int-widths", "store", "strings"]

    private static func text(_ value: Value) -> String {
        switch value {
        case .string(let bytes): return "text \(bytes.array)"
        case .binary(let bytes): return "data \(bytes.array)"
        case .double(let number) where number == 0: return "double 0"
        case .float(let number) where number == 0: return "float 0"
        case .decimal(let number): return number.exactInt64.map { "decimal \($0)" } ?? "\(value)"
        default: return "\(value)"
        }
    }

    private static func text(_ result: AggregateResult) -> String {
        switch result {
        case .value(.double(let number)): return "\(Float(number))"
        case .value(let value): return text(value)
        case .overflow: return "overflow"
        }
    }

    private static func snapshot(_ name: String) throws -> Snapshot {
        try Snapshot(file: try RealmFile(path: try Fixtures.path(name)))
    }

    /// The single properties of a class by which objects can be grouped.
    private static func columns(_ table: Table, _ snapshot: Snapshot) -> [Column] {
        table.columns.filter { column in
            column.collection == nil && column.type != .mixed && column.type != .backlink
                && column.targetTable.flatMap { snapshot.table($0) }?.kind != .embedded
        }
    }

    @Test(arguments: fixtures)
    func `groups have the sizes that counting one by one gives`(_ fixture: String) throws {
        let snapshot = try GroupTests.snapshot(fixture)
        for table in snapshot.classes where table.count > 0 {
            for column in GroupTests.columns(table, snapshot) {
                var sizes: [String: Int] = [:]
                var order: [String] = []
                let query = try Query.all.bind(to: table, in: snapshot)
                for key in try query.execute() {
                    let row = try #require(try table.find(key))
                    let text = GroupTests.text(try row.value(column))
                    if sizes[text] == nil { order.append(text) }
                    sizes[text, default: 0] += 1
                }
                let result = try #require(try query.group([GroupRequest(by: [.init(column.name)], atMost: 1_000_000)]).first)
                let place = "\(fixture) \(table.name).\(column.name)"
                #expect(result.keys[0].map { GroupTests.text($0) } == order, "\(place)")
                #expect(result.sizes == order.map { sizes[$0] ?? 0 }, "\(place)")
            }
        }
    }

    @Test(arguments: fixtures)
    func `aggregates of a group are those of its objects alone`(_ fixture: String) throws {
        let snapshot = try GroupTests.snapshot(fixture)
        for table in snapshot.classes where table.count > 0 {
            let columns = GroupTests.columns(table, snapshot)
            guard let by = columns.first(where: { $0.type == .string || $0.type == .link || $0.type == .bool }) else { continue }
            let numbers = columns.filter { [.int, .float, .double, .decimal].contains($0.type) }
            let requests = numbers.flatMap { column in
                [AggregateRequest.Function.min, .max, .sum, .average].map { AggregateRequest($0, column.name) }
            }
            let query = try Query.all.bind(to: table, in: snapshot)
            let request = GroupRequest(by: [.init(by.name)], computing: requests, atMost: 1_000_000)
            let result = try #require(try query.group([request]).first)
            var members: [String: [ObjectKey]] = [:]
            for key in try query.execute() {
                members[GroupTests.text(try #require(try table.find(key)).value(by)), default: []].append(key)
            }
            for group in result.sizes.indices {
                let keys = members[GroupTests.text(result.keys[0][group])] ?? []
                let (count, expected) = try query.aggregate(requests, over: keys)
                #expect(count == result.sizes[group])
                #expect(
                    result.results.map { GroupTests.text($0[group]) } == expected.map { GroupTests.text($0) },
                    "\(fixture) \(table.name) by \(by.name)")
            }
        }
    }

    @Test func `several paths are grouped by their combinations, also through links, and a filter counts`() throws {
        let snapshot = try GroupTests.snapshot("store")
        let table = try #require(snapshot.classTable(named: "Product"))
        let query = try Query.parse("price > 20").bind(to: table, in: snapshot)
        let category = try #require(table.column(named: "category"))
        let result = try #require(try query.group([GroupRequest(by: ["category.name", "category"], atMost: 100)]).first)
        var pairs = Set<String>()
        var total = 0
        for key in try query.execute() {
            pairs.insert(GroupTests.text(try #require(try table.find(key)).value(category)))
            total += 1
        }
        #expect(total > 50 && result.sizes.count == pairs.count && result.sizes.reduce(0, +) == total)
        #expect(Set(result.keys[1].map { GroupTests.text($0) }) == pairs)
        let bySize = result.order(by: [.init(.size, isAscending: false)]) { true }.map { result.sizes[$0] }
        #expect(bySize == result.sizes.sorted(by: >))
        let byName = result.order(by: [.init(.key(0), isAscending: true)]) { true }.map { GroupTests.text(result.keys[0][$0]) }
        #expect(byName.count == pairs.count && Set(byName).count > 1)
    }

    @Test func `mixed numbers that are whole are one group whatever their types, other values keep theirs`() throws {
        let snapshot = try GroupTests.snapshot("mixed")
        for table in snapshot.classes {
            for column in table.columns where column.type == .mixed && column.collection == nil {
                let query = try Query.all.bind(to: table, in: snapshot)
                var hasCollection = false
                for key in try query.execute() {
                    switch try #require(try table.find(key)).value(column) {
                    case .list, .dictionary: hasCollection = true
                    default: break
                    }
                }
                let request = GroupRequest(by: [.init(column.name)], atMost: 100_000)
                if hasCollection {
                    #expect(throws: QueryError.self) { try query.group([request]) }
                    continue
                }
                let result = try #require(try query.group([request]).first)
                #expect(result.sizes.reduce(0, +) == table.count)
                #expect(Set(result.keys[0].map { GroupTests.text($0) }).count == result.sizes.count)
            }
        }
    }

    @Test func `more groups than wanted are refused, and a check stops`() throws {
        let snapshot = try GroupTests.snapshot("store")
        let table = try #require(snapshot.classTable(named: "Product"))
        let query = try Query.all.bind(to: table, in: snapshot)
        #expect(throws: QueryError.storage(.stopped(.tooManyGroups(limit: 3)))) {
            try query.group([GroupRequest(by: ["name"], atMost: 3)])
        }
        #expect(throws: QueryError.cancelled) { try query.group([GroupRequest(by: ["name"], atMost: 1000)]) { false } }
        #expect(throws: QueryError.self) { try query.group([GroupRequest(by: ["nope"], atMost: 1000)]) }
        // A request without a key path is refused, whether or not there are rows.
        #expect(throws: QueryError.self) { try query.group([GroupRequest(by: [], atMost: 1000)]) }
        #expect(throws: QueryError.self) { try query.group([GroupRequest(by: [], atMost: 1000)], over: []) }
    }

    @Test func `what all groups of a query keep has a bound, and is given back`() throws {
        let snapshot = try GroupTests.snapshot("store")
        let table = try #require(snapshot.classTable(named: "Product"))
        let query = try Query.all.bind(to: table, in: snapshot)
        let sums = Array(repeating: AggregateRequest(.sum, "price"), count: 100)
        let plain = GroupRequest(by: ["sku"], atMost: 1_000_000)
        let count = try #require(try query.group([plain]).first).sizes.count
        #expect(count > 50)
        // Groups alone fit, and those with a few sums; neither a hundred sums of each nor the same groups a hundred times do.
        let limit = count * 16
        query.sortedValueLimit = limit
        for _ in 0..<3 {
            #expect(try query.group([plain]).first?.sizes.count == count)
            let fits = GroupRequest(by: ["sku"], computing: Array(sums.prefix(2)), atMost: 1_000_000)
            #expect(try query.group([fits]).first?.results.map(\.count) == [count, count])
            for requests in [
                [GroupRequest(by: ["sku"], computing: sums, atMost: 1_000_000)], Array(repeating: plain, count: 100),
            ] {
                #expect(throws: QueryError.storage(.stopped(.tooManyValues(limit: limit)))) { try query.group(requests) }
                #expect(throws: QueryError.storage(.stopped(.tooManyValues(limit: limit)))) {
                    try query.group(requests, over: try query.execute())
                }
            }
        }
    }
}
