// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform
internal import RealmQuery
internal import RealmStorage

/// Measures results in groups, each next to the plain count over the same filter.
struct GroupBenchmarks {
    /// The class `Item` of the measured file.
    let table: Table
    /// The version that is queried.
    let snapshot: Snapshot
    /// Measures the time of each query.
    let harness: Harness
    /// Returns whether a measurement is selected by the options.
    let isWanted: (String) -> Bool

    /// The filter of all measurements, as far as the class has its property.
    private static let filter = "age >= 10"

    /// Measures groups by an int and a string, and by a link and an average where the class has them.
    ///
    /// - Parameter report: Receives the results; the notes state the multiple of the count that each takes.
    func run(_ report: inout Report) throws {
        guard isWanted("groups") else { return }
        let query = try Query.parse(Self.filter)
        let plain = try harness.milliseconds { keep(try query.bind(to: table, in: snapshot).count()) }
        report.add("groups: count \(Self.filter)", .milliseconds, plain)
        for path in ["age", "city"] + (link.map { [$0] } ?? []) where table.column(named: path) != nil {
            try measure(
                "groups by \(path)", of: query, GroupRequest(by: [.init(path)], atMost: .max), comparedWith: plain, &report)
        }
        if table.column(named: "score") != nil {
            let request = GroupRequest(by: ["age"], computing: [AggregateRequest(.average, "score")], atMost: .max)
            try measure("groups by age, average of score", of: query, request, comparedWith: plain, &report)
        }
    }

    /// The first property that is a link to one object; nil for none.
    private var link: String? { table.columns.first { $0.type == .link && $0.collection == nil }?.name }

    /// Measures one grouping.
    ///
    /// - Parameters:
    ///   - query: The filter.
    ///   - plain: The time of the count over the same filter in milliseconds.
    ///   - report: Receives the result.
    private func measure(
        _ name: String, of query: Query, _ request: GroupRequest, comparedWith plain: Double, _ report: inout Report
    ) throws {
        var count = 0
        let time = try harness.milliseconds {
            count = try query.bind(to: table, in: snapshot).group([request]).first?.sizes.count ?? 0
        }
        report.add(name, .milliseconds, time, note: "\(count) groups, \(fixed(time / plain, decimals: 1, width: 0)) × the count")
    }
}
