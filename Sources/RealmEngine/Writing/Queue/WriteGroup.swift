// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform
internal import RealmStorage

/// Writes that share one transaction and one durable commit; each is atomic by its own savepoint.
///
/// A commit costs two syncs of the file, whatever it contains. Under load the writes that arrive during one commit form the group
/// of the next one, so the number of syncs does not grow with the number of clients. Writes that arrive while the first ones are
/// being applied may join them.
struct WriteGroup {
    /// The writes in the order in which they arrived.
    private let jobs: [WriteJob]
    /// The database.
    private let writer: any WriteBackend
    /// The limits for the size of a group.
    private let limits: WriteLimits
    /// Returns writes that join so many others in the group.
    private let joining: (Int) -> [WriteJob]
    /// The share of the group's transaction in the memory for uncommitted writes.
    private let holding: WriteMemory.Holding

    /// Makes a group.
    ///
    /// - Parameters:
    ///   - jobs: The writes in the order in which they arrived.
    ///   - writer: The database.
    ///   - limits: The limits for the size of a group.
    ///   - joining: Returns writes that join so many others in the group; it is called until it returns none.
    init(
        _ jobs: [WriteJob], _ writer: any WriteBackend, _ limits: WriteLimits, joining: @escaping (Int) -> [WriteJob]
    ) {
        self.jobs = jobs
        self.writer = writer
        self.limits = limits
        self.joining = joining
        holding = WriteMemory.Holding(limits.memory)
    }

    /// Runs the writes, commits them together and completes them.
    ///
    /// - Returns: The writes for which the group had no room; they have not begun.
    func run() -> [WriteJob] {
        var waiting = jobs.filter { !$0.isCancelled }
        guard !waiting.isEmpty else { return [] }
        let transaction: WriteTransaction
        do throws(WriteError) {
            transaction = try writer.beginWrite()
        } catch {
            for job in waiting { job.refuse(error) }
            return []
        }
        defer {
            transaction.end()
            holding.release()
            writer.didEndWrite()
        }
        var applied: [WriteJob] = []
        var ended: [Ended] = []
        var taken = 0
        let isOnly = waiting.count == 1
        let begin = Instant.now()
        while taken < waiting.count {
            let job = waiting[taken]
            taken += 1
            let isAlone = isOnly && taken == 1
            switch apply(job, transaction, isOnly: isAlone, hasSeenChanges: !applied.isEmpty && transaction.hasChanges) {
            case .applied: applied.append(job)
            case .ended(let one): ended.append(one)
            case .completed: break
            }
            guard transaction.writes.arena.used + holding.resultBytes <= limits.groupBytes,
                Instant.now().seconds(since: begin) < WriteGroup.longest
            else { break }
            // The changes of a refused write that is alone in its group are still there, and must not be committed.
            guard taken == waiting.count, !isOnly || !applied.isEmpty else { continue }
            waiting += joining(taken).filter { !$0.isCancelled }
        }
        finish(ended, after: commit(transaction, applied))
        return Array(waiting[taken...])
    }

    /// The seconds after which a group accepts no more writes, so that those that were applied are answered.
    private static let longest = 0.25

    /// The outcome of one write.
    private enum Application {
        /// It waits for the commit.
        case applied
        /// It leaves nothing to commit, but what it has found is not certain before the commit.
        case ended(Ended)
        case completed
    }

    /// A write without changes of its own: one that could not be done, or a dry run.
    private struct Ended {
        let job: WriteJob
        /// Why it could not be done; nil for a dry run.
        let error: WriteError?
        /// Whether it has seen what writes before it in the group have changed. If these are not committed, what it has
        /// found never was in the realm, so it fails with them.
        let hasSeenChanges: Bool
    }

    /// The outcome of the commit.
    private enum CommitEnd {
        /// The version that the writes have seen was the newest.
        case confirmed
        /// There was nothing to commit, so that is not certain.
        case skipped
        /// The changes are not committed, or that is not known.
        case failed(WriteError)
    }

