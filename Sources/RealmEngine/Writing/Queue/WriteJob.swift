// SPDX-License-Identifier: Apache-2.0

internal import RealmStorage
internal import Synchronization

/// One write in the queue: a closure, and who waits for it.
///
/// `@unchecked Sendable`: `value` in the closures belongs to the writer thread, `pending` is set before the job is handed
/// over, the rest is immutable or guarded.
///
/// Its stage goes from waiting to running to finished, or from waiting to finished when it is cancelled or refused. Each
/// transition is one atomic exchange, so cancelling and starting cannot both succeed, and the completion is called exactly
/// once.
final class WriteJob: @unchecked Sendable {
    /// What the writer thread has to say of a job.
    typealias Outcome = Result<(version: Version, isCommitted: Bool), WriteError>

    /// What it asks for besides its changes.
    let request: WriteRequest
    /// When it entered the queue.
    let submitted = Instant.now()
    /// What it does; keeps the value that it returns.
    private let body: (WriteSession) throws -> Void
    /// Called once, on the writer thread or on that which refuses or cancels it.
    private let completion: (Outcome) -> Void
    /// Called when it can no longer be cancelled.
    private let didStart: @Sendable () -> Void
    /// See `Stage`.
    private let stage = Atomic<UInt8>(0)
    /// Counts the writes that are not answered; set when the job enters a queue.
    private var pending: PendingCount?

    /// Whether it waits, runs or is over.
    private enum Stage { static let waiting: UInt8 = 0, running: UInt8 = 1, finished: UInt8 = 2 }

    /// A write whose body returns a value; `didStart` is called on the writer thread when it can no longer be cancelled.
    init<Value: Sendable>(
        _ request: WriteRequest, _ body: @escaping @Sendable (WriteSession) throws -> Value,
        didStart: @escaping @Sendable () -> Void = {},
        completion: @escaping @Sendable (Result<WriteReceipt<Value>, WriteError>) -> Void
    ) {
        self.request = request
        self.didStart = didStart
        var value: Value?
        self.body = { session in value = try body(session) }
        self.completion = { outcome in
            switch outcome {
            case .failure(let error): completion(.failure(error))
            case .success(let end):
                guard let value else { return completion(.failure(WriteError(.cancelled, "the write never ran"))) }
                completion(.success(WriteReceipt(value: value, version: end.version, isCommitted: end.isCommitted)))
            }
        }
    }

    /// Counts the job as pending until just before it is answered.
    func enter(_ count: PendingCount) {
        count.add(1)
        pending = count
    }

    /// Calls the completion; no lock is held then.
    private func answer(_ outcome: Outcome) {
        pending?.add(-1)
        HeldLocks.assertNone()
        completion(outcome)
    }

    /// Whether the job may run now: it was not cancelled.
    func start() -> Bool {
        guard stage.compareExchange(expected: Stage.waiting, desired: Stage.running, ordering: .acquiringAndReleasing).exchanged
        else { return false }
        didStart()
        return true
    }

    /// Takes the job back if it has not begun; its completion is called with `cancelled`.
    func cancel() -> Bool {
        guard stage.compareExchange(expected: Stage.waiting, desired: Stage.finished, ordering: .acquiringAndReleasing).exchanged
        else { return false }
        answer(.failure(WriteError(.cancelled, "the write was cancelled before it began")))
        return true
    }

    /// Whether it is over before it began.
    var isCancelled: Bool { stage.load(ordering: .acquiring) == Stage.finished }

    /// Fails a job that waits; nothing happens to one that was cancelled.
    func refuse(_ error: WriteError) {
        guard stage.exchange(Stage.finished, ordering: .acquiringAndReleasing) != Stage.finished else { return }
        answer(.failure(error))
    }

    /// Runs the body; throws what it threw, or that it took too long.
    func run(_ session: WriteSession) throws(WriteError) {
        do {
            try body(session)
        } catch {
            throw WriteError(caller: error)
        }
        try session.checkDeadline()
    }

    /// Answers a job that has begun.
    func finish(_ outcome: Outcome) {
        stage.store(Stage.finished, ordering: .releasing)
        answer(outcome)
    }
}
