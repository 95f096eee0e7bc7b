// SPDX-License-Identifier: Apache-2.0

internal import RealmFormats
internal import RealmHTTP
internal import RealmPlatform
internal import RealmQuery
internal import RealmStorage

/// Measures queries in process, over one version of a file in a warm page cache.
struct QueryBenchmarks {
    /// The number of primary key look-ups in one run.
    private static let lookups = 100_000

    /// The path of the measured file.
    private let path: String
    /// Measures the time of each query, with the number of runs that the options request.
    private let harness: Harness
    /// The text that the names of measurements must contain; nil measures all.
    private let only: String?
    /// The newest version of the measured file, which is queried.
    private let snapshot: Snapshot
    /// The table of the class `Item`.
    private let table: Table

    /// Opens a file with the class `Item`.
    ///
    /// - Parameters:
    ///   - path: The file.
    ///   - harness: Measures the times.
    ///   - only: The text that the names of measurements must contain; nil measures all.
    /// - Throws: `StorageError` for a file that cannot be read, `BenchmarkError` for one
    ///   without the class.
    init(_ path: String, _ harness: Harness, only: String? = nil) throws {
        self.path = path
        self.harness = harness
        self.only = only
        snapshot = try Snapshot(file: try RealmFile(path: path))
        guard let table = snapshot.classTable(named: "Item") else { throw BenchmarkError.unsuitable("no class Item") }
        self.table = table
    }

    /// Measures all queries.
    ///
    /// - Parameters:
    ///   - report: Receives the results.
    ///   - baseline: The results to compare with, which apply only to the same number of
    ///     objects.
    func run(_ report: inout Report, _ baseline: Baseline?) throws {
        let figures = baseline?.figures(forObjects: table.count) ?? [:]
        report.begin("in process, \(table.count) objects", comparedWith: figures.isEmpty ? "" : "reference")
        if isWanted("open the file") {
            report.add("open the file", .milliseconds, try open(), comparedWith: figures["openFileMs"])
        }
        for (name, figure, text) in Self.counts where isWanted(name) {
            let (time, count) = try self.count(text)
            report.add(name, .milliseconds, time, comparedWith: figures[figure], note: "\(count) objects")
        }
        for (name, figure, text) in Self.finds where isWanted(name) {
            report.add(name, .milliseconds, try find(text), comparedWith: figures[figure])
        }
        for (name, text, order) in Self.pages where isWanted(name) {
            report.add(name, .milliseconds, try page(text, order))
        }
        for (name, figure, text, request) in Self.aggregates where isWanted(name) {
            let time = try aggregate(text, request)
            report.add(name, .milliseconds, time, comparedWith: figures[figure])
        }
        try GroupBenchmarks(table: table, snapshot: snapshot, harness: harness, isWanted: isWanted).run(&report)
        try runRates(&report, figures)
    }

    /// Measures look-ups and the full scan, whose results are rates.
    private func runRates(_ report: inout Report, _ figures: [String: Double]) throws {
        if isWanted("primary key look-ups") {
            report.add(
                "primary key look-ups", .perSecond, try lookUp(), comparedWith: figures["primaryKeyLookupsPerSecond"])
        }
        let exports = [("full scan to JSON with helpers, rows", false), ("the same with entity tags, rows", true)]
        for (name, showsMeta) in exports where isWanted(name) {
            report.add(
                name, .perSecond, try export(Representation(includesMeta: showsMeta)),
                comparedWith: figures["fullScanRowsPerSecond"])
        }
        guard isWanted("full scan to JSON, rows") else { return }
        let (rows, bytes) = try scan()
        report.add(
            "full scan to JSON, rows", .perSecond, rows, comparedWith: figures["fullScanRowsPerSecond"],
            note: "\(bytes) bytes")
    }

    /// Returns whether a measurement is selected by the options.
    private func isWanted(_ name: String) -> Bool { only.map { name.contains($0) } ?? true }

    /// The measured counts: a name, the name in the baseline, and the query.
    private static let counts = [
        ("count age > 50", "countAgeGt50Ms", "age > 50"),
        ("count name CONTAINS[c] 'an'", "countNameContainsAnCaseInsensitiveMs", "name CONTAINS[c] 'an'"),
        ("count name CONTAINS 'an'", "countNameContainsAnCaseSensitiveMs", "name CONTAINS 'an'"),
        ("count city == 'Northburg', indexed", "countCityIndexedMs", "city == 'Northburg'"),
        (
            "count age, active and score", "countAgeAndActiveAndScoreMs",
            "age >= 30 AND age < 40 AND active == true AND score > 500"
        ),
        ("count age * 20 > score, two operands", "countTwoOperandsMs", "age * 20 > score"),
        ("count age + 0 IN two numbers, row by row", "countRowByRowMs", "age + 0 IN {50, 51}"),
    ]

