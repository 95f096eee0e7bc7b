// SPDX-License-Identifier: Apache-2.0

internal import RealmEngine
internal import RealmStorage

/// An import in several commits: each is begun when the one before is durable.
///
/// Links to objects that come later are made in the last one.
final class ImportChain: Sendable {
    /// Objects in one commit.
    static let chunkCount = 10_000

    private let database: Database
    private let mode: ImportRun.Mode
    private let deadline: RealmStorage.Instant
    private let completion: @Sendable (Result<Outcome, Problem>) -> Void
    private let progress: RankedMutex<Progress>

    /// What became of an import in several commits.
    struct Outcome: Sendable {
        let created: Int
        let updated: Int
        let version: String
    }

    /// What is durable, and where to go on. `memory.line` is the line of the last object; 0 for none.
    private struct Progress: Sendable {
        var reader: ImportReader
        var memory = ImportRun.Memory()
        var isAtEnd = false
    }

    init(
        _ database: Database, _ mode: ImportRun.Mode, _ reader: ImportReader, deadline: RealmStorage.Instant,
        completion: @escaping @Sendable (Result<Outcome, Problem>) -> Void
    ) {
        self.database = database
        self.mode = mode
        self.deadline = deadline
        self.completion = completion
        progress = RankedMutex(.leaf, Progress(reader: reader))
    }

    /// Writes the next part.
    func run() {
        let before = progress.withLock { $0 }
        database.write(
            WriteRequest(deadline: deadline),
            { [mode] session -> Progress in
                var after = before
                let run = ImportRun(session, mode, before.memory)
                after.isAtEnd = try !run.run(&after.reader, count: ImportChain.chunkCount)
                after.memory = run.memory
                return after
            }, completion: { (result: Result<WriteReceipt<Progress>, WriteError>) in self.finished(result) })
    }

    private func finished(_ result: Result<WriteReceipt<Progress>, WriteError>) {
        switch result {
        case .failure(let error):
            let committed = progress.withLock { $0.memory.line }
            completion(.failure(Problem(error).with("committed", .integer(Int64(committed)))))
        case .success(let receipt):
            let memory = receipt.value.memory
            guard receipt.value.isAtEnd else {
                let before = progress.withLock { progress in
                    defer { progress = receipt.value }
                    return progress
                }
                withExtendedLifetime(before) {}
                return run()
            }
            completion(.success(Outcome(created: memory.created, updated: memory.updated, version: receipt.version.tokenText)))
        }
    }
}
