// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform
internal import Synchronization
internal import RealmStorage

/// The number of writes that were submitted and not completed yet. Idle checks and shutdown read it
/// without a lock.
final class PendingCount: Sendable {
    /// The number; all threads may change it.
    private let count = Atomic<Int>(0)

    /// The present number.
    var value: Int { count.load(ordering: .acquiring) }

    /// Changes the number; the difference is negative when writes are completed.
    func add(_ difference: Int) { count.wrappingAdd(difference, ordering: .acquiringAndReleasing) }
}
