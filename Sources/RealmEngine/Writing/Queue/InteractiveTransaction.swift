// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform
internal import RealmStorage

/// A transaction that a client holds over several requests, run by the writer's thread.
///
/// The writer's thread waits for the next request, the end of the lease, or the end of the time that
/// other writes are willing to wait. Requests arrive one at a time through `InteractiveTransaction.State.step`.
///
/// It ends when its client commits or rolls back, when a write in it fails, when its lease ends, or when the database is
/// closed. Until then the writer's thread belongs to it; other writes are rejected as soon as they have waited for too long.
struct InteractiveTransaction {
    /// The queue, whose monitor guards the step of the next request.
    private let queue: WriteQueue
    /// The database.
    private let writer: any WriteBackend
    /// The transaction that is held.
    private let transaction: WriteTransaction
    /// Receives the transaction when it ends without a request for it; nil for none.
    private let ended: (@Sendable (TransactionInfo) -> Void)?
    /// The share of the transaction in the memory for uncommitted writes.
    private let holding: WriteMemory.Holding

    /// Begins the transaction, completes `request`, and returns when the transaction has ended. Runs on the writer's thread.
    ///
    /// - Parameters:
    ///   - request: The request to begin; its completion receives an error when the database accepts no
    ///     write.
    ///   - queue: The queue whose writer is held.
    ///   - writer: The database.
    static func run(_ request: BeginRequest, on queue: WriteQueue, _ writer: any WriteBackend) {
        let transaction: WriteTransaction
        do throws(WriteError) {
            transaction = try writer.beginWrite()
        } catch {
            return request.completion(.failure(error))
        }
        defer { transaction.end() }
        let now = Instant.now()
        let info = TransactionInfo(
            id: RandomName.make(), owner: request.owner, version: writer.current.token, idleTime: request.idleTime,
            expires: WallClock(nanoseconds: WallClock.now().nanoseconds + Int64(request.lifetime.inSeconds * 1e9)), state: .open)
        let state = InteractiveTransaction.State(
            info: info, client: request.client, expires: now.adding(request.lifetime),
            idleEnds: now.adding(request.idleTime))
        queue.monitor.broadcast { $0.interactive = state }
        request.completion(.success(info))
        let holding = WriteMemory.Holding(queue.limits.memory, of: request.client)
        InteractiveTransaction(queue: queue, writer: writer, transaction: transaction, ended: request.ended, holding: holding)
            .serve()
    }

    /// The reasons for which the writer's thread stops waiting.
    private enum Event {
        /// A request arrived.
        case step(TransactionStep)
        /// The lease has ended.
        case expired
        /// The queue is being closed.
        case closing
        /// A write in the queue may have waited long enough.
        case impatience
    }

    /// Runs requests until the transaction has ended.
    private func serve() {
        while true {
            switch nextEvent() {
            case .step(let step): if perform(step) { return }
            case .expired: return report(end(.expired))
            case .closing: return report(end(.rolledBack))
            case .impatience:
                guard let state = queue.monitor.withLock({ $0.interactive }) else { return }
                queue.refuseImpatient(state)
            }
        }
    }

    /// Waits for a request, the end of the lease, the closing of the queue, or the timeout of a waiting write.
    private func nextEvent() -> Event {
        let (wakes, known) = queue.monitor.withLock { state -> (Instant, Int) in
            let patience = state.entries.map { $0.waitEnds(queue.limits) }.min() ?? .distantFuture
            return (min(state.interactive?.ends ?? .distantFuture, patience), state.entries.count)
        }
        let event = queue.monitor.wait(until: wakes) { state -> Event? in
            if let step = state.interactive?.step {
                state.interactive?.step = nil
                return .step(step)
            }
            if state.isClosed { return .closing }
            // Writes that arrived in the meantime may time out earlier than those considered above.
            return state.entries.count == known ? nil : .impatience
        }
        if let event { return event }
        return queue.monitor.withLock { ($0.interactive?.ends ?? Instant.now()) <= Instant.now() } ? .expired : .impatience
    }

    // MARK: - Steps

    /// Runs one step, and returns whether the transaction has ended.
    private func perform(_ step: TransactionStep) -> Bool {
        switch step.action {
        case .run(let kind, let deadline, let body): return run(kind, until: deadline, body, step)
        case .commit(let details): return commit(step, details)
        case .rollBack:
            end(.rolledBack)
            step.completion(.success(nil))
        }
        return true
    }

