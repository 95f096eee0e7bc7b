// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform
internal import RealmStorage

/// Makes the proofs of all indexes of a version, one after another, by the thread that needs them
/// and in large files by a second one, which begins while the first does something else.
///
/// No proof depends on another one, so the results are the same whichever thread makes them.
final class IndexProver: Sendable {
    /// A column of the version.
    struct Place: Hashable {
        /// The table of the column.
        let table: TableKey
        /// The leaf index of the column.
        let column: Int
    }

    private struct Job {
        /// The table of the column.
        let table: Table
        let column: Column
        /// The keys under which objects are filed.
        let form: IndexForm
        /// The keys of the objects.
        let keys: VerifiedKeys
    }

    private struct Progress {
        /// The first job that no thread has taken.
        var next = 0
        /// The number of running jobs.
        var running = 0
        /// The proofs so far.
        var results: [Place: IndexProof.Result] = [:]
    }

    /// The version, which must live as long as a thread reads it.
    private let snapshot: Snapshot
    private let jobs: [Job]
    /// The hash of data.
    private let hash: ProofHash
    /// Can cancel the work, so that nothing more is proved; nil for none.
    private let control: WorkControl?
    private let progress = Monitor(Progress())

    /// The number of objects from which a second thread is worth its start.
    static let manyObjects = 50_000

    /// Collects the indexes; nothing is proved yet.
    ///
    /// - Parameters:
    ///   - snapshot: The version.
    ///   - keys: The keys of the objects of each table.
    ///   - hash: The hash of data.
    ///   - control: Can cancel the work; nil for none.
    init(_ snapshot: Snapshot, keys: [TableKey: VerifiedKeys], _ hash: ProofHash, _ control: WorkControl? = nil) {
        self.control = control
        self.snapshot = snapshot
        self.hash = hash
        jobs = snapshot.tables.flatMap { table in
            table.columns.compactMap { column in
                guard column.hasSearchIndex, let form = IndexForm(of: column) else { return nil }
                return keys[table.key].map { Job(table: table, column: column, form: form, keys: $0) }
            }
        }
    }

    /// The tables for which it may be proved that no two objects have the same primary key.
    var candidates: Set<TableKey> {
        Set(jobs.filter { $0.column.leafIndex == $0.table.primaryKey?.leafIndex }.map(\.table.key))
    }

    /// Begins to work in a second thread, if the file is large and there is a processor for it.
    ///
    /// - Parameter least: The number of objects that makes a file large.
    func startThread(ifObjects least: Int = IndexProver.manyObjects) {
        guard jobs.reduce(0, { $0 + $1.keys.count }) >= least, Threads.processorCount > 1 else { return }
        // Without a thread, `finish` does all of the work.
        try? Threads.start("verify") { [self] in work() }
    }

    /// Does what is left of the work, waits for the other thread, and returns all proofs.
    ///
    /// - Complexity: O(size of the indexes and their columns), with a byte of memory for each object
    ///   of a class and thread.
    func finish() -> IndexProofs {
        work()
        let results = progress.wait { [jobs] progress in
            progress.next == jobs.count && progress.running == 0 ? progress.results : nil
        }
        return IndexProofs(results ?? [:])
    }

    /// Makes proofs until none is left.
    private func work() {
        while let job = dequeue() {
            let result = IndexProof(job.table, job.column, job.form, keys: job.keys, hash: hash, control).run()
            progress.broadcast { progress in
                progress.running -= 1
                progress.results[Place(table: job.table.key, column: job.column.leafIndex)] = result
            }
        }
    }

    /// Takes the next job; nil when none is left.
    private func dequeue() -> Job? {
        progress.withLock { progress in
            guard progress.next < jobs.count else { return nil }
            progress.next += 1
            progress.running += 1
            return jobs[progress.next - 1]
        }
    }
}
