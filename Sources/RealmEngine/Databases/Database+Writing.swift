// SPDX-License-Identifier: Apache-2.0

package import RealmPlatform
internal import RealmStorage

/// Writes and interactive transactions.
///
/// All methods return at once. Completions are called on the writer's thread, or on the caller's thread when the write is
/// rejected at once. They must not wait, neither for a lock that is held during I/O nor for the writer.
extension Database {
    /// Runs `body` in a write transaction, and completes when its changes are durable.
    ///
    /// If `body` throws, its changes are rolled back, while other writes of the same commit are not affected.
    ///
    /// - Parameters:
    ///   - request: The deadline and other options.
    ///   - body: The operations, run on the writer's thread.
    ///   - completion: Receives the receipt, or the error of `body`: a `WriteError` as it is, any other
    ///     error as the `cause` of one with the code `caller`.
    /// - Returns: A ticket with which the write can be cancelled before it begins.
    @discardableResult
    package func write<Value: Sendable>(
        _ request: WriteRequest, _ body: @escaping @Sendable (WriteSession) throws -> Value,
        completion: @escaping @Sendable (Result<WriteReceipt<Value>, WriteError>) -> Void
    ) -> WriteTicket {
        let job = WriteJob(request, body, completion: completion)
        submit(job)
        return WriteTicket(job: job)
    }

    /// Submits a job to the writer, or rejects it at once when there is none.
    private func submit(_ job: WriteJob) {
        guard let queue = queue.withLock({ $0 }) else { return job.refuse(notWriting) }
        queue.submit(job)
    }

    /// Runs a write whose outcome is requested later, with `asyncWrites`.
    ///
    /// - Parameters:
    ///   - owner: The principal that may request the outcome.
    ///   - request: The deadline and other options.
    ///   - body: The operations, run on the writer's thread.
    ///   - completion: Returns the outcome that is kept with the final state.
    /// - Returns: The id of the write.
    package func writeAsynchronously<Value: Sendable>(
        owner: String, _ request: WriteRequest, _ body: @escaping @Sendable (WriteSession) throws -> Value,
        completion: @escaping @Sendable (Result<WriteReceipt<Value>, WriteError>) -> AsyncWrites.Outcome
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
        asyncWrites.setCancellation(of: id) { job.cancel() }
        submit(job)
        return id
    }

    /// The number of writes that are not completed yet.
    package var pendingWrites: Int { queue.withLock { $0 }?.pendingCount ?? 0 }

    /// Completes the waiting writes whose `WriteRequest.refusal` says so. It costs next to nothing while none waits.
    package func refuseOutdatedWrites() {
        guard pendingWrites > 0 else { return }
        queue.withLock { $0 }?.refuseOutdated()
    }

    /// The error for a realm that accepts no writes: it is read-only, or is being closed.
    var notWriting: WriteError {
        if let node = writerElsewhere { return WriteError(.refused(.notOwner(node))) }
        if isWritable { return WriteQueue.closed }
        return WriteError(.readOnly, "this realm is served read-only" + (readOnlyReason.map { ": \($0)" } ?? ""))
    }

    // MARK: - Interactive transactions

