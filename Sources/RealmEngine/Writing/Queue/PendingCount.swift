// SPDX-License-Identifier: Apache-2.0

internal import RealmStorage
internal import Synchronization

/// How many writes are not answered yet.
final class PendingCount: Sendable {
    /// The count; any thread may change it.
    private let count = Atomic<Int>(0)

    /// The count now.
    var value: Int { count.load(ordering: .acquiring) }

    /// Changes the count; negative when writes are answered.
    func add(_ difference: Int) { count.wrappingAdd(difference, ordering: .acquiringAndReleasing) }
}
