// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import RealmEngine
internal import RealmStorage

/// Durable writes in process, each answered when its commit is on the disk.
struct WriteBenchmarks {
    private static let clients = 32
    private static let runs = 5
    private static let commits = 200

    private let path: String
    private let folder: ScratchFolder
    private let only: String?

    init(_ path: String, _ folder: ScratchFolder, only: String?) {
        self.path = path
        self.folder = folder
        self.only = only
    }

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

    /// What the file takes after very many updates of one object.
    private func growth(_ report: inout Report) throws {
        guard isWanted("updates of one object") else { return }
        let updates = 100_000
        let name = "\(folder.path)/growth.realm"
        let realm = try WrittenRealm(emptyAt: name, seed: 13)
        defer { realm.database.close() }
        _ = try realm.make(1, perCommit: 1000, commits: 1)
        let before = realm.byteCount
        // As many at a time as come to some thousand commits.
        let rate = try realm.change(16, among: 1, commits: updates)
        let version = realm.database.current.snapshot.version
        report.add(
            "100,000 updates of one object", .perSecond, rate,
            note: "\(version) versions; file \(before) -> \(realm.byteCount) bytes")
    }

    private func isWanted(_ name: String) -> Bool { only.map { name.contains($0) } ?? true }

    /// The median of some runs after one that warms up.
    private func add(
        _ name: String, comparedWith figure: String?, of figures: [String: Double], _ report: inout Report,
        _ body: () throws -> Double
    ) {
        guard isWanted(name) else { return }
        guard let rates = try? (0...Self.runs).map({ _ in try body() }).dropFirst() else {
            return report.add(name, .perSecond, nil)
        }
        report.add(
            name, .perSecond, rates.sorted()[rates.count / 2], comparedWith: figure.flatMap { figures[$0] })
    }
}
