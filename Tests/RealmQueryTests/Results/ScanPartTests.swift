// SPDX-License-Identifier: Apache-2.0

import Foundation
import RealmPlatform
import RealmStorage
import RealmTestSupport
import Synchronization
import Testing

@testable import RealmQuery

/// Long scans, which are divided into parts that several threads work on.
@Suite("Scans in parts")
struct ScanPartTests {
    /// A class of many objects, some of which were deleted.
    private static func realm(_ count: Int, _ random: inout SeededGenerator) throws -> (
        realm: ScratchRealm, numbers: [Int: Double]
    ) {
        let realm = try ScratchRealm()
        let transaction = realm.transaction
        let key = try transaction.createTable("class_A")
        try transaction.addColumn(ColumnDefinition("n", .int), to: key)
        try transaction.addColumn(ColumnDefinition("x", .double, isNullable: true), to: key)
        try transaction.addColumn(ColumnDefinition("d", .decimal), to: key)
        var numbers: [Int: Double] = [:]
        var columns: [[Value?]] = [[], [], []]
        for row in 0..<count {
            let real = Double.random(in: -1...1, using: &random)
            numbers[row] = real
            columns[0].append(.int(Int64(row)))
            columns[1].append(row % 10 == 3 ? nil : .double(real))
            columns[2].append(.decimal(Decimal128(Int64(row % 1000))))
        }
        let objects = try transaction.createObjects(count, in: key, columns: columns)
        for (row, object) in objects.enumerated() where Int.random(in: 0..<50, using: &random) == 0 {
            try transaction.deleteObject(object, in: key)
            numbers[row] = nil
        }
        try realm.commit()
        return (realm, numbers)
    }

    @Test(arguments: TestRun.seeds(quick: 1, long: 2))
    func `have the same results, to the last digit, whoever works on them`(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        let (realm, numbers) = try ScanPartTests.realm(160_000, &random)
        let snapshot = realm.store.current
        let table = try #require(snapshot.classTable(named: "A"))
        let parts = try #require(try ScanPart.parts(of: table))
        #expect(parts.count > 3)
        let requests = [
            ("n", .sum), ("n", .average), ("n", .min), ("n", .max), ("x", .sum), ("x", .average), ("x", .max), ("d", .sum),
        ]
        .map { (path: String, function: AggregateRequest.Function) in AggregateRequest(function, path) }
        for text in ["TRUEPREDICATE", "n > 100000", "n < 40000 OR x > 0.5", "n == 77"] {
            var answers: Set<String> = []
            let kept = try numbers.keys.filter { row in
                switch text {
                case "n > 100000": row > 100_000
                case "n == 77": row == 77
                case "TRUEPREDICATE": true
                default: try row < 40_000 || (row % 10 != 3 && #require(numbers[row]) > 0.5)
                }
            }
            for limit in [nil, 0, 1, 3, 3, 3] as [Int?] {
                let query = try Query.parse(text).bind(to: table, in: snapshot)
                query.helpers = limit.map { ScanHelpers(limit: $0) }
                let answer = try query.aggregate(requests)
                #expect(try query.count() == answer.count)
                answers.insert("\(answer)")
                #expect(answer.count == kept.count, "seed \(seed): \(text)")
                guard case .value(.int(let sum)) = answer.results[0] else {
                    Issue.record("\(answer)")
                    continue
                }
                #expect(Int(sum) == kept.reduce(0, +), "seed \(seed): \(text)")
            }
            #expect(answers.count == 1, "seed \(seed): \(text): \(answers)")
        }
        try realm.close()
    }

    @Test(arguments: [4, 5] as [UInt64])
    func `add reals in the order of the objects, part by part`(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        let (realm, numbers) = try ScanPartTests.realm(140_000, &random)
        let snapshot = realm.store.current
        let table = try #require(snapshot.classTable(named: "A"))
        let parts = try #require(try ScanPart.parts(of: table))
        var sums = [Double](repeating: 0, count: parts.count)
        var part = 0
        var leaves = table.leaves()
        let column = try #require(table.column(named: "n"))
        while let leaf = try leaves.next() {
            for row in 0..<leaf.count {
                while let last = parts[part].through, leaf.key(at: row) > last { part += 1 }
                guard case .int(let number) = try leaf.value(column, row: row), number % 10 != 3 else { continue }
                sums[part] += try #require(numbers[Int(number)])
            }
        }
        for requests in [[AggregateRequest(.sum, "x")], [AggregateRequest(.max, "n"), AggregateRequest(.sum, "x")]] {
            let answer = try Query.parse("TRUEPREDICATE").bind(to: table, in: snapshot).aggregate(requests)
            guard case .value(.double(let sum))? = answer.results.last else {
                Issue.record("\(answer)")
                continue
            }
            #expect(sum.bitPattern == sums.reduce(0, +).bitPattern, "seed \(seed): \(sum), \(sums)")
        }
        try realm.close()
    }

    @Test func `end when their caller asks for it, and helpers are free then`() throws {
        var random = SeededGenerator(seed: 3)
        let (realm, _) = try ScanPartTests.realm(160_000, &random)
        let snapshot = realm.store.current
        let table = try #require(snapshot.classTable(named: "A"))
        let helpers = ScanHelpers(limit: 3)
        for calls in [0, 1, 5, 30] {
            let query = try Query.parse("n > 5").bind(to: table, in: snapshot)
            query.helpers = helpers
            var left = calls
            #expect(throws: QueryError.self) {
                try query.count {
                    left -= 1
                    return left >= 0
                }
            }
            #expect(eventually { helpers.busy == 0 })
        }
        let query = try Query.parse("n > 5").bind(to: table, in: snapshot)
        query.helpers = helpers
        #expect(try query.count() > 150_000)
        try realm.close()
    }

    @Test func `small classes are not divided`() throws {
        var random = SeededGenerator(seed: 4)
        let (realm, _) = try ScanPartTests.realm(3000, &random)
        #expect(try ScanPart.parts(of: try #require(realm.store.current.classTable(named: "A"))) == nil)
        try realm.close()
    }

    @Test func `many queries share the helpers`() throws {
        var random = SeededGenerator(seed: 5)
        let (realm, numbers) = try ScanPartTests.realm(140_000, &random)
        let snapshot = realm.store.current
        let helpers = ScanHelpers(limit: 2)
        let (wrong, ended) = (Counter(), Counter())
        for number in 0..<6 {
            Threads.spawn("query") {
                for round in 0..<5 {
                    let least = (number * 7 + round) * 3000
                    let count = try? { () throws in
                        let query = try Query.parse("n >= \(least)").bind(
                            to: try #require(snapshot.classTable(named: "A")), in: snapshot)
                        query.helpers = helpers
                        return try query.count()
                    }()
                    if count != numbers.keys.count(where: { $0 >= least }) { wrong.count() }
                }
                ended.count()
            }
        }
        #expect(eventually { ended.value == 6 && helpers.busy == 0 })
        #expect(wrong.value == 0)
        try realm.close()
    }

    /// Counts on several threads.
    private final class Counter: Sendable {
        private let number = Atomic(0)
        var value: Int { number.load(ordering: .sequentiallyConsistent) }
        func count() { number.add(1, ordering: .sequentiallyConsistent) }
    }
}
