// SPDX-License-Identifier: Apache-2.0

package import RealmStorage

/// Writes. All of this returns at once; completions are called on the writer thread, or on the caller's when the write
/// is refused at once. They must not wait, neither for a lock that is held across I/O nor for the writer.
extension Database {
    /// Runs `body` in a write transaction, and answers when its changes are durable.
    ///
    /// `body` runs on the writer thread, between others. What it throws comes back: a `WriteError` as it is, anything
    /// else as `cause` of one with code `caller`. Its changes are then undone, and those of its neighbours are not.
    @discardableResult
    package func write<Value: Sendable>(
        _ request: WriteRequest, _ body: @escaping @Sendable (WriteSession) throws -> Value,
        completion: @escaping @Sendable (Result<WriteReceipt<Value>, WriteError>) -> Void
    ) -> WriteTicket {
        let job = WriteJob(request, body, completion: completion)
        submit(job)
        return WriteTicket(job: job)
    }

    /// Hands a job to the writer, or refuses it at once when there is none.
    private func submit(_ job: WriteJob) {
        guard let queue = queue.withLock({ $0 }) else { return job.refuse(notWriting) }
        queue.submit(job)
    }

    /// As `write`, but without waiting for the outcome: returns an id under which `asyncWrites` has it.
    ///
    /// The bytes that `completion` returns are remembered with the final state.
    package func writeAsynchronously<Value: Sendable>(
        owner: String, _ request: WriteRequest, _ body: @escaping @Sendable (WriteSession) throws -> Value,
        completion: @escaping @Sendable (Result<WriteReceipt<Value>, WriteError>) -> [UInt8]
    ) -> String {
        let id = asyncWrites.register(owner: owner)
        let job = WriteJob(
            request, body, didStart: { [asyncWrites] in asyncWrites.setState(.running, of: id) },
            completion: { [asyncWrites] (result: Result<WriteReceipt<Value>, WriteError>) in
                switch result {
                case .success: asyncWrites.setState(.committed(completion(result)), of: id)
                case .failure(let error) where error.code == .cancelled: asyncWrites.setState(.cancelled, of: id)
                case .failure: asyncWrites.setState(.failed(completion(result)), of: id)
                }
            })
        asyncWrites.setTicket(WriteTicket(job: job), of: id)
        submit(job)
        return id
    }

    /// Writes that are not answered yet.
    package var pendingWrites: Int { queue.withLock { $0 }?.pendingCount ?? 0 }

    /// Why nothing can be written: the realm is read-only, or is being closed.
    private var notWriting: WriteError {
        if isWritable { return WriteQueue.closed }
        return WriteError(.readOnly, "this realm is served read-only" + (readOnlyReason.map { ": \($0)" } ?? ""))
    }

    // MARK: - Interactive transactions

    /// Begins an interactive transaction as soon as the writer is free, at the latest after `wait`. A `client` has
    /// only so many at a time, open and waiting.
    package func beginTransaction(
        owner: String, client: String? = nil, wait: Duration, idleTime: Duration? = nil, lifetime: Duration? = nil,
        completion: @escaping @Sendable (Result<TransactionInfo, WriteError>) -> Void
    ) {
        guard let queue = queue.withLock({ $0 }) else { return completion(.failure(notWriting)) }
        let wait = min(max(wait, .zero), limits.maximumWait)
        let lifetime = min(max(lifetime ?? limits.usualLifetime, .zero), limits.lifetime)
        queue.submit(
            BeginRequest(
                owner: owner, client: client, waitEnds: Instant.now().adding(wait),
                idleTime: min(max(idleTime ?? limits.usualIdleTime, .zero), min(limits.idleTime, lifetime)),
                lifetime: lifetime, completion: completion))
    }

    /// A transaction, open or ended; nil when it never was, is forgotten, or has another owner (`owner` nil: any owner).
    package func transaction(_ id: String, owner: String?) -> TransactionInfo? {
        queue.withLock { $0 }?.transaction(id, owner: owner)
    }

    /// The interactive transaction that is open now.
    package var openTransaction: TransactionInfo? { queue.withLock { $0 }?.openTransaction }

