// SPDX-License-Identifier: Apache-2.0

internal import RealmStorage

/// Writes that share one transaction and one durable commit; each is atomic by its own savepoint.
///
/// A commit costs two syncs of the file, whatever it contains. Under load the writes that arrive during
/// one commit form the group of the next one, so the number of syncs does not grow with the number of
/// clients. Those that arrive while the first ones are being applied may join them.
struct WriteGroup {
    /// The writes in the order in which they arrived.
    private let jobs: [WriteJob]
    /// The database.
    private let writer: any WriteBackend
    /// The limits for the size of a group.
    private let limits: WriteLimits
    /// Returns writes that join so many others in the group.
    private let joining: (Int) -> [WriteJob]

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
            writer.didEndWrite()
        }
        var applied: [WriteJob] = []
        var refused: [(job: WriteJob, error: WriteError)] = []
        var taken = 0
        let isOnly = waiting.count == 1
        while taken < waiting.count {
            let job = waiting[taken]
            taken += 1
            switch apply(job, transaction, isOnly: isOnly && taken == 1) {
            case .applied: applied.append(job)
            case .refused(let error): refused.append((job, error))
            case .completed: break
            }
            guard transaction.writes.arena.used <= limits.groupBytes else { break }
            // What an only write has done is still there when it was refused, and must not be committed.
            guard taken == waiting.count, !isOnly || !applied.isEmpty else { continue }
            waiting += joining(taken).filter { !$0.isCancelled }
        }
        finish(refused, isConfirmed: commit(transaction, applied))
        return Array(waiting[taken...])
    }

    /// What comes of one write.
    private enum Application {
        /// It waits for the commit.
        case applied
        /// It cannot be done in the newest version of the file, which need not be the newest of all.
        case refused(WriteError)
        /// It is completed.
        case completed
    }

    /// Runs one write.
    ///
    /// - Parameters:
    ///   - job: The write.
    ///   - transaction: The transaction of the group.
    ///   - isOnly: Whether the group has no other write, so that no savepoint is needed.
    /// - Returns: What comes of it; unless it was applied, its changes are rolled back.
    private func apply(_ job: WriteJob, _ transaction: WriteTransaction, isOnly: Bool) -> Application {
        guard job.start() else { return .completed }
        // A write that fails alone is rolled back with the transaction, so nothing has to be copied for a
        // savepoint.
        let savepoint = isOnly ? nil : transaction.savepoint()
        do throws(WriteError) {
            try check(job, transaction)
            let session = writer.makeSession(transaction, deadline: job.request.deadline)
            defer { writer.didRun(session) }
            if let control = job.request.control {
                session.control = control
                session.budget.isStillWanted = { !control.isCancelled }
            }
            try job.run(session)
            guard job.request.isDryRun else { return .applied }
            undo(transaction, savepoint)
            job.finish(.success((version: writer.current, isCommitted: false)))
        } catch {
            undo(transaction, savepoint)
            if writer.isShared { return .refused(error) }
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
    ///
    /// - Returns: Whether it is certain that what the writes have found was the newest version of all.
    private func commit(_ transaction: WriteTransaction, _ applied: [WriteJob]) -> Bool {
        guard !applied.isEmpty else { return false }
        do throws(WriteError) {
            let version = try transaction.hasChanges ? committed(transaction, applied) : confirmed()
            for job in applied { job.finish(.success((version: version, isCommitted: true))) }
            return true
        } catch {
            for job in applied { job.finish(.failure(error)) }
            return false
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

    /// Completes the writes that could not be done, when it is certain that they could not be done in the newest version of all.
    private func finish(_ refused: [(job: WriteJob, error: WriteError)], isConfirmed: Bool) {
        guard !refused.isEmpty else { return }
        do throws(WriteError) {
            if !isConfirmed { try writer.confirm() }
            for (job, error) in refused { job.finish(.failure(error)) }
        } catch {
            for (job, _) in refused { job.finish(.failure(error)) }
        }
    }
}
