// SPDX-License-Identifier: Apache-2.0

internal import RealmQuery
internal import RealmStorage

/// Queries over a file with one class `Item` (`bench-100000` of the fixtures): milliseconds, and nanoseconds per object.
struct QueryBenchmarks {
    let harness: Harness
    let path: String

    init(_ path: String, _ harness: Harness) {
        self.path = path
        self.harness = harness
    }

    private static let counts = [
        "TRUEPREDICATE", "age > 50", "age > 50 AND score < 0.5", "age == 7 OR age == 9 OR age == 11",
        "age BETWEEN {20, 29}", "age IN {1, 2, 3, 5, 8, 13, 21}", "active == true", "score > 0.25",
        "createdAt > 2015-06-01@00:00:00", "name == 'Ada'", "name BEGINSWITH 'A'", "name CONTAINS 'an'",
        "name CONTAINS[c] 'AN'", "name LIKE '*an*'", "name LIKE[c] '*AN*'", "city == 'city 7'",
        "NOT (age > 50)", "id == 4711", "age + 1 > 50", "name.@count > 8",
    ]
    private static let results = [
        "age > 50", "city == 'city 7'", "TRUEPREDICATE SORT(age ASC) LIMIT(10)", "TRUEPREDICATE SORT(score DESC) LIMIT(10)",
        "TRUEPREDICATE SORT(name ASC) LIMIT(10)", "TRUEPREDICATE SORT(name ASC, age DESC) LIMIT(10)",
        "TRUEPREDICATE SORT(createdAt DESC) LIMIT(100)", "TRUEPREDICATE SORT(age ASC)", "TRUEPREDICATE SORT(name ASC)",
        "TRUEPREDICATE DISTINCT(city)", "age > 50 LIMIT(10)",
    ]

    func run() throws {
        let snapshot = try Snapshot(file: try RealmFile(path: path))
        guard let table = snapshot.classTable(named: "Item") else { return print("\(path) has no class 'Item'") }
        print("\n" + padded("count", 60) + "        ms   ns/object      result")
        for text in QueryBenchmarks.counts {
            let query = try Query.parse(text).bind(to: table, in: snapshot)
            line(text, table.count, try query.count(), try harness.milliseconds { keep(try query.count()) })
        }
        print("\n" + padded("result", 60) + "        ms   ns/object      result")
        for text in QueryBenchmarks.results {
            let query = try Query.parse(text).bind(to: table, in: snapshot)
            line(text, table.count, try query.execute().count, try harness.milliseconds { keep(try query.execute()) })
        }
        print("\n" + padded("aggregate", 60) + "        ms   ns/object")
        for request in [AggregateRequest(.sum, "age"), .init(.max, "score"), .init(.average, "score"), .init(.min, "createdAt")] {
            let query = Query.all
            let bound = try query.bind(to: table, in: snapshot)
            let time = try harness.milliseconds { keep(try bound.aggregate([request])) }
            line("\(request.function.rawValue) of \(request.path)", table.count, nil, time)
        }
        print("\n" + padded("parse and bind", 60) + "        ms")
        let text = "age > 50 AND (name CONTAINS[c] 'an' OR city == 'city 7') SORT(age ASC) LIMIT(10)"
        line(text, nil, nil, try harness.nanoseconds(repetitions: 100) { keep(try Query.parse(text).bind(to: table, in: snapshot)) } / 1e6)
    }

    private func line(_ text: String, _ objects: Int?, _ result: Int?, _ milliseconds: Double) {
        let perObject = objects.map { fixed(milliseconds * 1e6 / Double($0), decimals: 2, width: 12) } ?? ""
        print(padded(text, 60) + fixed(milliseconds) + perObject + (result.map { fixed(Double($0), decimals: 0, width: 12) } ?? ""))
    }
}
