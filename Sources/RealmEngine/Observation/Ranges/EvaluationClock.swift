// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform
internal import RealmQuery
internal import Synchronization

/// Limits the time for which the thread of a hub evaluates one target, because all other targets wait meanwhile.
///
/// The hub's thread starts it; the thread that closes the hub may stop it. Each target has a clock of its own for evaluations on other
/// threads, which follows that of the hub at all other times.
final class EvaluationClock: Sendable {
    /// The longest time that the evaluation of one target may take.
    private let limit: Duration
    /// The end of the present evaluation as an `Instant` in nanoseconds.
    private let end = Atomic<UInt64>(.max)
    /// Whether all evaluations are to end, because the hub is being closed.
    private let isStopped = Atomic<Bool>(false)

    /// The caller of the present evaluation; nil if unknown.
    private let caller = RankedMutex<Caller?>(.leaf, nil)

    /// The caller of an evaluation. A closure alone would be wrapped once more by every look at the mutex.
    private struct Caller: Sendable {
        /// Returns whether the result is still wanted.
        let isWanted: @Sendable () -> Bool
    }

    /// The clock of the hub, for an evaluation on another thread; nil for the clock of a hub itself.
    private let hub: EvaluationClock?
    /// Whether the clock of the hub counts from now on.
    private let isHandedOver = Atomic<Bool>(false)

    /// Makes a clock that allows `limit` for each evaluation.
    ///
    /// - Parameters:
    ///   - limit: The longest time of an evaluation.
    ///   - hub: The clock of the hub for an evaluation on another thread, which ends when that clock is stopped.
    init(limit: Duration, followedBy hub: EvaluationClock? = nil) {
        self.limit = limit
        self.hub = hub
    }

    /// Has the clock of the hub count until this one is started again. The client that waits for the first one is not asked about them.
    func handOver() {
        caller.withLock { $0 = nil }
        isHandedOver.store(true, ordering: .releasing)
    }

    /// Starts the time of one evaluation; called before each by the thread that makes it.
    ///
    /// - Parameters:
    ///   - deadline: When the evaluation ends in any case.
    ///   - isWanted: Returns whether the result is still wanted.
    func start(until deadline: Instant = .distantFuture, isWanted: (@Sendable () -> Bool)? = nil) {
        isHandedOver.store(false, ordering: .releasing)
        caller.withLock { $0 = isWanted.map { Caller(isWanted: $0) } }
        end.store(min(Instant.now().adding(limit), deadline).nanoseconds, ordering: .relaxed)
    }

    /// Ends the present evaluation, and all later ones at once.
    func stop() { isStopped.store(true, ordering: .relaxed) }

    /// Whether the evaluation has time left, is still wanted and was not stopped. All threads may read it.
    var mayContinue: Bool {
        if let hub {
            if isHandedOver.load(ordering: .acquiring) { return hub.mayContinue }
            guard !hub.isStopped.load(ordering: .relaxed) else { return false }
        }
        guard !isStopped.load(ordering: .relaxed), Instant.now().nanoseconds < end.load(ordering: .relaxed) else { return false }
        return caller.withLock { $0 }?.isWanted() ?? true
    }

    /// The check that queries make at intervals.
    var check: BoundQuery.Check { { [self] in mayContinue } }

    /// Checks the time once in 256 steps of a loop that is not a query.
    ///
    /// - Throws: `QueryError.cancelled` when the evaluation has to end.
    func step(_ index: Int) throws(QueryError) {
        if index & 0xff == 0, !mayContinue { throw .cancelled }
    }

    /// Checks the time like `step`, in a loop that reads storage.
    ///
    /// - Parameter index: The index of the step.
    /// - Throws: `.stopped(.expired)` when the evaluation has to end.
    func read(_ index: Int) throws(StorageError) {
        if index & 0xff == 0, !mayContinue { throw .stopped(.expired) }
    }
}
