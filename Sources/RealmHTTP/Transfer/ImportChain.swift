// SPDX-License-Identifier: Apache-2.0

internal import RealmEngine
internal import RealmStorage
internal import Synchronization

/// An import in several commits: each is begun when the one before is durable.
///
/// Links are made as soon as the objects they lead to are there, at the latest in the end.
final class ImportChain: Sendable {
    /// Objects in one commit.
    static let chunkCount = 10_000

    private let database: Database
    private let mode: ImportRun.Mode
    private let contents: ImportContents
    private let deadline: RealmStorage.Instant
    private let completion: @Sendable (Result<Outcome, Problem>) -> Void
    private let progress = Mutex(Progress())

    struct Outcome: Sendable {
        let created: Int
        let updated: Int
        let version: String
    }

    private struct Progress {
        var next = 0
        /// The line of the last object that is durable; 0 for none.
        var committed = 0
        var created = 0
        var updated = 0
        var memory = ImportRun.Memory()
    }

    init(
        _ database: Database, _ mode: ImportRun.Mode, _ contents: ImportContents, deadline: RealmStorage.Instant,
        completion: @escaping @Sendable (Result<Outcome, Problem>) -> Void
    ) {
        self.database = database
        self.mode = mode
        self.contents = contents
        self.deadline = deadline
        self.completion = completion
    }

    /// Writes the next part.
    func run() {
        let (start, memory) = progress.withLock { ($0.next, $0.memory) }
        let end = min(start + ImportChain.chunkCount, contents.objects.count)
        let isLast = end == contents.objects.count
        let part = ImportContents(
            schema: start == 0 ? contents.schema : nil, objects: Array(contents.objects[start..<end]))
        database.write(WriteRequest(deadline: deadline), { [mode] session -> ImportRun.Memory in
            let run = ImportRun(session, mode, memory)
            try run.run(part, isLast: isLast)
            return run.memory
        }, completion: { (result: Result<WriteReceipt<ImportRun.Memory>, WriteError>) in
            self.finished(result, end, isLast)
        })
    }

    private func finished(_ result: Result<WriteReceipt<ImportRun.Memory>, WriteError>, _ end: Int, _ isLast: Bool) {
        switch result {
        case .failure(let error):
            let committed = progress.withLock { $0.committed }
            completion(.failure(Problem(error).with("committed", .integer(Int64(committed)))))
        case .success(let receipt):
            let memory = receipt.value
            progress.withLock { progress in
                progress.next = end
                progress.committed = end > 0 ? contents.objects[end - 1].line : 0
                progress.memory = memory
            }
            guard isLast else { return run() }
            completion(.success(Outcome(created: memory.created, updated: memory.updated, version: receipt.version.tokenText)))
        }
    }
}
