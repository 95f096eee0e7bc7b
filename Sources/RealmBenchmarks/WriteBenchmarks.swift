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
        add("one object made per commit", "singleInsertTransactionsPerSecondDurable", figures, &report) {
            try large.make(1, perCommit: 1, commits: Self.commits)
        }
        add("one object made, 32 clients", nil, figures, &report) {
            try large.make(Self.clients, perCommit: 1, commits: Self.commits * 8)
        }
        add("batches of 1,000 made, objects", "batch1000ObjectsPerSecondDurable", figures, &report) {
            try large.make(1, perCommit: 1000, commits: 20) * 1000
        }
        add("one object changed per commit", "singleUpdateTransactionsPerSecondDurable", figures, &report) {
            try large.change(1, among: count, commits: Self.commits)
        }
        add("one object changed, 32 clients", nil, figures, &report) {
            try large.change(Self.clients, among: count, commits: Self.commits * 8)
        }
        let small = try WrittenRealm(emptyAt: "\(folder.path)/small.realm", seed: 12)
        defer { small.database.close() }
        _ = try small.make(1, perCommit: 1000, commits: 1)
        add("one object made per commit, small file", "singleInsertTransactionsPerSecondDurableSmallFile", any, &report) {
            try small.make(1, perCommit: 1, commits: Self.commits)
        }
        add("one object made, small file, 32 clients", nil, any, &report) {
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
        _ name: String, _ figure: String?, _ figures: [String: Double], _ report: inout Report, _ body: () throws -> Double
    ) {
        guard isWanted(name) else { return }
        guard let rates = try? (0...Self.runs).map({ _ in try body() }).dropFirst() else {
            return report.add(name, .perSecond, nil)
        }
        report.add(
            name, .perSecond, rates.sorted()[rates.count / 2], comparedWith: figure.flatMap { figures[$0] })
    }
}

/// A realm with the class `Item` and clients that write to it.
///
/// `@unchecked Sendable`: `rows` and `nextID` are used by one thread at a time, guarded by the monitor of a run.
final class WrittenRealm: @unchecked Sendable {
    let database: Database
    private let path: String
    private var rows: ItemRows
    private var nextID = 2_000_000_000
    private var random: SplitMix

    init(_ path: String, seed: UInt64, createsFile: Bool = false) throws {
        guard let name = RealmName(file: path) else { throw BenchmarkError.unsuitable("no name for \(path)") }
        var options = Database.OpenOptions(mode: .readWrite)
        options.createsMissingFile = createsFile
        database = try Database.open(name: name, path: path, options)
        self.path = path
        rows = ItemRows(seed)
        random = SplitMix(seed)
        nextID += Int(seed) << 20
    }

    /// One that somebody else has opened.
    init(_ database: Database, seed: UInt64) throws {
        self.database = database
        path = database.path
        rows = ItemRows(seed)
        random = SplitMix(seed)
        nextID += Int(seed) << 20
    }

    convenience init(emptyAt path: String, seed: UInt64) throws {
        try self.init(path, seed: seed, createsFile: true)
        let run = Monitor(Progress(left: 0, running: 1))
        database.write(
            WriteRequest(deadline: .now().adding(seconds: 60)),
            { session in
                try session.createSchema(ItemRows.schema)
            }, completion: { result in run.broadcast { $0.end(result) } })
        try WrittenRealm.finish(run)
    }

    var byteCount: Int {
        var info = stat()
        return unsafe stat(path, &info) == 0 ? Int(info.st_size) : 0
    }

    private struct Progress {
        /// Writes nobody has begun.
        var left: Int
        /// Clients that have not ended.
        var running: Int
        var failure: String?

        mutating func end<Value>(_ result: Result<Value, WriteError>) {
            running -= 1
            if case .failure(let error) = result { failure = error.detail }
        }
    }

    private static func finish(_ run: Monitor<Progress>) throws {
        let failure = run.wait { $0.running == 0 ? .some($0.failure) : nil } ?? nil
        if let failure { throw BenchmarkError.unsuitable("a write failed: \(failure)") }
    }

    // MARK: - Rates per second

    /// `clients` make `commits` times `perCommit` objects; each waits for its commit before it goes on.
    func make(_ clients: Int, perCommit: Int, commits: Int) throws -> Double {
        try rate(clients, commits) { realm in
            let inputs = (0..<perCommit).map { _ -> InputObject in
                realm.nextID += 1
                return realm.rows.input(id: realm.nextID)
            }
            return { session in for input in inputs { _ = try session.create("Item", input) } }
        }
    }

    /// `clients` change the score of one of the first `count` objects at a time.
    func change(_ clients: Int, among count: Int, commits: Int) throws -> Double {
        // Objects of a measured file are numbered from 0, those made here from far above.
        let first = count > 1 ? 0 : nextID
        return try rate(clients, commits) { realm in
            let id = first + Int(realm.random.next() % UInt64(count))
            let body: InputObject = ["score": .real(Double(realm.random.next() >> 11) / 1e12)]
            return { session in _ = try session.patch(try session.require(.primaryKey(.integer(Int64(id))), class: "Item"), body)
            }
        }
    }

    private typealias Body = @Sendable (WriteSession) throws -> Void

    // MARK: - Single writes

    /// Makes one object; the monotonic time of the answer in nanoseconds.
    func makeOne(age: Int64) throws -> UInt64 {
        nextID += 1
        let input = rows.input(id: nextID, age: age)
        return try answerTime { session in _ = try session.create("Item", input) }
    }

    /// Changes a property of an object that was in the file.
    func setScore(of id: Int64) throws -> UInt64 {
        let body: InputObject = ["score": .real(Double(random.next() >> 11) / 1e12)]
        return try answerTime { session in
            _ = try session.patch(try session.require(.primaryKey(.integer(id)), class: "Item"), body)
        }
    }

    /// As soon as whoever waits for the answer goes on.
    private func answerTime(_ body: @escaping Body) throws -> UInt64 {
        let run = Monitor(Progress(left: 0, running: 1))
        database.write(WriteRequest(deadline: .now().adding(seconds: 60)), body) { result in run.broadcast { $0.end(result) } }
        try WrittenRealm.finish(run)
        return Harness.now()
    }

    private func rate(_ clients: Int, _ commits: Int, _ body: @escaping (WrittenRealm) -> Body) throws -> Double {
        let run = Monitor(Progress(left: commits, running: clients))
        let makesNext = Next { [self] in body(self) }
        let begin = Harness.now()
        for _ in 0..<clients { submit(run, makesNext) }
        try WrittenRealm.finish(run)
        return Double(commits) / (Double(Harness.now() - begin) / 1e9)
    }

    /// `@unchecked Sendable`: called under the lock of a run only.
    private final class Next: @unchecked Sendable {
        let make: () -> Body

        init(_ make: @escaping () -> Body) { self.make = make }
    }

    private func submit(_ run: Monitor<Progress>, _ next: Next) {
        let body = run.withLock { progress -> Body? in
            guard progress.left > 0, progress.failure == nil else { return nil }
            progress.left -= 1
            return next.make()
        }
        guard let body else { return run.broadcast { $0.running -= 1 } }
        database.write(WriteRequest(deadline: .now().adding(seconds: 60)), body) { [self] result in
            switch result {
            case .success: submit(run, next)
            case .failure: run.broadcast { $0.end(result) }
            }
        }
    }
}
