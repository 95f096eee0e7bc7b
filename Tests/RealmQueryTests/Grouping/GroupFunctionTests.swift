// SPDX-License-Identifier: Apache-2.0

import RealmPlatform
import RealmQuery
import RealmStorage
import RealmTestSupport
import Testing

/// Groups by functions of values, and statistics, compared with what one value after the other gives.
@Suite struct GroupFunctionTests {
    static let fixtures = ["types-single", "mixed", "int-widths", "store", "strings", "enumerated"]
    static let functions: [ValueFunction] = [
        .first, .firstLetter, .year, .month, .day, .hour, .floor(1), .floor(7), .floor(1000), .mod(2), .mod(10), .mod(.max),
    ]

    private static func text(_ value: Value) -> String {
        switch value {
        case .string(let bytes), .binary(let bytes): return "bytes \(bytes.array)"
        case .double(let number) where number == 0: return "double 0"
        case .float(let number) where number == 0: return "float 0"
        case .decimal(let number): return number.exactInt64.map { "decimal \($0)" } ?? "\(value)"
        default: return "\(value)"
        }
    }

    private static func snapshot(_ name: String) throws -> Snapshot {
        try Snapshot(file: try RealmFile(path: try Fixtures.path(name)))
    }

    @Test(arguments: fixtures)
    func `groups by a function are those of its results one by one`(_ fixture: String) throws {
        let snapshot = try GroupFunctionTests.snapshot(fixture)
        var count = 0
        for table in snapshot.classes where table.count > 0 {
            for column in table.columns where column.collection == nil && column.type != .mixed && column.type != .link {
                for function in GroupFunctionTests.functions {
                    let query = try Query.all.bind(to: table, in: snapshot)
                    let request = GroupRequest(by: [.init(column.name, function)], atMost: 1_000_000)
                    guard function.resultType(of: column.type) != nil else {
                        #expect(throws: QueryError.self) { try query.group([request]) }
                        continue
                    }
                    var (order, sizes, owners) = ([String](), [String: Int](), [ByteStorage]())
                    for key in try query.execute() {
                        let row = try #require(try table.find(key))
                        let result = function.result(of: try row.value(column), keeping: &owners)
                        let text = GroupFunctionTests.text(try #require(result))
                        if sizes[text] == nil { order.append(text) }
                        sizes[text, default: 0] += 1
                    }
                    let result = try #require(try query.group([request]).first)
                    let place = "\(fixture) \(table.name).\(column.name) \(function)"
                    withExtendedLifetime(owners) { #expect(result.keys[0].map(GroupFunctionTests.text) == order, "\(place)") }
                    #expect(result.sizes == order.map { sizes[$0] ?? 0 }, "\(place)")
                    count += 1
                }
            }
        }
        #expect(count > 0 || fixture == "mixed")
    }

    @Test(arguments: ["types-single", "int-widths", "store"])
    func `statistics are those of all values in order`(_ fixture: String) throws {
        let snapshot = try GroupFunctionTests.snapshot(fixture)
        for table in snapshot.classes where table.count > 0 {
            for column in table.columns where [.int, .float, .double].contains(column.type) && column.collection == nil {
                let query = try Query.all.bind(to: table, in: snapshot)
                var (numbers, distinct) = ([Double](), Set<String>())
                for key in try query.execute() {
                    let value = try #require(try table.find(key)).value(column)
                    if !value.isNull { distinct.insert(GroupFunctionTests.text(value)) }
                    switch value {
                    case .int(let number): numbers.append(Double(number))
                    case .float(let number) where !number.isNaN: numbers.append(Double(number))
                    case .double(let number) where !number.isNaN: numbers.append(number)
                    default: break
                    }
                }
                numbers.sort()
                let requests = [
                    AggregateRequest(.statistic(.distinct), column.name),
                    AggregateRequest(.statistic(.percentile(0)), column.name),
                    AggregateRequest(.statistic(.percentile(100)), column.name), AggregateRequest(.max, column.name),
                ]
                let (_, results) = try query.aggregate(requests)
                let place = "\(fixture) \(table.name).\(column.name)"
                #expect(GroupFunctionTests.number(results[0]) == Double(distinct.count), "\(place)")
                #expect(GroupFunctionTests.number(results[1]) == numbers.first, "\(place)")
                #expect(GroupFunctionTests.number(results[2]) == numbers.last, "\(place)")
                #expect(GroupFunctionTests.number(results[3]) == numbers.last, "\(place)")
            }
        }
    }

    private static func number(_ result: AggregateResult) -> Double? {
        switch result {
        case .value(.int(let number)): return Double(number)
        case .value(.double(let number)): return number
        case .value(.float(let number)): return Double(number)
        default: return nil
        }
    }

    @Test(arguments: [("", nil), ("5", 5), ("1 2", 1.5), ("3 1 2", 2), ("1 2 3 10", 2.5)] as [(String, Double?)])
    func `the median lies in the middle`(_ text: String, _ median: Double?) {
        var numbers = text.split(separator: " ").compactMap { Double($0) }
        #expect(Statistic.percentile(50, of: &numbers) == median)
    }

    @Test func `numbers that a statistic keeps have a bound, and are given back`() throws {
        let snapshot = try GroupFunctionTests.snapshot("store")
        let table = try #require(snapshot.classTable(named: "Product"))
        let query = try Query.all.bind(to: table, in: snapshot)
        let median = [AggregateRequest(.statistic(.percentile(50)), "price")]
        query.sortedValueLimit = table.count
        for _ in 0..<5 { #expect(try query.aggregate(median).count == table.count) }
        query.sortedValueLimit = 10
        #expect(throws: QueryError.storage(.stopped(.tooManyValues(limit: 10)))) { try query.aggregate(median) }
    }
}
