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

    private func submit(_ job: WriteJob) {
        guard let queue = queue.withLock({ $0 }) else { return job.refuse(notWriting) }
        queue.submit(job)
    }

    /// As `write`, but nobody waits: returns an id under which `asyncWrites` tells what became of it.
    ///
    /// What `completion` returns is kept as the payload of the final state.
    package func writeAsynchronously<Value: Sendable>(
        owner: String, _ request: WriteRequest, _ body: @escaping @Sendable (WriteSession) throws -> Value,
        completion: @escaping @Sendable (Result<WriteReceipt<Value>, WriteError>) -> any Sendable
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

    private var notWriting: WriteError {
        isWritable ? WriteQueue.closed : WriteError(.readOnly, "this realm is served read-only")
    }

    // MARK: - Interactive transactions

    /// Begins an interactive transaction as soon as the writer is free, at the latest after `waitSeconds`. A `client` has
    /// only so many at a time, open and waiting.
    package func beginTransaction(
        owner: String, client: String? = nil, waitSeconds: Double, idleSeconds: Double? = nil, lifetimeSeconds: Double? = nil,
        completion: @escaping @Sendable (Result<TransactionInfo, WriteError>) -> Void
    ) {
        guard let queue = queue.withLock({ $0 }) else { return completion(.failure(notWriting)) }
        let wait = min(max(waitSeconds, 0), limits.maximumWaitSeconds)
        let lifetime = min(max(lifetimeSeconds ?? limits.usualLifetimeSeconds, 0), limits.lifetimeSeconds)
        queue.submit(BeginRequest(
            owner: owner, client: client, waitEnds: Instant.now().adding(seconds: wait),
            idleSeconds: min(max(idleSeconds ?? limits.usualIdleSeconds, 0), min(limits.idleSeconds, lifetime)),
            lifetimeSeconds: lifetime, completion: completion))
    }

    /// A transaction, open or ended; nil when it never was, is forgotten, or is somebody else's (`owner` nil: of anybody).
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
        step(.run(kind, deadline: deadline, body: { session in box.value = try body(session) }), id, owner) { result in
            switch result {
            case .failure(let error): completion(.failure(error))
            case .success:
                guard let value = box.value else { return completion(.failure(WriteError(.cancelled, "nothing was run"))) }
                completion(.success(value))
            }
        }
    }

    /// Makes the changes of a transaction durable. `mark` is told to those who hear of the commit.
    package func commitTransaction(
        _ id: String, owner: String?, mark: (any Sendable)? = nil,
        completion: @escaping @Sendable (Result<Version, WriteError>) -> Void
    ) {
        step(.commit(mark: mark), id, owner) { [self] result in completion(result.map { $0 ?? current }) }
    }

    /// Undoes a transaction. One whose write failed is undone already: this only settles it.
    package func rollBackTransaction(
        _ id: String, owner: String?, completion: @escaping @Sendable (Result<Void, WriteError>) -> Void
    ) {
        step(.rollBack, id, owner) { result in completion(result.map { _ in }) }
    }

    /// Ends a transaction because a write that belongs to it failed before it came here.
    package func abortTransaction(_ id: String, owner: String?, completion: @escaping @Sendable () -> Void = {}) {
        step(.abort, id, owner) { _ in completion() }
    }

    private func step(
        _ action: TransactionStep.Action, _ id: String, _ owner: String?,
        _ completion: @escaping @Sendable (Result<Version?, WriteError>) -> Void
    ) {
        guard let queue = queue.withLock({ $0 }) else { return completion(.failure(notWriting)) }
        queue.submit(TransactionStep(action: action, completion: completion), to: id, owner: owner)
    }
}

/// Carries a result out of a closure. `@unchecked Sendable`: used by the writer thread only.
private final class ResultBox<Value>: @unchecked Sendable {
    var value: Value?
}

// MARK: - The writer's side

extension Database: WriteBackend {
    func startWriter() {
        let writer = WriteQueue(self, limits, writeFigures, name: name.text)
        queue.withLock { $0 = writer }
    }

    func beginWrite() throws(WriteError) -> WriteTransaction {
        guard let store else { throw notWriting }
        guard store.acceptsWrites else { throw Database.stopped }
        do throws(StorageError) {
            return try store.beginTransaction()
        } catch {
            guard case .refused(let refusal) = error else { throw WriteError(error) }
            throw Database.refusal(refusal)
        }
    }

    private static let stopped = WriteError(
        .realmUnavailable, "a write failed in a way that only opening the file again can settle; reading goes on")

    private static func refusal(_ refusal: StorageError.Refusal) -> WriteError {
        switch refusal {
        case .tooManyVersions(let count):
            var error = WriteError(.tooManyActiveVersions, "\(count) versions of this realm are being read")
            error.counts = [(name: "liveVersions", count: count)]
            error.retryAfterSeconds = 5
            return error
        case .writesStopped: return stopped
        default: return WriteError(.realmUnavailable, refusal.text)
        }
    }

    func makeSession(_ transaction: WriteTransaction, deadline: Instant) -> WriteSession {
        WriteSession(transaction, deadline: deadline, backlinkNames: backlinkNames)
    }

    func commit(_ transaction: WriteTransaction, mark: (any Sendable)?) throws(WriteError) -> Version {
        let changes = transaction.changes
        do throws(StorageError) {
            let snapshot = try transaction.commit()
            let version = Version(snapshot, VersionToken(epoch: epoch, version: snapshot.version))
            let previous = newest.withLock { newest in
                defer { newest = version }
                return newest
            }
            writeFigures.noteCommit()
            commits.publish(Commit(previous: previous, version: version, changes: changes, mark: mark))
            return version
        } catch {
            guard let store, store.acceptsWrites else { throw Database.stopped }
            throw WriteError(error)
        }
    }
}

// MARK: - Migrations

extension Database {
    /// Applies a migration in a commit of its own, after a copy of the file was made beside it: `<path>.before-<version>`
    /// with the number of the version before.
    @discardableResult
    package func migrate(
        _ migration: Migration, _ request: WriteRequest,
        completion: @escaping @Sendable (Result<WriteReceipt<WriteSession.Migrated>, WriteError>) -> Void
    ) -> WriteTicket {
        var request = request
        request.isAlone = true
        let makesCopy = !request.isDryRun
        return write(request, { [self] session in
            // Nothing of this transaction is in the file yet, and no other is running.
            if makesCopy { try backUp() }
            return try session.migrate(migration)
        }, completion: completion)
    }

    /// Copies the file as it is to `<path>.before-<version>`. To be called inside a write that is alone.
    package func backUp() throws(WriteError) {
        guard mode == .readWrite, !path.isEmpty else { return }
        let target = "\(path).before-\(current.token.version)"
        FileCopy.remove(target)
        try stored(try FileCopy.copy(path, to: target))
    }
}