    /// Runs one write.
    ///
    /// - Parameters:
    ///   - isOnly: Whether the group has no other write, so that no savepoint is needed.
    ///   - hasSeenChanges: Whether writes before it have changed something.
    /// - Returns: Its outcome; unless it was applied, its changes are rolled back.
    private func apply(
        _ job: WriteJob, _ transaction: WriteTransaction, isOnly: Bool, hasSeenChanges: Bool
    ) -> Application {
        guard job.start() else { return .completed }
        // A write that fails alone is rolled back with the transaction, so nothing has to be copied for a
        // savepoint.
        let savepoint = isOnly ? nil : transaction.savepoint()
        do throws(WriteError) {
            try check(job, transaction)
            let session = writer.makeSession(transaction, deadline: job.request.deadline)
            defer { writer.didRun(session) }
            holding.setClient(job.request.client)
            session.holding = holding
            if let control = job.request.control {
                session.control = control
                session.budget.isStillWanted = { !control.isCancelled }
            }
            try job.run(session)
            holding.resultBytes += session.resultBytes
            guard job.request.isDryRun else { return .applied }
            undo(transaction, savepoint)
            if hasSeenChanges { return .ended(Ended(job: job, error: nil, hasSeenChanges: true)) }
            job.finish(.success((version: writer.current, isCommitted: false)))
        } catch {
            undo(transaction, savepoint)
            // Another program may have written a version that the file does not have yet.
            if hasSeenChanges || writer.isShared {
                return .ended(Ended(job: job, error: error, hasSeenChanges: hasSeenChanges))
            }
            job.finish(.failure(error))
        }
        return .completed
    }

    /// Rolls back to the savepoint; without one the whole transaction is discarded anyway.
    private func undo(_ transaction: WriteTransaction, _ savepoint: WriteTransaction.Savepoint?) {
        if let savepoint { transaction.rollBack(to: savepoint) }
    }

    /// Throws when the deadline of a write has passed, or the newest version is not the one it expects.
    private func check(_ job: WriteJob, _ transaction: WriteTransaction) throws(WriteError) {
        guard Instant.now() < job.request.deadline else { throw WriteError(.deadlineExceeded, WriteError.late) }
        guard let wanted = job.request.ifVersion else { return }
        guard wanted == transaction.base.version, !transaction.hasChanges else {
            throw WriteError(.preconditionFailed, "the realm has a newer version than the write expects")
        }
    }

    /// Commits the changes, and completes the writes that have made them with the new version or the error.
    private func commit(_ transaction: WriteTransaction, _ applied: [WriteJob]) -> CommitEnd {
        guard !applied.isEmpty else { return .skipped }
        do throws(WriteError) {
            let version = try transaction.hasChanges ? committed(transaction, applied) : confirmed()
            for job in applied { job.finish(.success((version: version, isCommitted: true))) }
            return .confirmed
        } catch {
            for job in applied { job.finish(.failure(error)) }
            return .failed(error)
        }
    }

    /// Commits the changes, and returns the new version.
    private func committed(_ transaction: WriteTransaction, _ applied: [WriteJob]) throws(WriteError) -> Version {
        transaction.requests = applied.compactMap(\.request.source)
        return try writer.commit(transaction, mark: applied.count == 1 ? applied[0].request.mark : nil)
    }

    /// Returns the newest version, which the writes have left as it was.
    private func confirmed() throws(WriteError) -> Version {
        try writer.confirm()
        return writer.current
    }

    /// Completes the writes that leave nothing to commit, with what they have found if that was in the newest version of all.
    private func finish(_ ended: [Ended], after end: CommitEnd) {
        var others = ended
        switch end {
        case .confirmed: return ended.forEach(finish)
        case .skipped: break
        case .failed(let error):
            for one in ended where one.hasSeenChanges { one.job.finish(.failure(error)) }
            others.removeAll { $0.hasSeenChanges }
        }
        guard !others.isEmpty else { return }
        do throws(WriteError) {
            try writer.confirm()
            others.forEach(finish)
        } catch {
            for one in others { one.job.finish(.failure(error)) }
        }
    }

    /// Completes a write with what it has found.
    private func finish(_ ended: Ended) {
        ended.job.finish(ended.error.map { .failure($0) } ?? .success((version: writer.current, isCommitted: false)))
    }
}
