// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import RealmEngine
internal import RealmPlatform
internal import RealmQuery
internal import RealmStorage

/// Measures the cost of a commit that changes one object, while many different queries over its class are observed.
///
/// A commit concerns one of the queries or none, so the additional cost per query is that of an observed query that a commit does
/// not concern.
struct QueryCrowdBenchmarks {
    /// The number of objects of the class.
    private static let objects = 100_000
    /// The numbers of observed queries that are compared.
    private static let crowds = [1, 100, 1000, 5000]
    /// The number of measured commits, after some that warm up.
    private static let commits = 60
    /// The number of commits that warm up.
    private static let warming = 5

    /// The folder for the measured file.
    private let folder: ScratchFolder
    /// Returns whether a measurement is selected by the options.
    private let isWanted: (String) -> Bool

    /// Prepares the benchmark.
    ///
    /// - Parameters:
    ///   - folder: The folder for the measured file, which the benchmark makes.
    ///   - isWanted: Returns whether a measurement is selected by the options.
    init(_ folder: ScratchFolder, isWanted: @escaping (String) -> Bool) {
        self.folder = folder
        self.isWanted = isWanted
    }

    private struct Kind: Sendable {
        /// The name in the report.
        let name: String
        /// Returns the query with a number. `base` is the primary key of the first object.
        let text: @Sendable (_ number: Int, _ base: Int) -> String
        /// The distance from the first object of the one that the commits change.
        let changed: Int
    }

    /// The kinds of queries. The commits change the score of an object.
    private static let kinds = [
        Kind(name: "queries: id == n, one concerned", text: { "id == \($1 + $0 * 7)" }, changed: 0),
        Kind(name: "queries: id == n, none concerned", text: { "id == \($1 + $0 * 7)" }, changed: 99_999),
        Kind(
            name: "queries: id in ranges, one concerned", text: { "id >= \($1 + $0 * 10) AND id < \($1 + $0 * 10 + 10)" },
            changed: 5
        ),
        Kind(name: "queries: score > n, most concerned", text: { number, _ in "score > \(2000 + number)" }, changed: 5),
        Kind(
            name: "queries: city and score > n, none concerned",
            text: { number, _ in "city == 'Northford' AND score > \(2000 + number)" },
            changed: 5),
        Kind(name: "queries: name CONTAINS, none concerned", text: { number, _ in "name CONTAINS 'x\(number)'" }, changed: 5),
        Kind(
            name: "queries: windows of ranges, one concerned",
            text: { "id BETWEEN {\($1 + $0 * 10), \($1 + $0 * 10 + 9)} SORT(score DESC) LIMIT(5)" }, changed: 5),
    ]

    /// Measures all kinds with all numbers of queries.
    ///
    /// - Parameter report: Receives the results.
    func run(_ report: inout Report) throws {
        let kinds = Self.kinds.filter { isWanted($0.name) }
        guard !kinds.isEmpty else { return }
        report.begin("a commit that changes one of \(Self.objects) objects, and many observed queries", comparedWith: "")
        let realm = try WrittenRealm(emptyAt: "\(folder.path)/queries.realm", seed: 51)
        defer { realm.database.close() }
        let base = realm.firstID
        _ = try realm.make(1, perCommit: 1000, commits: Self.objects / 1000)
        let idle = try cost(realm, base + 5, QueryCrowd(realm.database))
        report.add("queries: none are observed", .microseconds, idle.processor, note: "processor time of the commit")
        for kind in kinds {
            for count in Self.crowds {
                let crowd = QueryCrowd(realm.database)
                defer { crowd.end() }
                for number in 0..<count { try crowd.observe(kind.text(number, base)) }
                let cost = try cost(realm, base + kind.changed, crowd)
                let each = (cost.processor - idle.processor) / Double(count)
                report.add(
                    "\(kind.name), \(count)", .microseconds, cost.round,
                    note: "each round; processor time \(fixed(cost.processor, decimals: 0, width: 0)) µs, of it for each query "
                        + "\(fixed(each, decimals: 3, width: 0)) µs; \(fixed(cost.events, decimals: 1, width: 0)) events")
            }
        }
    }

    /// The cost of a commit, in microseconds.
    private struct Cost {
        /// The median duration of the round that takes the queries over the commit.
        var round = 0.0
        /// The processor time of all threads for each commit.
        var processor = 0.0
        /// The number of events for each commit.
        var events = 0.0
    }

    /// Measures commits that change the score of an object.
    ///
    /// - Parameters:
    ///   - id: The primary key of the object.
    ///   - crowd: The observed queries.
    private func cost(_ realm: WrittenRealm, _ id: Int, _ crowd: QueryCrowd) throws -> Cost {
        var rounds: [Double] = []
        var begin = 0.0
        var events = 0
        for number in 0..<(Self.commits + Self.warming) {
            if number == Self.warming {
                begin = Self.processorMicroseconds
                events = crowd.eventCount
            }
            _ = try realm.setScore(of: Int64(id))
            crowd.waitForRound(realm.database.current.token.version)
            if number >= Self.warming { rounds.append(realm.database.observations.metrics.lastRound.inSeconds * 1e6) }
        }
        let count = Double(Self.commits)
        return Cost(
            round: median(rounds), processor: (Self.processorMicroseconds - begin) / count,
            events: Double(crowd.eventCount - events) / count)
    }

    /// The processor time that this process has taken, in microseconds.
    private static var processorMicroseconds: Double {
        var time = timespec()
        unsafe clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time)
        return Double(time.tv_sec) * 1e6 + Double(time.tv_nsec) / 1e3
    }
}
