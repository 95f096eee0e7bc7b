// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import RealmEngine
internal import RealmStorage

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
