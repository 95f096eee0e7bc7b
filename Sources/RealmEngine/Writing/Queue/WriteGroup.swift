// SPDX-License-Identifier: Apache-2.0

internal import RealmStorage

/// Writes that share one transaction and one durable commit; each is atomic by a savepoint of its own.
///
/// A commit costs two syncs, whatever it has in it. Under load the writes that come during one commit are the group of the
/// next, so the number of syncs does not grow with the number of clients.
struct WriteGroup {
    /// In the order in which they came.
    private let jobs: [WriteJob]
    /// The database.
    private let writer: any WriteBackend
    /// How large a group may become.
    private let limits: WriteLimits

    /// The jobs in the order in which they came.
    init(_ jobs: [WriteJob], _ writer: any WriteBackend, _ limits: WriteLimits) {
        self.jobs = jobs
        self.writer = writer
        self.limits = limits
    }

    /// Runs the writes and answers them. Returns those that there was no room for.
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

    /// Returns whether the job waits for the commit; otherwise it has left no trace and was answered.
    private func apply(_ job: WriteJob, _ transaction: WriteTransaction, isOnly: Bool) -> Bool {
        guard job.start() else { return false }
        // What fails alone is rolled back with the transaction: nothing has to be copied for a savepoint.
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

    /// Goes back to before a write; without a savepoint the whole transaction ends anyway.
    private func undo(_ transaction: WriteTransaction, _ savepoint: WriteTransaction.Savepoint?) {
        if let savepoint { transaction.rollBack(to: savepoint) }
    }

    /// Throws when a write is too late, or made for an older version.
    private func check(_ job: WriteJob, _ transaction: WriteTransaction) throws(WriteError) {
        guard Instant.now() < job.request.deadline else { throw WriteError(.deadlineExceeded, WriteError.late) }
        guard let wanted = job.request.ifVersion else { return }
        guard wanted == transaction.base.version, !transaction.hasChanges else {
            throw WriteError(.preconditionFailed, "the realm has a newer version than the write is made for")
        }
    }

    /// Makes the group durable and answers all who wait for it.
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
