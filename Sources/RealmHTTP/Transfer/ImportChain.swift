// SPDX-License-Identifier: Apache-2.0

internal import RealmEngine
internal import RealmFormats
internal import RealmPlatform
internal import RealmStorage

/// An import in several commits (`atomic=false`): each is begun when the one before is durable.
///
/// It keeps the memory of a transaction bounded, at the price that an error leaves the parts before
/// it in the file. Links to objects that come later in the input are written in the last commit.
///
/// The chain is kept alive by the closures that it hands to the writer. After the first `run()` it
/// works on the writer's thread, except that a write which is refused at once completes on the
/// caller's.
final class ImportChain: Sendable {
    /// The number of objects in the first commit. Those after it have as many at least, and more while their time lasts: each
    /// commit writes the upper nodes of the trees anew, so many small ones make the file grow.
    static let firstCount = 10_000
    /// The seconds for which one commit goes on to hold the writer before others have a turn.
    private static let seconds = 0.2
    /// The share of the memory of a write, `write-bytes`, after which a commit ends.
    private static let memoryShare = 4

    /// The realm that the objects are imported into.
    private let database: Database
    /// Whether objects that exist are refused or written into.
    private let mode: ImportRun.Mode
    /// What the sender may write; nil for everything.
    private let rights: (any WriteRights)?
    /// Who sends it, whose rights may change between two commits.
    private let standing: Standing
    /// The client whose share of the memory for uncommitted writes applies; nil for none.
    private let client: String?
    /// The time at which the whole import gives up.
    private let deadline: RealmPlatform.Instant
    /// The record of the request for the audit log; nil for none.
    private let audit: AuditRecord?
    /// Whether members that a class does not have are ignored.
    private let isLenient: Bool
    /// Called once, with the counts or with the problem.
    private let completion: @Sendable (Result<Outcome, Problem>) -> Void
    /// What the commits so far achieved. The lock orders the threads; it is not contended.
    private let progress: RankedMutex<Progress>

    /// The result of an import in several commits.
    struct Outcome: Sendable {
        /// The number of objects that were created.
        let created: Int
        /// The number of objects that existed and were written into.
        let updated: Int
        /// The members that were ignored.
        let ignored: IgnoredMembers
        /// The text of the version token of the last commit.
        let version: String
    }

    /// The state between two commits: everything before it is durable.
    private struct Progress: Sendable {
        /// The reader, at the first object that is not committed.
        var reader: ImportReader
        /// What the next commit must know of those before. Its `line` is that of the last committed
        /// object, or 0.
        var memory = ImportRun.Memory()
        /// Whether the input is exhausted and all links are written.
        var isAtEnd = false
    }

    /// Prepares an import.
    ///
    /// - Parameters:
    ///   - database: The realm that is written to.
    ///   - mode: What is done with objects that exist.
    ///   - reader: The reader, at the beginning of the input.
    ///   - rights: What the sender may write; nil for everything.
    ///   - standing: Who sends it.
    ///   - client: The client whose share of the memory for uncommitted writes applies; nil for none.
    ///   - deadline: The time at which the import gives up.
    ///   - audit: The record of the request for the audit log; nil for none.
    ///   - isLenient: Whether members that a class does not have are ignored.
    ///   - completion: Called once on the writer's thread, with the counts, or with the problem and
    ///     its member `committed`, the line of the last object that is durable. It must not wait.
    init(
        _ database: Database, _ mode: ImportRun.Mode, _ reader: ImportReader, rights: (any WriteRights)? = nil,
        of standing: Standing, client: String? = nil, deadline: RealmPlatform.Instant, audit: AuditRecord? = nil,
        isLenient: Bool = false,
        completion: @escaping @Sendable (Result<Outcome, Problem>) -> Void
    ) {
        self.database = database
        self.mode = mode
        self.rights = rights
        self.standing = standing
        self.client = client
        self.deadline = deadline
        self.audit = audit
        self.isLenient = isLenient
        self.completion = completion
        progress = RankedMutex(.leaf, Progress(reader: reader))
    }

    /// Hands the next part to the writer and returns at once.
    func run() {
        let before = progress.withLock { $0 }
        var request = WriteRequest(deadline: deadline, isAlone: true)
        request.client = client
        request.refusal = { [standing] in standing.problem }
        database.write(
            request,
            { [mode, rights, standing, audit, isLenient] session -> Progress in
                try standing.require()
                var after = before
                if let rights { session.restrict(to: rights) }
                let run = ImportRun(session, mode, before.memory)
                run.audit = audit
                run.isLenient = isLenient
                var pause = ImportRun.Pause()
                pause.byteCount = session.byteLimit / ImportChain.memoryShare + before.memory.byteCount
                if before.memory.line == 0 {
                    pause.count = ImportChain.firstCount
                } else {
                    pause.leastCount = ImportChain.firstCount
                    pause.time = .now().adding(seconds: ImportChain.seconds)
                }
                after.isAtEnd = try !run.run(&after.reader, until: pause)
                after.memory = run.memory
                try session.checkResults()
                // A part may take long too.
                try standing.require()
                return after
            }, completion: { (result: Result<WriteReceipt<Progress>, WriteError>) in self.finished(result) })
    }

    /// Notes what a commit achieved and begins the next one, or completes the import.
    private func finished(_ result: Result<WriteReceipt<Progress>, WriteError>) {
        switch result {
        case .failure(let error):
            let committed = progress.withLock { $0.memory.line }
            completion(.failure(Problem(importing: error).with("committed", .integer(Int64(committed)))))
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
            completion(
                .success(
                    Outcome(
                        created: memory.created, updated: memory.updated, ignored: memory.ignored,
                        version: receipt.version.tokenText)))
        }
    }
}

extension Problem {
    /// Makes the problem of an import that failed.
    init(importing error: WriteError) { self = Problem(error).ofImport(inParts: true) }

    /// Returns the problem as one of an import: `body_too_large` when one commit would take too much memory.
    ///
    /// - Parameter inParts: Whether the import is committed in parts.
    func ofImport(inParts: Bool = false) -> Problem {
        guard code == .tooManyAffected, has("limitName") else { return self }
        var problem = Problem(
            .bodyTooLarge,
            inParts
                ? "what the import has to remember, such as links to later lines, takes too much memory; "
                    + "write objects before those that link to them"
                : "the import takes too much memory for one commit; 'atomic=false' commits it in parts")
        problem.extensions = extensions
        return problem
    }
}
