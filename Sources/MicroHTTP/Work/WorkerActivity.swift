// SPDX-License-Identifier: Apache-2.0

internal import RealmFormats
internal import RealmPlatform
internal import RealmStorage
internal import Synchronization

/// The number of jobs of a worker pool, readable without its lock.
///
/// The daemon's threads read it before they answer a read themselves: a client with jobs in the pool
/// gets less of their time.
final class WorkerActivity: Sendable {
    /// The number of jobs of the pool that wait or run.
    private let value = Atomic<Int>(0)

    /// The number of jobs of the pool that wait or run. The value may be slightly out of date.
    package var count: Int { value.load(ordering: .relaxed) }

    /// Counts jobs that were queued for the workers.
    package func add(_ count: Int) { value.add(count, ordering: .relaxed) }
    /// Counts jobs of the workers that have ended or were dropped.
    package func subtract(_ count: Int) { value.subtract(count, ordering: .relaxed) }
}
