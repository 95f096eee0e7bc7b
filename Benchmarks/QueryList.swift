// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform
internal import RealmQuery
internal import RealmStorage

/// Measures queries that a text file lists, each in a line of the name of a class, a tab and the query.
///
/// The reference engine reads the same realms and the same queries, so its figures are compared by the text of the query.
struct QueryList {
    private let queries: [(className: String, text: String)]

    /// Reads a list; empty lines are left out.
    ///
    /// - Parameter path: The text file.
    /// - Throws: `BenchmarkError` when it cannot be read, or has a line without a tab.
    init(_ path: String) throws {
        queries = try String(decoding: Baseline.read(path), as: UTF8.self).split(separator: "\n").map { line in
            let parts = line.split(separator: "\t", maxSplits: 1)
            guard parts.count == 2 else { throw BenchmarkError.unsuitable("\(path): no tab in '\(line)'") }
            return (String(parts[0]), String(parts[1]))
        }
    }

    /// Measures the time of each query to count its matches, or to find them if it has an order, with one thread.
    ///
    /// - Parameters:
    ///   - path: The realm.
    ///   - harness: Measures the times.
    ///   - baseline: The results to compare with.
    ///   - report: Receives the results.
    /// - Throws: `StorageError` for a file that cannot be read, `BenchmarkError` for one without a class of the list.
    func measure(
        _ path: String, _ harness: Harness, comparedWith baseline: Baseline?, _ report: inout Report
    ) throws {
        let snapshot = try Snapshot(file: try RealmFile(path: path))
        report.begin("queries", comparedWith: baseline == nil ? "" : "reference")
        for (className, text) in queries {
            guard let table = snapshot.classTable(named: className) else {
                throw BenchmarkError.unsuitable("no class \(className)")
            }
            let parsed = try Query.parse(text)
            let isOrdered = ["SORT(", "DISTINCT(", "LIMIT("].contains { text.contains($0) }
            var count = 0
            let time = try harness.milliseconds {
                // A bound query caches its look-ups, so each run has its own.
                let query = try parsed.bind(to: table, in: snapshot)
                count = isOrdered ? try query.execute().count : try query.count()
            }
            report.add(
                text, .milliseconds, time, comparedWith: baseline?.allFigures[text], note: "\(count) objects")
        }
    }
}