    /// Begins an interactive transaction as soon as the writer is free.
    ///
    /// - Parameters:
    ///   - owner: The principal that owns the transaction.
    ///   - client: The client whose number of transactions is limited; nil for no limit.
    ///   - limit: The maximum number of transactions of the client, open and waiting; nil for the limit of the database.
    ///   - wait: The longest time to wait for the writer.
    ///   - idleTime: The time for which the transaction may remain unused; nil for the default. The
    ///     limits of the database apply.
    ///   - lifetime: The longest time of the transaction; nil for the default. The limits of the database
    ///     apply.
    ///   - ended: Receives the transaction when it has ended otherwise than by a request to commit it or to roll it back. It is
    ///     called on the writer's thread and must not wait.
    ///   - completion: Receives the open transaction, or an error.
    package func beginTransaction(
        owner: String, client: String? = nil, limit: Int? = nil, wait: Duration, idleTime: Duration? = nil,
        lifetime: Duration? = nil, ended: (@Sendable (TransactionInfo) -> Void)? = nil,
        completion: @escaping @Sendable (Result<TransactionInfo, WriteError>) -> Void
    ) {
        guard let queue = queue.withLock({ $0 }) else { return completion(.failure(notWriting)) }
        let wait = min(max(wait, .zero), limits.maximumWait)
        let lifetime = min(max(lifetime ?? limits.usualLifetime, .zero), limits.lifetime)
        queue.submit(
            BeginRequest(
                owner: owner, client: client, limit: limit, waitEnds: Instant.now().adding(wait),
                idleTime: min(max(idleTime ?? limits.usualIdleTime, .zero), min(limits.idleTime, lifetime)),
                lifetime: lifetime, ended: ended, completion: completion))
    }

    /// Returns an interactive transaction, open or ended.
    ///
    /// - Parameters:
    ///   - owner: The principal of the request; nil for access to the transactions of all owners.
    /// - Returns: The description; nil when the transaction is unknown, forgotten or has another owner.
    package func transaction(_ id: String, owner: String?) -> TransactionInfo? {
        queue.withLock { $0 }?.transaction(id, owner: owner)
    }

    /// Returns why an interactive transaction takes no request; nil when it is open.
    ///
    /// - Parameters:
    ///   - owner: The principal of the request; nil for access to the transactions of all owners.
    package func refusal(ofTransaction id: String, owner: String?) -> WriteError? {
        guard let queue = queue.withLock({ $0 }) else { return notWriting }
        return queue.refusal(of: id, owner: owner)
    }

    /// The interactive transaction that holds the writer; nil when there is none.
    package var openTransaction: TransactionInfo? { queue.withLock { $0 }?.openTransaction }

    /// Remembers a transaction that ended with an earlier opening of the realm, so that its client gets a precise error.
    ///
    /// - Parameter info: The transaction as it was then.
    package func rememberExpired(_ info: TransactionInfo) { queue.withLock { $0 }?.rememberExpired(info) }

    /// The use of an interactive transaction by a request.
    package enum TransactionUse: Sendable {
        /// It reads the uncommitted state through `view()`. The response must be complete when the closure returns.
        case read
        /// It changes data; if it fails, the transaction is rolled back and has ended. Only what the request itself made wrong
        /// leaves the transaction as it was before the request.
        case write
        /// It changes data and is rolled back in any case.
        case dryRun
    }