    /// Runs the body of a request, and returns whether the transaction has ended.
    ///
    /// - Parameters:
    ///   - kind: Whether the request reads, writes or is a dry run.
    ///   - deadline: The deadline of the request; the end of the lease may come first.
    ///   - body: The operations.
    ///   - step: The request, which is completed.
    private func run(
        _ kind: TransactionStep.Kind, until deadline: Instant, _ body: (WriteSession) throws -> Void, _ step: TransactionStep
    ) -> Bool {
        let expires = queue.monitor.withLock { $0.interactive?.expires } ?? deadline
        let savepoint = kind.isRead ? nil : transaction.savepoint()
        do throws(WriteError) {
            let session = writer.makeSession(transaction, deadline: min(deadline, expires))
            defer { writer.didRun(session) }
            session.countsTransaction = true
            session.holding = holding
            do {
                try body(session)
            } catch {
                throw WriteError(caller: error)
            }
            if !kind.isRead { try session.checkDeadline() }
            if case .dryRun = kind, let savepoint { transaction.rollBack(to: savepoint) }
            release()
            step.completion(.success(nil))
            return false
        } catch {
            if let savepoint { transaction.rollBack(to: savepoint) }
            // The lease may have ended rather than the time of the request.
            let isOver = error.code == .deadlineExceeded && expires < deadline
            guard kind.endsTransaction(error) || isOver else {
                release()
                step.completion(.failure(error))
                return false
            }
            let info = end(isOver ? .expired : .aborted)
            step.completion(.failure(isOver ? WriteQueue.expired : error))
            report(info)
            return true
        }
    }

    /// Accepts the next request; the idle time starts again.
    private func release() {
        queue.monitor.withLock { state in
            guard let idle = state.interactive?.info.idleTime else { return }
            state.interactive?.isBusy = false
            state.interactive?.idleEnds = Instant.now().adding(idle)
        }
    }

    /// Commits the changes, if there are any, ends the transaction and completes the request, unless that must not commit any more.
    ///
    /// - Returns: Whether the transaction has ended.
    private func commit(_ step: TransactionStep, _ details: TransactionCommit) -> Bool {
        if let reason = details.refusal?() {
            release()
            step.completion(.failure(WriteError(caller: reason)))
            return false
        }
        do throws(WriteError) {
            let version: Version
            if transaction.hasChanges {
                transaction.requests = details.source.map { [$0] } ?? []
                version = try writer.commit(transaction, mark: details.mark)
            } else {
                try writer.confirm()
                version = writer.current
            }
            end(.committed, version)
            step.completion(.success(version))
        } catch {
            end(.aborted)
            step.completion(.failure(error))
        }
        return true
    }

    /// Notifies observers that the transaction has ended without a request.
    private func report(_ info: TransactionInfo?) {
        HeldLocks.assertNone()
        if let info { ended?(info) }
    }

    /// Ends the transaction, and remembers its outcome for later requests.
    ///
    /// - Returns: The transaction as it is remembered.
    @discardableResult private func end(_ state: TransactionInfo.State, _ version: Version? = nil) -> TransactionInfo? {
        transaction.end()
        holding.release()
        let (info, late) = queue.monitor.broadcast { queueState -> (TransactionInfo?, TransactionStep?) in
            guard var info = queueState.interactive?.info else { return (nil, nil) }
            let step = queueState.interactive?.step
            info.state = state
            info.committed = version?.token
            queueState.ended.insert(info, queue.limits)
            queueState.interactive = nil
            return (info, step)
        }
        // A request that arrived just when the lease ended.
        if let late, let info { late.completion(.failure(WriteQueue.over(info))) }
        return info
    }
}

extension InteractiveTransaction {
    /// The interactive transaction that holds the writer, as other threads see it.
    ///
    /// It is guarded by the monitor of the queue: requests store their step in it, and the writer's thread takes the step out.
    struct State: Sendable {
        /// The description of the transaction that its client receives.
        var info: TransactionInfo
        /// The client whose limit of transactions it counts against.
        let client: String?
        /// The instant at which the transaction ends even if it is in use.
        let expires: Instant
        /// The instant at which the transaction ends if no request arrives.
        var idleEnds: Instant
        /// Whether a request is running in it; a second request is rejected meanwhile.
        var isBusy = false
        /// The request that the writer's thread runs next.
        var step: TransactionStep?

        /// The instant at which the lease expires without another request.
        var ends: Instant { isBusy ? expires : min(expires, idleEnds) }
    }
}