    /// What a request inside a transaction does.
    package enum TransactionUse: Sendable {
        /// Reads the uncommitted state through `view()`; the answer has to be complete when the closure returns.
        case read
        /// Changes something; if it fails, the transaction is rolled back and over.
        case write
        /// Is undone whatever happens.
        case dryRun
    }

    /// Runs `body` inside an interactive transaction. One at a time: a second one is `transaction_busy` at once.
    package func perform<Value: Sendable>(
        in id: String, owner: String?, _ use: TransactionUse, deadline: Instant,
        _ body: @escaping @Sendable (WriteSession) throws -> Value,
        completion: @escaping @Sendable (Result<Value, WriteError>) -> Void
    ) {
        let box = ResultBox<Value>()
        let kind: TransactionStep.Kind
        switch use {
        case .read: kind = .read
        case .write: kind = .write
        case .dryRun: kind = .dryRun
        }
        step(.run(kind, deadline: deadline, body: { session in box.value = try body(session) }), in: id, owner: owner) { result in
            switch result {
            case .failure(let error): completion(.failure(error))
            case .success:
                guard let value = box.value else { return completion(.failure(WriteError(.cancelled, "nothing was run"))) }
                completion(.success(value))
            }
        }
    }

    /// Makes the changes of a transaction durable. `mark` goes along with the commit.
    package func commitTransaction(
        _ id: String, owner: String?, mark: CommitMark? = nil,
        completion: @escaping @Sendable (Result<Version, WriteError>) -> Void
    ) {
        step(.commit(mark: mark), in: id, owner: owner) { [self] result in completion(result.map { $0 ?? current }) }
    }

    /// Undoes a transaction. One whose write failed is undone already: this only settles it.
    package func rollBackTransaction(
        _ id: String, owner: String?, completion: @escaping @Sendable (Result<Void, WriteError>) -> Void
    ) {
        step(.rollBack, in: id, owner: owner) { result in completion(result.map { _ in }) }
    }

    /// Ends a transaction because a write that belongs to it failed before it came here.
    package func abortTransaction(_ id: String, owner: String?, completion: @escaping @Sendable () -> Void = {}) {
        step(.abort, in: id, owner: owner) { _ in completion() }
    }

    /// Carries a result out of a closure. `@unchecked Sendable`: used by the writer thread only.
    private final class ResultBox<Value>: @unchecked Sendable {
        /// Set by the body of the request, read by its completion.
        var value: Value?
    }

    /// Hands a request to an interactive transaction; `completion` has the new version after a commit.
    private func step(
        _ action: TransactionStep.Action, in id: String, owner: String?,
        _ completion: @escaping @Sendable (Result<Version?, WriteError>) -> Void
    ) {
        guard let queue = queue.withLock({ $0 }) else { return completion(.failure(notWriting)) }
        queue.submit(TransactionStep(action: action, completion: completion), to: id, owner: owner)
    }
}

// MARK: - The writer's side

extension Database: WriteBackend {
    /// Gives the database a writer. Its thread begins with the first write.
    func startWriter() {
        let writer = WriteQueue(self, limits, writeFigures, name: name.text)
        queue.withLock { $0 = writer }
    }

    /// Looks a large file through before its first write. Damage makes the realm read-only.
    func prepare(_ goesOn: () -> Bool) {
        do throws(StorageError) {
            try store?.audit(goesOn)
        } catch {
            refuseWrites(error)
        }
    }

    /// Begins the one transaction that runs at a time. Throws `readOnly`, `realmUnavailable` or `tooManyActiveVersions`.
    func beginWrite() throws(WriteError) -> WriteTransaction {
        guard let store, isWritable else { throw notWriting }
        guard store.acceptsWrites else { throw Database.stopped }
        if let failure = health.failure { throw Database.changed(failure) }
        do throws(StorageError) {
            return try store.beginTransaction()
        } catch {
            guard case .refused(let refusal) = error else { throw WriteError(error) }
            throw Database.refusal(refusal)
        }
    }

    /// The answer to all writes after one that may be durable or not.
    private static let stopped = WriteError(
        .realmUnavailable, "a write failed in a way that only opening the file again can settle; reading goes on")