    /// The measured pages of the first twenty results, as lists request them: a name, the query and the order.
    private static let pages = [
        ("page of 20, age > 50", "age > 50", ResultOrder.none),
        ("page of 20, city == 'Northburg', indexed", "city == 'Northburg'", ResultOrder.none),
        ("page of 20, active and indexed city", "city == 'Northburg' AND active == true", ResultOrder.none),
        ("page of 20, by score", "TRUEPREDICATE", ResultOrder(sort: [.init(path: "score", isAscending: false)])),
        ("page of 20, age > 50 by name", "age > 50", ResultOrder(sort: [.init(path: "name")])),
    ]

    /// The measured searches: a name, the name in the baseline, and the query.
    private static let finds = [
        ("find city == 'Northburg', indexed", "findAllCityIndexedMs", "city == 'Northburg'"),
        ("SORT(score DESC) LIMIT(20)", "sortScoreLimit20Ms", "TRUEPREDICATE SORT(score DESC) LIMIT(20)"),
        ("age > 50 SORT(name, id) LIMIT(20)", "filterSortLimit20Ms", "age > 50 SORT(name ASC, id ASC) LIMIT(20)"),
    ]

    /// The measured aggregates: a name, the name in the baseline, the query and the aggregate.
    private static let aggregates = [
        ("sum of score", "sumScoreMs", "TRUEPREDICATE", AggregateRequest(.sum, "score")),
        ("average of score", "avgScoreMs", "TRUEPREDICATE", AggregateRequest(.average, "score")),
        ("average of score of active", "avgScoreOfActiveMs", "active == true", AggregateRequest(.average, "score")),
        ("greatest age", "maxAgeMs", "TRUEPREDICATE", AggregateRequest(.max, "age")),
    ]

    // MARK: - Work

    /// Measures opening the file, from its path to a version with its classes, in milliseconds.
    private func open() throws -> Double {
        try harness.milliseconds {
            keep(try Snapshot(file: try RealmFile(path: path)).classTable(named: "Item")?.count)
        }
    }

    /// Measures a count, including parsing and binding the query.
    ///
    /// - Returns: The time in milliseconds, and the number of matching objects.
    private func count(_ text: String) throws -> (milliseconds: Double, count: Int) {
        var count = 0
        let time = try harness.milliseconds { count = try Query.parse(text).bind(to: table, in: snapshot).count() }
        return (time, count)
    }

    /// Measures finding all results of a query in milliseconds, including parsing and binding.
    private func find(_ text: String) throws -> Double {
        try harness.milliseconds { keep(try Query.parse(text).bind(to: table, in: snapshot).execute().count) }
    }

    /// Measures finding the first 20 results of a query in milliseconds, including parsing and binding.
    private func page(_ text: String, _ order: ResultOrder) throws -> Double {
        try harness.milliseconds {
            keep(try Query.parse(text).bind(to: table, in: snapshot, order: order).execute(ResultWindow(limit: 20)).count)
        }
    }

    /// Measures an aggregate in milliseconds, including parsing and binding.
    ///
    /// - Parameters:
    ///   - request: The function and the property.
    private func aggregate(_ text: String, _ request: AggregateRequest) throws -> Double {
        try harness.milliseconds {
            keep(try Query.parse(text).bind(to: table, in: snapshot).aggregate([request]).count)
        }
    }

    /// Measures look-ups of random existing keys, with one property of each object read; the result is a rate per second.
    private func lookUp() throws -> Double {
        guard let score = table.column(named: "score") else { throw BenchmarkError.unsuitable("no property score") }
        let keys = UInt64(table.count)
        let time = try harness.milliseconds {
            var random = SplitMix(3)
            var total = 0.0
            for _ in 0..<Self.lookups {
                guard let row = try table.findByPrimaryKey(.int(Int64(random.next() % keys))) else { continue }
                if case .double(let value) = try row.value(score) { total += value }
            }
            keep(total)
        }
        return Double(Self.lookups) / time * 1000
    }

    /// Measures an export of the whole realm, as clients get it, whose chunks are dropped.
    private func export(_ representation: Representation) throws -> Double {
        let time = try harness.milliseconds {
            let stream = ExportStream(
                try StreamRows(allOf: snapshot), version: "1", format: .ndjson, representation: representation)
            let buffer = OutputBuffer(capacity: 2 * Streaming.chunkBytes)
            while try !stream.produce(into: buffer) { buffer.removeAll() }
        }
        return Double(table.count) / time * 1000
    }

    /// Measures writing all objects with all properties as JSON to a buffer that is emptied after each leaf.
    private func scan() throws -> (rowsPerSecond: Double, bytes: Int) {
        let plan = try ObjectPlanner(snapshot).plan(table)
        let buffer = OutputBuffer(capacity: 1 << 20)
        var bytes = 0
        let time = try harness.milliseconds {
            bytes = 0
            let encoder = ObjectEncoder(snapshot, Representation(includesMeta: false))
            var writer = JSONWriter(buffer)
            var leaves = table.leaves()
            while let leaf = try leaves.next() {
                for row in 0..<leaf.count { try encoder.write(Row(leaf: leaf, index: row), plan, to: &writer) }
                bytes += buffer.count
                buffer.removeAll()
            }
        }
        return (Double(table.count) / time * 1000, bytes)
    }
}