    /// Runs `body` inside an interactive transaction. A second request at the same time fails with `transactionBusy`.
    ///
    /// - Parameters:
    ///   - owner: The principal of the request; nil for access to the transactions of all owners.
    ///   - use: Whether the request reads, writes or is a dry run.
    ///   - deadline: The instant at which the request times out.
    ///   - isMalformed: Whether an error of a write says that the request is malformed, so that its changes alone are undone.
    ///   - body: The operations, run on the writer's thread.
    ///   - completion: Receives the value of `body`, or an error.
    package func perform<Value: Sendable>(
        in id: String, owner: String?, _ use: TransactionUse, deadline: Instant,
        isMalformed: @escaping @Sendable (WriteError) -> Bool = { _ in false },
        _ body: @escaping @Sendable (WriteSession) throws -> Value,
        completion: @escaping @Sendable (Result<Value, WriteError>) -> Void
    ) {
        let box = ResultBox<Value>()
        let kind: TransactionStep.Kind
        switch use {
        case .read: kind = .read
        case .write: kind = .write(isMalformed: isMalformed)
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

    /// Commits an interactive transaction.
    ///
    /// - Parameters:
    ///   - owner: The principal of the request; nil for access to the transactions of all owners.
    ///   - commit: The options of the commit.
    ///   - completion: Receives the new version when it is durable; the newest version when nothing was
    ///     changed.
    package func commitTransaction(
        _ id: String, owner: String?, _ commit: TransactionCommit = TransactionCommit(),
        completion: @escaping @Sendable (Result<Version, WriteError>) -> Void
    ) {
        step(.commit(commit), in: id, owner: owner) { [self] result in
            completion(result.map { $0 ?? current })
        }
    }

    /// Rolls back an interactive transaction. One that was aborted is already rolled back; this only changes its state.
    package func rollBackTransaction(
        _ id: String, owner: String?, completion: @escaping @Sendable (Result<Void, WriteError>) -> Void
    ) {
        step(.rollBack, in: id, owner: owner) { result in completion(result.map { _ in }) }
    }

    /// Passes a result out of a closure. `@unchecked Sendable`: it is used on the writer's thread only.
    private final class ResultBox<Value>: @unchecked Sendable {
        /// The value, set by the body of the request and read by its completion.
        var value: Value?
    }

    /// Passes a request to an interactive transaction; `completion` receives the new version after a commit.
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
    func startWriter() {
        let writer = WriteQueue(self, limits, writeMetrics)
        queue.withLock { $0 = writer }
    }

    /// Checks a large file before its first write. Damage makes the realm read-only.
    ///
    /// - Parameter continues: Returns false when the check should stop; it is called at intervals.
    func prepare(_ continues: () -> Bool) {
        do throws(StorageError) {
            try store?.audit(continues)
        } catch {
            refuseWrites(error)
        }
    }

    /// Begins the single transaction that may run at a time.
    ///
    /// - Throws: `WriteError`: `readOnly`, `realmUnavailable` or `tooManyActiveVersions`.
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

    /// The error for all writes after a commit of which it is unknown whether it is durable.
    private static let stopped = WriteError(
        .realmUnavailable, "it is unknown whether a commit is durable; only reading is possible until the file is opened again")

    /// Makes the error for a file that was changed by another program; it is opened again before anything is written.
    private static func changed(_ error: StorageError) -> WriteError {
        var refusal = WriteError(.realmUnavailable, error.description)
        refusal.retryAfter = .seconds(1)
        refusal.cause = .storage(error)
        return refusal
    }

    /// Converts the reason for which no transaction can begin to an error of a write.
    private static func refusal(_ refusal: StorageError.Refusal) -> WriteError {
        switch refusal {
        case .tooManyVersions(let count):
            var error = WriteError(.tooManyActiveVersions, "too many versions of this realm are being read: \(count)")
            error.counts = [(name: "liveVersions", count: count)]
            error.retryAfter = .seconds(5)
            return error
        case .writesStopped: return stopped
        default: return WriteError(.realmUnavailable, refusal.text)
        }
    }

    /// Makes a session that logs its slow queries.
    func makeSession(_ transaction: WriteTransaction, deadline: Instant) -> WriteSession {
        let part = shownClasses == nil ? nil : current.snapshot.part
        let session = WriteSession(transaction, deadline: deadline, backlinkNames: backlinkNames, part: part, limits: limits)
        session.defaults = defaults
        session.didQuery = { [log] begin, className in log.noteQuery(since: begin, className: className) }
        return session
    }

    /// Returns the changes of objects whose classes are shown.
    func shown(_ changes: [ObjectChange]) -> [ObjectChange] {
        guard shownClasses != nil, let part = current.snapshot.part else { return changes }
        return changes.filter { part.shown.contains($0.table) }
    }

    /// Adds the counts of a write to the metrics.
    func didRun(_ session: WriteSession) { writeMetrics.note(session) }

    /// Whether other nodes may write the realm too.
    var isShared: Bool { store?.isShared ?? false }

    /// Makes sure that no other node has written the realm until this was called.
    func confirm() throws(WriteError) {
        do throws(StorageError) {
            try store?.confirm()
        } catch {
            throw WriteError(error)
        }
    }

    /// Commits a transaction: makes it durable, then its version the newest, and then publishes it to observers.
    ///
    /// - Parameters:
    ///   - transaction: The transaction with the changes.
    ///   - mark: The action after observers were notified.
    /// - Returns: The new version.
    /// - Throws: `WriteError`: `realmUnavailable` when the file was changed by another program or it is
    ///   unknown whether the commit is durable; otherwise the error of storage, and the commit was rolled
    ///   back.
    func commit(_ transaction: WriteTransaction, mark: CommitMark?) throws(WriteError) -> Version {
        let changes = shown(transaction.changes)
        let begin = Instant.now()
        do throws(StorageError) {
            transaction.skips = mark?.skips ?? []
            let snapshot = try transaction.commit()
            log.noteCommit(since: begin, changeCount: changes.reduce(0) { $0 + $1.objectCount })
            keepCopy()
            let version = Version(shown(snapshot), VersionToken(epoch: epoch, version: snapshot.version))
            let previous = newest.withLock { newest in
                defer { newest = version }
                return newest
            }
            writeMetrics.noteCommit()
            keptVersions.withLock { $0 }?.keep(previous)
            commits.publish(Commit(previous: previous, version: version, changes: changes, mark: mark))
            return version
        } catch {
            if error.isFileChange || !health.isSound {
                health.fail(error)
                throw Database.changed(health.failure ?? error)
            }
            guard let store, store.acceptsWrites else {
                log.stoppedWriting(error)
                if error.leavesFileBehind { throw WriteError(error) }
                // The log of a cluster has the commit, which is shown when the file was brought up to it.
                throw isShared ? WriteError(.refused(.outcomeUnknown)) : Database.stopped
            }
            log.failedToCommit(error)
            throw WriteError(error)
        }
    }
}

// MARK: - Migrations

extension Database {
    /// Carries out a migration in a commit of its own, with a copy of the file before it; see `backUp`.
    ///
    /// - Parameters:
    ///   - migration: The steps.
    ///   - request: The deadline and other options.
    ///   - completion: Receives the receipt with the schemas before and after, or an error.
    /// - Returns: A ticket with which the migration can be cancelled before it begins.
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

    /// Copies the file as it is on the disk to `<path>.before-<version>`, if the write has changed anything.
    ///
    /// It must be called at the end of a write that is alone; the file does not contain any of its
    /// changes yet. The copy is removed if the write is not committed, otherwise it replaces older ones.
    ///
    /// - Returns: The name of the copy; nil if none was made.
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

    /// Returns the name of the copy that `backUp(before:)` would make of the realm's file, for a rehearsal of the write.
    ///
    /// - Parameters:
    ///   - copies: The copies next to the file.
    ///   - count: The number of copies that would be kept.
    package func nameOfBackUp(
        before session: WriteSession, among copies: FileCopies, keeping count: Int
    ) throws(WriteError) -> String? {
        guard mode == .readWrite, count > 0, session.hasChanges else { return nil }
        let version = current.token.version
        return try stored(try copies.freeName(.migration(version: version)))
    }

    /// Removes the copy that `backUp(before:)` made for a write that was not committed. Does nothing if there is none.
    func didEndWrite() {
        let name = pendingCopy.withLock { pending in
            defer { pending = nil }
            return pending
        }
        if let name { copies?.remove(name) }
    }

    /// Records the time of the last write to the file, so that later writes of other programs are noticed; see `FileWitness`.
    func didPause() { health.checkFile() }

    /// Keeps the copy of a write that is durable, and removes older copies.
    private func keepCopy() {
        let name = pendingCopy.withLock { pending in
            defer { pending = nil }
            return pending
        }
        if let name { copies?.prune(keeping: keptCopyCount, sparing: name) }
    }
}

/// Refers to a write that was submitted, so that it can be cancelled.
package struct WriteTicket: Sendable {
    /// The submitted write.
    let job: WriteJob

    /// Cancels the write; returns false when it has begun or finished.
    package func cancel() -> Bool { job.cancel() }
}
