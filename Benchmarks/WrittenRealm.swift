// SPDX-License-Identifier: Apache-2.0

internal import RealmEngine
internal import RealmPlatform
internal import RealmStorage

/// A realm with the class `Item`, and simulated clients that write to it.
///
/// `@unchecked Sendable`: `rows`, `random` and `nextID` are used by one thread at a time, guarded by the monitor of a run.
final class WrittenRealm: @unchecked Sendable {
    /// The open database.
    let database: Database
    /// The path of its file.
    private let path: String
    /// Generates the values of new objects.
    private var rows: ItemRows
    /// The primary key of the last new object.
    private var nextID = 2_000_000_000
    /// Generates the choices of objects and values for changes.
    private var random: SplitMix

    /// Opens a file for writing.
    ///
    /// - Parameters:
    ///   - seed: Determines the values and keys of new objects; different for each use of the
    ///     same file.
    ///   - createsFile: Whether an empty file is made if there is none.
    /// - Throws: `StorageError` when the file cannot be opened for writing.
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

    /// Uses a database that is already open, such as that of a server.
    ///
    /// - Parameters:
    ///   - seed: Determines the values and keys of new objects.
    init(_ database: Database, seed: UInt64) throws {
        self.database = database
        path = database.path
        rows = ItemRows(seed)
        random = SplitMix(seed)
        nextID += Int(seed) << 20
    }

    /// Makes a new file with the class `Item`.
    ///
    /// - Parameters:
    ///   - path: The file.
    ///   - seed: Determines the values and keys of new objects.
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

    /// The primary key of the next object; those that follow count up.
    var firstID: Int { nextID + 1 }

    /// The length of the file in bytes.
    var byteCount: Int { NodeStatus(at: path)?.byteCount ?? 0 }

    /// The state of a run of several clients.
    private struct Progress {
        /// The number of writes that no client has begun.
        var left: Int
        /// The number of clients that have not ended.
        var running: Int
        /// The reason of the first error of a write; nil if all succeeded.
        var failure: String?

        /// Counts a client as ended, and keeps the reason if its write failed.
        ///
        /// - Parameter result: The result of its last write.
        mutating func end<Value>(_ result: Result<Value, WriteError>) {
            running -= 1
            if case .failure(let error) = result { failure = error.detail }
        }
    }

    /// Waits until all clients of a run have ended; throws `BenchmarkError` if a write failed.
    private static func finish(_ run: Monitor<Progress>) throws {
        let failure = run.wait { $0.running == 0 ? .some($0.failure) : nil } ?? nil
        if let failure { throw BenchmarkError.unsuitable("a write failed: \(failure)") }
    }

    // MARK: - Rates per second

    /// Measures the creation of objects. Each client waits for its commit before the next one.
    ///
    /// - Parameters:
    ///   - perCommit: The number of objects in each write.
    ///   - commits: The number of writes of all clients together.
    /// - Returns: The number of writes per second.
    func make(_ clients: Int, perCommit: Int, commits: Int) throws -> Double {
        try rate(clients, commits) { realm in
            let inputs = (0..<perCommit).map { _ -> InputObject in
                realm.nextID += 1
                return realm.rows.input(id: realm.nextID)
            }
            return { session in
                var failed: Int?
                if try session.createTogether("Item", inputs, failed: &failed) != nil { return }
                for input in inputs { _ = try session.create("Item", input) }
            }
        }
    }

    /// Measures changes of the score of one object in each write.
    ///
    /// - Parameters:
    ///   - count: The number of objects to choose from; 1 for the object that was created last.
    ///   - commits: The number of writes of all clients together.
    /// - Returns: The number of writes per second.
    func change(_ clients: Int, among count: Int, commits: Int) throws -> Double {
        // The objects of a measured file have keys from 0, and those that are made here have
        // far greater ones.
        let first = count > 1 ? 0 : nextID
        return try rate(clients, commits) { realm in
            let id = first + Int(realm.random.next() % UInt64(count))
            let body: InputObject = ["score": .real(Double(realm.random.next() >> 11) / 1e12)]
            return { session in _ = try session.patch(try session.require(.primaryKey(.integer(Int64(id))), class: "Item"), body)
            }
        }
    }

    /// The operations of one write.
    private typealias Body = @Sendable (WriteSession) throws -> Void

    // MARK: - Single writes

    /// Creates one object, and waits for the commit.
    ///
    /// - Parameter age: The age of the object.
    /// - Returns: The monotonic time of the response in nanoseconds.
    func makeOne(age: Int64) throws -> UInt64 {
        nextID += 1
        let input = rows.input(id: nextID, age: age)
        return try answerTime { session in _ = try session.create("Item", input) }
    }

    /// Changes the score of an object, and waits for the commit.
    ///
    /// - Parameter id: The primary key of the object.
    /// - Returns: The monotonic time of the response in nanoseconds.
    func setScore(of id: Int64) throws -> UInt64 {
        let body: InputObject = ["score": .real(Double(random.next() >> 11) / 1e12)]
        return try answerTime { session in
            _ = try session.patch(try session.require(.primaryKey(.integer(id)), class: "Item"), body)
        }
    }

    /// Runs one write, and returns the monotonic time in nanoseconds at which the waiting thread continues.
    private func answerTime(_ body: @escaping Body) throws -> UInt64 {
        let run = Monitor(Progress(left: 0, running: 1))
        database.write(WriteRequest(deadline: .now().adding(seconds: 60)), body) { result in run.broadcast { $0.end(result) } }
        try WrittenRealm.finish(run)
        return Harness.now()
    }

    /// Runs clients that write until the given number of writes is done, and returns the writes per second.
    ///
    /// - Parameters:
    ///   - commits: The number of writes of all clients together.
    ///   - body: Makes the operations of the next write.
    private func rate(_ clients: Int, _ commits: Int, _ body: @escaping (WrittenRealm) -> Body) throws -> Double {
        let run = Monitor(Progress(left: commits, running: clients))
        let makesNext = Next { [self] in body(self) }
        let begin = Harness.now()
        for _ in 0..<clients { submit(run, makesNext) }
        try WrittenRealm.finish(run)
        return Double(commits) / (Double(Harness.now() - begin) / 1e9)
    }

    /// Makes the operations of the next write. `@unchecked Sendable`: it is called under the lock of a run only.
    private final class Next: @unchecked Sendable {
        /// Makes the operations of the next write.
        let make: () -> Body

        /// Wraps a closure that makes the operations of the next write.
        init(_ make: @escaping () -> Body) { self.make = make }
    }

    /// Submits the next write of a client; its completion submits the one after it.
    ///
    /// - Parameters:
    ///   - run: The state of the run.
    ///   - next: Makes the operations of the next write.
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
