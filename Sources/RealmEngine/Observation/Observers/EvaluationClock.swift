// SPDX-License-Identifier: Apache-2.0

internal import RealmQuery
internal import RealmStorage
internal import Synchronization

/// Bounds how long the thread of a hub looks at one target: all others wait meanwhile.
final class EvaluationClock: Sendable {
    /// How long one evaluation may take.
    private let limit: Duration
    /// In nanoseconds.
    private let end = Atomic<UInt64>(.max)
    /// Whether nothing is evaluated any more.
    private let isStopped = Atomic<Bool>(false)

    /// Each evaluation may take `limit`.
    init(limit: Duration) { self.limit = limit }

    /// The time of one evaluation begins.
    func start() { end.store(Instant.now().adding(limit).nanoseconds, ordering: .relaxed) }

    /// Ends the evaluation that is going on, and all that follow.
    func stop() { isStopped.store(true, ordering: .relaxed) }

    /// Whether the evaluation has time left and was not stopped. May be asked from any thread.
    var mayGoOn: Bool {
        !isStopped.load(ordering: .relaxed) && Instant.now().nanoseconds < end.load(ordering: .relaxed)
    }

    /// What queries ask now and then.
    var check: BoundQuery.Check { { [self] in mayGoOn } }

    /// For loops that are no queries.
    func step(_ index: Int) throws(QueryError) {
        if index & 0xff == 0, !mayGoOn { throw .cancelled }
    }
}
