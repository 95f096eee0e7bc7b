// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform
internal import RealmQuery
internal import RealmStorage

/// Measures one query of every kind that the planner treats in a different way.
struct QuerySurvey {
    /// Measures the time of each query, with the number of runs that the options request.
    let harness: Harness
    /// The path of the measured file.
    let path: String

    /// Prepares the survey.
    ///
    /// - Parameters:
    ///   - path: The file.
    ///   - harness: Measures the times.
    init(_ path: String, _ harness: Harness) {
        self.path = path
        self.harness = harness
    }

    /// The queries whose matches are counted.
    private static let counts = [
        "TRUEPREDICATE", "age > 50", "age > 50 AND score < 0.5", "age == 7 OR age == 9 OR age == 11",
        "age BETWEEN {20, 29}", "age IN {1, 2, 3, 5, 8, 13, 21}", "active == true", "score > 0.25",
        "createdAt > 2015-06-01@00:00:00", "name == 'Ada'", "name BEGINSWITH 'A'", "name CONTAINS 'an'",
        "name CONTAINS[c] 'AN'", "name LIKE '*an*'", "name LIKE[c] '*AN*'", "city == 'city 7'",
        "NOT (age > 50)", "id == 4711", "age + 1 > 50", "name.@count > 8",
    ]
    /// The queries whose results are found.
    private static let results = [
        "age > 50", "city == 'city 7'", "TRUEPREDICATE SORT(age ASC) LIMIT(10)",
        "TRUEPREDICATE SORT(score DESC) LIMIT(10)",
        "TRUEPREDICATE SORT(name ASC) LIMIT(10)", "TRUEPREDICATE SORT(name ASC, age DESC) LIMIT(10)",
        "TRUEPREDICATE SORT(createdAt DESC) LIMIT(100)", "TRUEPREDICATE SORT(age ASC)", "TRUEPREDICATE SORT(name ASC)",
        "TRUEPREDICATE DISTINCT(city)", "age > 50 LIMIT(10)",
    ]

    /// Measures all queries. They are parsed and bound before the time is taken.
    ///
    /// - Parameter report: Receives the results.
    /// - Throws: `StorageError` for a file that cannot be read, `BenchmarkError` for one
    ///   without the class `Item`.
    func run(_ report: inout Report) throws {
        let snapshot = try Snapshot(file: try RealmFile(path: path))
        guard let table = snapshot.classTable(named: "Item") else { throw BenchmarkError.unsuitable("no class Item") }
        report.begin("count, \(table.count) objects", comparedWith: "")
        for text in Self.counts {
            let query = try Query.parse(text).bind(to: table, in: snapshot)
            var count = 0
            let time = try harness.milliseconds { count = try query.count() }
            report.add(text, .milliseconds, time, note: "\(count) objects")
        }
        report.begin("find, \(table.count) objects", comparedWith: "")
        for text in Self.results {
            let query = try Query.parse(text).bind(to: table, in: snapshot)
            var count = 0
            let time = try harness.milliseconds { count = try query.execute().count }
            report.add(text, .milliseconds, time, note: "\(count) objects")
        }
        report.begin("aggregate, \(table.count) objects", comparedWith: "")
        for request in Self.aggregates {
            let bound = try Query.all.bind(to: table, in: snapshot)
            let time = try harness.milliseconds { keep(try bound.aggregate([request]).count) }
            report.add("\(request.combination) of \(request.path)", .milliseconds, time)
        }
        let text = "age > 50 AND (name CONTAINS[c] 'an' OR city == 'city 7') SORT(age ASC) LIMIT(10)"
        let time = try harness.nanoseconds(repetitions: 100) { keep(try Query.parse(text).bind(to: table, in: snapshot)) }
        report.add("parse and bind a query", .milliseconds, time / 1e6)
    }

    /// The measured aggregates over all objects.
    private static let aggregates: [AggregateRequest] = [
        .init(.sum, "age"), .init(.max, "score"), .init(.average, "score"), .init(.min, "createdAt"),
    ]
}