    /// The file is not what it was: it is opened again before anything else is written.
    private static func changed(_ error: StorageError) -> WriteError {
        var refusal = WriteError(.realmUnavailable, error.description)
        refusal.retryAfter = .seconds(1)
        refusal.cause = .storage(error)
        return refusal
    }

    /// Why no write can begin now, in the words of writes.
    private static func refusal(_ refusal: StorageError.Refusal) -> WriteError {
        switch refusal {
        case .tooManyVersions(let count):
            var error = WriteError(.tooManyActiveVersions, "\(count) versions of this realm are being read")
            error.counts = [(name: "liveVersions", count: count)]
            error.retryAfter = .seconds(5)
            return error
        case .writesStopped: return stopped
        default: return WriteError(.realmUnavailable, refusal.text)
        }
    }

    /// A session that logs its slow queries.
    func makeSession(_ transaction: WriteTransaction, deadline: Instant) -> WriteSession {
        let session = WriteSession(transaction, deadline: deadline, backlinkNames: backlinkNames, limits: limits)
        session.didQuery = { [log] begin, className in log.noteQuery(since: begin, className: className) }
        return session
    }

    /// Adds what a write did to the figures.
    func didRun(_ session: WriteSession) { writeFigures.note(session) }

    /// Makes the changes durable, the new version the newest, and hands the commit to the feed, in this order.
    func commit(_ transaction: WriteTransaction, mark: CommitMark?) throws(WriteError) -> Version {
        let changes = transaction.changes
        let begin = Instant.now()
        do throws(StorageError) {
            let snapshot = try transaction.commit()
            log.noteCommit(since: begin, changeCount: changes.count)
            keepCopy()
            let version = Version(snapshot, VersionToken(epoch: epoch, version: snapshot.version))
            let previous = newest.withLock { newest in
                defer { newest = version }
                return newest
            }
            writeFigures.noteCommit()
            commits.publish(Commit(previous: previous, version: version, changes: changes, mark: mark))
            return version
        } catch {
            if error.isFileChange || !health.isSound {
                health.fail(error)
                throw Database.changed(health.failure ?? error)
            }
            guard let store, store.acceptsWrites else {
                log.stoppedWriting(error)
                throw Database.stopped
            }
            log.failedToCommit(error)
            throw WriteError(error)
        }
    }
}

// MARK: - Migrations

extension Database {
    /// Applies a migration in a commit of its own, and makes a copy of the file before that; see `backUp`.
    @discardableResult
    package func migrate(
        _ migration: Migration, _ request: WriteRequest,
        completion: @escaping @Sendable (Result<WriteReceipt<WriteSession.Migrated>, WriteError>) -> Void
    ) -> WriteTicket {
        var request = request
        request.isAlone = true
        let isReal = !request.isDryRun
        return write(
            request,
            { [self] session in
                let migrated = try session.migrate(migration)
                if isReal { try backUp(before: session) }
                return migrated
            }, completion: completion)
    }

    /// Copies the file as it is on the disk to `<path>.before-<version>` when the write has changed anything, and returns the
    /// name of the copy. To be called last inside a write that is alone; nothing of it is in the file yet.
    ///
    /// The copy goes again if the write is not committed; else it replaces older ones.
    @discardableResult
    package func backUp(before session: WriteSession) throws(WriteError) -> String? {
        guard let copies, keptCopyCount > 0, session.hasChanges else { return nil }
        try session.checkDeadline()
        let version = current.token.version
        let name = try stored(try copies.make(.migration(version: version), session.control))
        log.copied(to: name)
        pendingCopy.withLock { $0 = name }
        return name
    }

    /// The writer is free again.
    func didEndWrite() {
        let name = pendingCopy.withLock { pending in
            defer { pending = nil }
            return pending
        }
        if let name { copies?.remove(name) }
    }

    /// Notes the time of the last write, so that later ones of others are noticed; see `FileWitness`.
    func didPause() { health.look() }

    /// The write that made a copy is durable.
    private func keepCopy() {
        let name = pendingCopy.withLock { pending in
            defer { pending = nil }
            return pending
        }
        if let name { copies?.prune(keeping: keptCopyCount, sparing: name) }
    }
}
