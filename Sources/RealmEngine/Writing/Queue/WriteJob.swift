// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform
internal import RealmStorage
internal import Synchronization

/// One write in the queue: a closure with the completion of its caller.
///
/// `@unchecked Sendable`: the `value` in the closures belongs to the writer's thread, `pending` is set
/// before the job is passed on, and the rest is immutable or atomic.
///
/// Its stage changes from waiting to running to finished, or from waiting to finished when it is
/// cancelled or rejected. Each transition is one atomic exchange, so cancelling and starting cannot both
/// succeed, and the completion is called exactly once.
final class WriteJob: @unchecked Sendable {
    /// The result of a job as the writer's thread reports it.
    typealias Outcome = Result<(version: Version, isCommitted: Bool), WriteError>

    /// The options of the write.
    let request: WriteRequest
    /// The instant at which it entered the queue.
    let submitted = Instant.now()
    /// The operations; the closure stores the value that they return.
    private let body: (WriteSession) throws -> Void
    /// Called once, on the writer's thread or on the thread that rejects or cancels the job.
    private let completion: (Outcome) -> Void
    /// Called when the job can no longer be cancelled.
    private let didStart: @Sendable () -> Void
    /// One of the values of `Stage`.
    private let stage = Atomic<UInt8>(0)
    /// The counter of uncompleted writes; set when the job enters a queue.
    private var pending: WriteJob.PendingCount?

    private enum Stage { static let waiting: UInt8 = 0, running: UInt8 = 1, finished: UInt8 = 2 }

    /// Makes a job.
    ///
    /// - Parameters:
    ///   - request: The options of the write.
    ///   - body: The operations, run on the writer's thread; its value is passed to the completion.
    ///   - didStart: Called on the writer's thread when the job can no longer be cancelled.
    ///   - completion: Receives the receipt after the commit is durable, or the error.
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

    /// Counts the job as pending until just before its completion is called.
    func enter(_ count: WriteJob.PendingCount) {
        count.add(1)
        pending = count
    }

    /// Calls the completion; no lock may be held.
    private func answer(_ outcome: Outcome) {
        pending?.add(-1)
        HeldLocks.assertNone()
        completion(outcome)
    }

    /// Marks the job as running; returns false when it was cancelled before.
    func start() -> Bool {
        guard stage.compareExchange(expected: Stage.waiting, desired: Stage.running, ordering: .acquiringAndReleasing).exchanged
        else { return false }
        didStart()
        return true
    }

    /// Cancels the job if it has not begun; its completion then receives `cancelled`.
    ///
    /// - Returns: Whether it was cancelled by this call.
    func cancel() -> Bool { refuseIfWaiting(WriteError(.cancelled, "the write was cancelled before it began")) }

    /// Completes the job with an error if it has not begun, so that it never runs.
    ///
    /// - Returns: Whether it was completed by this call.
    @discardableResult func refuseIfWaiting(_ error: WriteError) -> Bool {
        guard stage.compareExchange(expected: Stage.waiting, desired: Stage.finished, ordering: .acquiringAndReleasing).exchanged
        else { return false }
        answer(.failure(error))
        return true
    }

    /// Whether it waits: it has neither begun nor finished.
    var isWaiting: Bool { stage.load(ordering: .acquiring) == Stage.waiting }

    /// Whether it has finished without running, because it was cancelled or waited too long.
    var isCancelled: Bool { stage.load(ordering: .acquiring) == Stage.finished }

    /// Completes a waiting job with an error; a cancelled job is left alone.
    func refuse(_ error: WriteError) {
        guard stage.exchange(Stage.finished, ordering: .acquiringAndReleasing) != Stage.finished else { return }
        answer(.failure(error))
    }

    /// Runs the closure; throws its error, or `deadlineExceeded` when it took too long.
    func run(_ session: WriteSession) throws(WriteError) {
        do {
            try body(session)
        } catch {
            throw WriteError(caller: error)
        }
        try session.checkDeadline()
    }

    /// Completes a job that has begun.
    func finish(_ outcome: Outcome) {
        stage.store(Stage.finished, ordering: .releasing)
        answer(outcome)
    }
}

extension WriteJob {
    /// The number of writes that were submitted and not completed yet. Idle checks and shutdown read it without a lock.
    final class PendingCount: Sendable {
        /// The number; all threads may change it.
        private let count = Atomic<Int>(0)

        /// The present number.
        var value: Int { count.load(ordering: .acquiring) }

        /// Changes the number; the difference is negative when writes are completed.
        func add(_ difference: Int) { count.wrappingAdd(difference, ordering: .acquiringAndReleasing) }
    }
}
