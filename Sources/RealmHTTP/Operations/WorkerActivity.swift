// SPDX-License-Identifier: Apache-2.0

internal import RealmStorage
internal import Synchronization

/// How many jobs wait or run, for those who look without a lock.
final class WorkerActivity: Sendable {
    private let value = Atomic<Int>(0)

    /// Jobs that wait or run. May be a moment old.
    var count: Int { value.load(ordering: .relaxed) }

    /// Counts jobs that were queued.
    func add(_ count: Int) { value.add(count, ordering: .relaxed) }
    /// Counts jobs that are done, or were dropped.
    func subtract(_ count: Int) { value.subtract(count, ordering: .relaxed) }
}
