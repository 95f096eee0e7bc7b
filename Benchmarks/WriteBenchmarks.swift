// SPDX-License-Identifier: Apache-2.0

internal import RealmEngine
internal import RealmPlatform
internal import RealmStorage

/// Measures durable writes in process; each is completed when its commit is on the disk.
struct WriteBenchmarks {
    /// The number of clients that write at the same time in measurements of groups.
    private static let clients = 32
    /// The number of runs, of which the median is reported.
    private static let runs = 5
    /// The number of commits in one run with one client.
    private static let commits = 200

    /// The path of the measured file, of which a copy is written.
    private let path: String
    /// The folder for copies and new files.
    private let folder: ScratchFolder
    /// The text that the names of measurements must contain; nil measures all.
    private let only: String?

    /// Prepares the benchmark.
    ///
    /// - Parameters:
    ///   - path: The measured file.
    ///   - folder: The folder for copies and new files.
    ///   - only: The text that the names of measurements must contain; nil measures all.
    init(_ path: String, _ folder: ScratchFolder, only: String?) {
        self.path = path
        self.folder = folder
        self.only = only
    }

    /// Measures writes to a copy of the file and to a small new file.
    ///
    /// - Parameters:
    ///   - report: Receives the results.
    ///   - baseline: The results to compare with.
    func run(_ report: inout Report, _ baseline: Baseline?) throws {
        let copy = try folder.copy(of: path, as: "large")
        let large = try WrittenRealm(copy, seed: 11)
        defer { large.database.close() }
        let count = large.database.current.snapshot.classTable(named: "Item")?.count ?? 0
        let figures = baseline?.figures(forObjects: count) ?? [:]
        let any = baseline?.allFigures ?? [:]
        report.begin("durable writes in process, \(count) objects", comparedWith: any.isEmpty ? "" : "reference")
        if isWanted("sync") {
            report.add(
                "write and sync of 4 KiB", .perSecond, try folder.syncsPerSecond(), comparedWith: any["rawFsync4kPerSecond"])
        }
        add("one object made per commit", comparedWith: "singleInsertTransactionsPerSecondDurable", of: figures, &report) {
            try large.make(1, perCommit: 1, commits: Self.commits)
        }
        add("one object made, 32 clients", comparedWith: nil, of: figures, &report) {
            try large.make(Self.clients, perCommit: 1, commits: Self.commits * 8)
        }
        add("batches of 1,000 made, objects", comparedWith: "batch1000ObjectsPerSecondDurable", of: figures, &report) {
            try large.make(1, perCommit: 1000, commits: 20) * 1000
        }
        add("one object changed per commit", comparedWith: "singleUpdateTransactionsPerSecondDurable", of: figures, &report) {
            try large.change(1, among: count, commits: Self.commits)
        }
        add("one object changed, 32 clients", comparedWith: nil, of: figures, &report) {
            try large.change(Self.clients, among: count, commits: Self.commits * 8)
        }
        let small = try WrittenRealm(emptyAt: "\(folder.path)/small.realm", seed: 12)
        defer { small.database.close() }
        _ = try small.make(1, perCommit: 1000, commits: 1)
        add(
            "one object made per commit, small file", comparedWith: "singleInsertTransactionsPerSecondDurableSmallFile", of: any,
            &report
        ) {
            try small.make(1, perCommit: 1, commits: Self.commits)
        }
        add("one object made, small file, 32 clients", comparedWith: nil, of: any, &report) {
            try small.make(Self.clients, perCommit: 1, commits: Self.commits * 8)
        }
        try growth(&report)
    }

    /// Measures how the file grows with very many updates of one object.
    private func growth(_ report: inout Report) throws {
        guard isWanted("updates of one object") else { return }
        let updates = 100_000
        let name = "\(folder.path)/growth.realm"
        let realm = try WrittenRealm(emptyAt: name, seed: 13)
        defer { realm.database.close() }
        _ = try realm.make(1, perCommit: 1000, commits: 1)
        let before = realm.byteCount
        // Sixteen clients share commits, so that the updates are some thousand commits.
        let rate = try realm.change(16, among: 1, commits: updates)
        let version = realm.database.current.snapshot.version
        report.add(
            "100,000 updates of one object", .perSecond, rate,
            note: "\(version) versions; file \(before) -> \(realm.byteCount) bytes")
    }

    /// Returns whether a measurement is selected by the options.
    private func isWanted(_ name: String) -> Bool { only.map { name.contains($0) } ?? true }

    /// Measures a rate: the median of some runs after one that warms up.
    ///
    /// - Parameters:
    ///   - figure: The name of the result to compare with; nil for none.
    ///   - figures: The results of the other engine.
    ///   - report: Receives the result, which is empty if a write fails.
    ///   - body: One run; returns a rate per second.
    private func add(
        _ name: String, comparedWith figure: String?, of figures: [String: Double], _ report: inout Report,
        _ body: () throws -> Double
    ) {
        guard isWanted(name) else { return }
        guard let rates = try? (0...Self.runs).map({ _ in try body() }).dropFirst() else {
            return report.add(name, .perSecond, nil)
        }
        report.add(
            name, .perSecond, median(rates), comparedWith: figure.flatMap { figures[$0] })
    }
}
