// SPDX-License-Identifier: Apache-2.0

package import RealmAccess
package import RealmEngine
package import RealmFormats
package import RealmPlatform
internal import RealmStorage

/// An import in several commits (`atomic=false`): each is begun when the one before is durable.
///
/// It keeps the memory of a transaction bounded, at the price that an error leaves the parts before
/// it in the file. Links to objects that come later in the input are written in the last commit.
///
/// A failed import is settled before its problem is reported: the objects before the wrong one are written again without it and
/// committed, and of the links that wait those whose targets exist. An object that is left without a link moves `committed`
/// before its line, so a client that sends the rest again can lose no link: the object either is updated (`mode=upsert`) or is an
/// error.
///
/// The chain is kept alive by the closures that it hands to the writer. After the first `run()` it works on the writer's
/// thread, except that a write which is refused at once completes on the caller's.
package final class ImportChain: Sendable {
    /// The size of the commits. Each rewrites the upper nodes of the trees, so many small ones make the file grow.
    package struct Parts: Sendable {
        /// The number of objects that the first commit has at most.
        var count: Int
        /// The seconds for which one commit keeps the writer before others get a turn; 0 for commits of `count` objects.
        var seconds: Double
        /// The seconds for which a commit reads on, because a rule may hold when later lines are written.
        var longestSeconds: Double

        /// Makes parts of the given size.
        package init(count: Int = 10_000, seconds: Double = 0.2, longestSeconds: Double = 30) {
            self.count = count
            self.seconds = seconds
            self.longestSeconds = longestSeconds
        }
    }

    /// The share of the memory of a write, `write-bytes`, after which a commit ends.
    private static let memoryShare = 4
    /// The seconds for which a failed import has at least to write the links that wait.
    private static let settlingSeconds = 30.0
    /// The number of objects with wrong links that a failed import passes over before it leaves the others unlinked, and of attempts
    /// to write a part again without the objects from a wrong one on.
    private static let passedOverCount = 16

    /// The realm that the objects are imported into.
    private let database: Database
    /// Whether objects that exist are refused or written into.
    private let mode: ImportRun.Mode
    /// The rights to write; nil for all.
    private let rights: (any WriteRights)?
    /// The principal of the sender, whose rights may change between two commits.
    private let standing: Standing
    /// The client whose share of the memory for uncommitted writes applies; nil for none.
    private let client: String?
    /// The record of the request for the audit log; nil for none.
    private let audit: AuditRecord?
    /// Whether members that a class does not have are ignored.
    private let isLenient: Bool
    private let parts: Parts
    /// Returns whether the server is stopping, so that the import ends while it can still be answered.
    private let isStopping: @Sendable () -> Bool
    /// Called once, with the counts or with the problem.
    private let completion: @Sendable (Result<Outcome, Problem>) -> Void
    /// The result of the commits so far. The lock orders the threads; it is not contended.
    private let progress: RankedMutex<Progress>

    /// The result of an import in several commits.
    package struct Outcome: Sendable {
        /// The number of objects that were created.
        package let created: Int
        /// The number of objects that existed and were written into.
        package let updated: Int
        package let ignored: IgnoredMembers
        /// The number of lines of which a value was not written, because another client had changed the property.
        package let overtaken: Int
        /// The text of the version token of the last commit.
        package let version: String

        package init(created: Int, updated: Int, ignored: IgnoredMembers, overtaken: Int, version: String) {
            self.created = created
            self.updated = updated
            self.ignored = ignored
            self.overtaken = overtaken
            self.version = version
        }
    }

    /// The state between two commits: everything before it is durable.
    private struct Progress: Sendable {
        /// The reader, at the first object that is not committed.
        var reader: ImportReader
        /// The state that the next commit takes over from earlier ones.
        var memory = ImportRun.Memory()
        /// The version of the last commit, if later writes of others affect the rights to the created objects.
        var version: Version?
        /// Whether the input is exhausted and all links are written.
        var isAtEnd = false
        /// The problem that ends the import; nil while it succeeds.
        var problem: Problem?
        /// The number of objects that come before the wrong one, in the part that is written again; nil when none is.
        var leftCount: Int?
        /// The time at which the chain aborts.
        var deadline: RealmPlatform.Instant
        /// The number of objects that were passed over because one of their links is wrong.
        var passedOver = 0
        /// The number of times that a part was written again with fewer objects. Rules may read other objects, so each may break
        /// without the next.
        var attempts = 0

        /// Prepares the next attempt after a part has failed. Returns false if nothing more can be written.
        mutating func settle(_ new: Problem, _ failure: ImportRun.Failure?) -> Bool {
            let isSettling = problem != nil && leftCount == nil
            // When a part fails for the second time, an earlier object may be wrong, unless it only waits for the lines that failed.
            if problem == nil || leftCount != nil && new.concernsRecord && failure?.isIncomplete != true { problem = new }
            guard !isSettling else {
                guard new.concernsRecord, let failure, failure.linked < memory.later.entries.count else { return false }
                passedOver += 1
                guard passedOver <= ImportChain.passedOverCount else { return false }
                memory.unlinked.append(memory.later.remove(at: failure.linked))
                return true
            }
            deadline = max(deadline, .now().adding(seconds: ImportChain.settlingSeconds))
            if new.concernsRecord, let failure, failure.objectCount > 0, failure.objectCount < leftCount ?? .max,
                attempts < ImportChain.passedOverCount
            {
                attempts += 1
                leftCount = failure.objectCount
                if let start = failure.start { reader.restart(at: start) }
            } else {
                leftCount = nil
            }
            return leftCount != nil || !memory.later.entries.isEmpty
        }

        /// Returns the problem with the committed state and the way to resume the import.
        func described(_ problem: Problem) -> Problem {
            let unlinked = memory.unlinked + memory.later.entries[memory.linked...].filter { !$0.properties.isEmpty }
            let count = Set(unlinked.map(\.object)).count
            var committed = memory.last.map { reader.lineCount(upTo: $0) } ?? 0
            var problem = problem
            problem.isPartial = memory.last != nil
            if let first = unlinked.map(\.place.line).min() {
                committed = min(committed, first - 1)
                problem.detail +=
                    "; \(count) committed \(count == 1 ? "object still lacks" : "objects still lack") links: "
                    + "import all lines behind 'committed' again with 'mode=upsert'"
                if memory.lastKeylessLine > committed {
                    problem.detail += ", but delete objects without a primary key before, as they would be created twice"
                }
                problem = problem.with("unlinked", .integer(Int64(count)))
            }
            if memory.overtaken > 0 { problem = problem.with("overtaken", .integer(Int64(memory.overtaken))) }
            if !memory.keys.isEmpty {
                problem.detail += "; another import does not find objects by the keys of this one, such as '@k5'"
            }
            return problem.with("committed", .integer(Int64(committed)))
        }
    }

    /// Prepares an import.
    ///
    /// - Parameters:
    ///   - database: The realm that is written to.
    ///   - mode: The handling of existing objects.
    ///   - reader: The reader, at the beginning of the input.
    ///   - rights: The rights to write; nil for all.
    ///   - standing: The principal of the sender.
    ///   - client: The client whose share of the memory for uncommitted writes applies; nil for none.
    ///   - deadline: The time at which the import aborts.
    ///   - audit: The record of the request for the audit log; nil for none.
    ///   - isLenient: Whether members that a class does not have are ignored.
    ///   - parts: The size of the commits.
    ///   - isStopping: Returns whether the server is stopping. The import then ends behind the part in progress.
    ///   - completion: Called once on the writer's thread, with the counts, or with the problem. Its member `committed` is the
    ///     number of lines whose objects are durable with all links; `unlinked` is the number of objects that lack some. It must
    ///     not wait.
    package init(
        _ database: Database, _ mode: ImportRun.Mode, _ reader: ImportReader, rights: (any WriteRights)? = nil,
        of standing: Standing, client: String? = nil, deadline: RealmPlatform.Instant, audit: AuditRecord? = nil,
        isLenient: Bool = false, parts: Parts = Parts(),
        isStopping: @escaping @Sendable () -> Bool = { false },
        completion: @escaping @Sendable (Result<Outcome, Problem>) -> Void
    ) {
        self.database = database
        self.mode = mode
        self.rights = rights
        self.standing = standing
        self.client = client
        self.audit = audit
        self.isLenient = isLenient
        self.parts = parts
        self.isStopping = isStopping
        self.completion = completion
        progress = RankedMutex(.leaf, Progress(reader: reader, deadline: deadline))
    }

    /// Hands the next part to the writer and returns at once.
    package func run() {
        let before = progress.withLock { $0 }
        let failure = RankedMutex<ImportRun.Failure?>(.leaf, nil)
        var request = WriteRequest(deadline: before.deadline, isAlone: true)
        request.client = client
        request.refusal = { [standing] in standing.problem }
        database.write(
            request,
            { [mode, rights, standing, audit, isLenient, parts] session -> Progress in
                try standing.require()
                var before = before
                if let rights {
                    if let version = before.version {
                        session.restrict(to: rights)
                        try before.memory.noteChanges(since: version, session)
                    }
                    before.version = nil
                    session.restrict(to: rights) { [memory = before.memory] in memory.isOwn($0) }
                }
                let run = ImportRun(session, mode, before.memory)
                run.audit = audit
                run.isLenient = isLenient
                run.isInParts = true
                let keys = audit?.keys
                var after: Progress
                do throws(Problem) {
                    after = try ImportChain.write(parts, with: run, after: before, byteLimit: session.byteLimit)
                    try ImportChain.check(&after, parts, with: run, after: before, byteLimit: session.byteLimit)
                } catch {
                    failure.withLock { $0 = run.failure(error) }
                    if let keys { audit?.keys = keys }
                    throw error
                }
                // A part may take long too.
                try standing.require()
                return after
            },
            completion: { (result: Result<WriteReceipt<Progress>, WriteError>) in
                self.finished(result, failure.withLock { $0 })
            })
    }

    /// Writes one part.
    ///
    /// - Parameters:
    ///   - run: The run of its transaction.
    ///   - before: The result of earlier parts.
    ///   - byteLimit: The memory in bytes that the transaction may take.
    private static func write(
        _ parts: Parts, with run: ImportRun, after before: Progress, byteLimit: Int
    ) throws(Problem) -> Progress {
        var after = before
        var pause = ImportRun.Pause()
        pause.byteCount = byteLimit / memoryShare + before.memory.byteCount
        if let count = before.leftCount {
            pause.count = count
        } else {
            if before.memory.last == nil { pause.count = parts.count }
            pause.leastCount = parts.seconds > 0 ? 1 : parts.count
            pause.time = .now().adding(seconds: parts.seconds)
        }
        if before.problem != nil, before.leftCount == nil {
            after.isAtEnd = try !run.link(after.reader, until: pause, leavesMissing: true)
        } else {
            after.isAtEnd = try !run.run(&after.reader, until: pause)
        }
        after.leftCount = nil
        after.memory = run.memory
        return after
    }

    /// Checks the result of a part.
    ///
    /// A rule about links may break as long as values wait. Values that can be linked are linked then, and the part continues to
    /// read for a while: a commit may break no rule.
    private static func check(
        _ after: inout Progress, _ parts: Parts, with run: ImportRun, after before: Progress, byteLimit: Int
    ) throws(Problem) {
        let end = RealmPlatform.Instant.now().adding(seconds: parts.longestSeconds)
        var pause = ImportRun.Pause()
        (pause.count, pause.byteCount) = (parts.count, byteLimit)
        while true {
            do throws(Problem) {
                return try run.checkResults()
            } catch {
                guard run.needsMore, RealmPlatform.Instant.now() < end else { throw error }
                if try !run.linkReachable(after.reader) {
                    let count = run.writtenCount
                    guard before.problem == nil, !after.isAtEnd else { throw error }
                    after.isAtEnd = try !run.run(&after.reader, until: pause)
                    guard after.isAtEnd || run.writtenCount > count else { throw error }
                    // The whole part is checked again, so it grows by as much as it has.
                    pause.count *= 2
                }
                after.memory = run.memory
            }
        }
    }

    /// Records the result of a commit and begins the next one, or completes the import.
    private func finished(_ result: Result<WriteReceipt<Progress>, WriteError>, _ failure: ImportRun.Failure?) {
        switch result {
        case .failure(let error) where error.code == .realmUnavailable && database.losesCommits:
            let detail = "the realm was deleted or replaced during the import; import all lines again if it is there"
            completion(.failure(Problem(.realmNotFound, detail)))
        case .failure(let error):
            let problem = Problem(importing: error)
            var after = progress.withLock { $0 }
            guard after.settle(problem, failure) else {
                return completion(.failure(after.described(after.problem ?? problem)))
            }
            proceed(after)
        case .success(let receipt):
            var after = receipt.value
            if rights != nil { after.version = receipt.version }
            guard after.isAtEnd || after.problem != nil && after.memory.later.entries.isEmpty else { return proceed(after) }
            if let problem = after.problem { return completion(.failure(after.described(problem))) }
            completion(
                .success(
                    Outcome(
                        created: after.memory.created, updated: after.memory.updated, ignored: after.memory.ignored,
                        overtaken: after.memory.overtaken, version: receipt.version.tokenText)))
        }
    }

    /// Writes the next part, unless the server is stopping.
    private func proceed(_ after: Progress) {
        guard !isStopping() else {
            let problem = after.problem ?? Problem(.shuttingDown, "the server is shutting down")
            return completion(.failure(after.described(problem)))
        }
        let before = progress.withLock { progress in
            defer { progress = after }
            return progress
        }
        // The reader that it may be the last to refer to is not released under the lock.
        withExtendedLifetime(before) {}
        run()
    }
}

extension Problem {
    /// Whether something is wrong with a record of an import, rather than with the import as a whole or the state of the server.
    fileprivate var concernsRecord: Bool {
        (400..<500).contains(status) && status != 429 && !has("limitName") && (line != nil || code == .invalidBody)
    }

    /// Makes the problem of an import that failed.
    init(importing error: WriteError) { self = Problem(error).ofImport(inParts: true) }

    /// Returns the problem as one of an import: `body_too_large` when one commit would take too much memory.
    ///
    /// - Parameter inParts: Whether the import is committed in parts.
    package func ofImport(inParts: Bool = false) -> Problem {
        guard code == .tooManyAffected, has("limitName") else { return self }
        var problem = Problem(
            .bodyTooLarge,
            inParts
                ? "pending data of the import, such as links to later lines, takes too much memory; "
                    + "write objects before those that link to them"
                : "the import takes too much memory for one commit; 'atomic=false' commits it in parts")
        problem.extensions = extensions
        return problem
    }
}
