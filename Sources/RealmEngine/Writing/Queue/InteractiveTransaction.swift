// SPDX-License-Identifier: Apache-2.0

internal import RealmStorage

/// A transaction that a client holds over several requests, run by the writer thread.
///
/// The writer waits for the next request, the end of the lease, or the patience of those who queue. Requests come one
/// at a time through `InteractiveState.step`.
///
/// It ends when its client commits or rolls back, when a write in it fails, when its lease ends, or when the database is
/// closed. Until then the writer thread belongs to it; whatever else waits for the writer is refused as soon as it has waited
/// for too long.
struct InteractiveTransaction {
    /// The queue, whose monitor has the step of the next request.
    private let queue: WriteQueue
    /// The database.
    private let writer: any WriteBackend
    /// The transaction that is held.
    private let transaction: WriteTransaction

    /// Begins the transaction, answers `request`, and returns when the transaction is over.
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
        let state = InteractiveState(
            info: info, client: request.client, expires: now.adding(request.lifetime),
            idleEnds: now.adding(request.idleTime))
        queue.monitor.broadcast { $0.interactive = state }
        request.completion(.success(info))
        InteractiveTransaction(queue: queue, writer: writer, transaction: transaction).serve()
    }

    /// What ends the wait of the writer.
    private enum Event {
        case step(TransactionStep)
        case expired
        case closing
        /// A write in the queue may have waited long enough.
        case impatience
    }

    /// Runs requests until the transaction is over.
    private func serve() {
        while true {
            switch nextEvent() {
            case .step(let step): if perform(step) { return }
            case .expired: return end(.expired)
            case .closing: return end(.rolledBack)
            case .impatience:
                guard let state = queue.monitor.withLock({ $0.interactive }) else { return }
                queue.refuseImpatient(state)
            }
        }
    }

    /// Waits for a request, the end of the lease, the end of the queue, or the end of the patience of a write in the queue.
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
            // Newcomers may be less patient than those whose time was looked at.
            return state.entries.count == known ? nil : .impatience
        }
        if let event { return event }
        return queue.monitor.withLock { ($0.interactive?.ends ?? Instant.now()) <= Instant.now() } ? .expired : .impatience
    }

    // MARK: - Steps

    /// Returns whether the transaction is over.
    private func perform(_ step: TransactionStep) -> Bool {
        switch step.action {
        case .run(let kind, let deadline, let body): return run(kind, until: deadline, body, step)
        case .commit(let mark): commit(step, mark)
        case .rollBack:
            end(.rolledBack)
            step.completion(.success(nil))
        case .abort:
            end(.aborted)
            step.completion(.success(nil))
        }
        return true
    }

    /// Runs the body of a request; returns whether the transaction is over.
    private func run(
        _ kind: TransactionStep.Kind, until deadline: Instant, _ body: (WriteSession) throws -> Void, _ step: TransactionStep
    ) -> Bool {
        let expires = queue.monitor.withLock { $0.interactive?.expires } ?? deadline
        let savepoint = kind == .dryRun ? transaction.savepoint() : nil
        do throws(WriteError) {
            let session = writer.makeSession(transaction, deadline: min(deadline, expires))
            defer { writer.didRun(session) }
            do {
                try body(session)
            } catch {
                throw WriteError(caller: error)
            }
            if kind != .read { try session.checkDeadline() }
            if let savepoint { transaction.rollBack(to: savepoint) }
            release()
            step.completion(.success(nil))
            return false
        } catch {
            if let savepoint { transaction.rollBack(to: savepoint) }
            // What ran out may have been the lease, and not the time of the request.
            let isOver = error.code == .deadlineExceeded && expires < deadline
            guard kind == .write || isOver else {
                release()
                step.completion(.failure(error))
                return false
            }
            end(isOver ? .expired : .aborted)
            step.completion(.failure(isOver ? WriteQueue.expired : error))
            return true
        }
    }

    /// Lets the next request in; the idle time starts again.
    private func release() {
        queue.monitor.withLock { state in
            guard let idle = state.interactive?.info.idleTime else { return }
            state.interactive?.isBusy = false
            state.interactive?.idleEnds = Instant.now().adding(idle)
        }
    }

    /// Makes the changes durable, if there are any, and answers.
    private func commit(_ step: TransactionStep, _ mark: CommitMark?) {
        do throws(WriteError) {
            let version = transaction.hasChanges ? try writer.commit(transaction, mark: mark) : writer.current
            end(.committed, version)
            step.completion(.success(version))
        } catch {
            end(.aborted)
            step.completion(.failure(error))
        }
    }

    /// Ends the transaction and remembers what became of it.
    private func end(_ state: TransactionInfo.State, _ version: Version? = nil) {
        transaction.end()
        let late = queue.monitor.broadcast { queueState -> (step: TransactionStep, info: TransactionInfo)? in
            guard var info = queueState.interactive?.info else { return nil }
            let step = queueState.interactive?.step
            info.state = state
            info.committed = version?.token
            queueState.ended.insert(info, queue.limits)
            queueState.interactive = nil
            return step.map { ($0, info) }
        }
        // A request that came just when the lease ended.
        if let late { late.step.completion(.failure(WriteQueue.over(late.info))) }
    }
}
