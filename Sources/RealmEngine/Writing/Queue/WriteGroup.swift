// SPDX-License-Identifier: Apache-2.0

internal import RealmStorage

/// Writes that share one transaction and one durable commit; each is atomic by its own savepoint.
///
/// A commit costs two syncs of the file, whatever it contains. Under load the writes that arrive during
/// one commit form the group of the next one, so the number of syncs does not grow with the number of
/// clients.
struct WriteGroup {
    /// The writes in the order in which they arrived.
    private let jobs: [WriteJob]
    /// The database.
    private let writer: any WriteBackend
    /// The limits for the size of a group.
    private let limits: WriteLimits

    /// Makes a group.
    ///
    /// - Parameters:
    ///   - jobs: The writes in the order in which they arrived.
    ///   - writer: The database.
    ///   - limits: The limits for the size of a group.
    init(_ jobs: [WriteJob], _ writer: any WriteBackend, _ limits: WriteLimits) {
        self.jobs = jobs
        self.writer = writer
        self.limits = limits
    }

    /// Runs the writes, commits them together and completes them.
    ///
    /// - Returns: The writes for which the group had no room; they have not begun.
    func run() -> [WriteJob] {
        let waiting = jobs.filter { !$0.isCancelled }
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
        var taken = 0
        for job in waiting {
            taken += 1
            if apply(job, transaction, isOnly: waiting.count == 1) { applied.append(job) }
            if transaction.writes.arena.used > limits.groupBytes { break }
        }
        commit(transaction, applied)
        return Array(waiting[taken...])
    }

    /// Runs one write.
    ///
    /// - Parameters:
    ///   - job: The write.
    ///   - transaction: The transaction of the group.
    ///   - isOnly: Whether the group has no other write, so that no savepoint is needed.
    /// - Returns: Whether the write waits for the commit; otherwise its changes are rolled back and it is
    ///   completed.
    private func apply(_ job: WriteJob, _ transaction: WriteTransaction, isOnly: Bool) -> Bool {
        guard job.start() else { return false }
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
            guard job.request.isDryRun else { return true }
            undo(transaction, savepoint)
            job.finish(.success((version: writer.current, isCommitted: false)))
        } catch {
            undo(transaction, savepoint)
            job.finish(.failure(error))
        }
        return false
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

    /// Commits the changes, and completes all writes of the group with the new version or the error.
    private func commit(_ transaction: WriteTransaction, _ applied: [WriteJob]) {
        guard !applied.isEmpty else { return }
        do throws(WriteError) {
            let mark = applied.count == 1 ? applied[0].request.mark : nil
            let version = transaction.hasChanges ? try writer.commit(transaction, mark: mark) : writer.current
            for job in applied { job.finish(.success((version: version, isCommitted: true))) }
        } catch {
            for job in applied { job.finish(.failure(error)) }
        }
    }
}
