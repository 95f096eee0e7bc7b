// SPDX-License-Identifier: Apache-2.0

internal import RealmStorage
internal import Synchronization

/// How many writes are not answered yet.
final class PendingCount: Sendable {
    private let count = Atomic<Int>(0)

    var value: Int { count.load(ordering: .acquiring) }

    func add(_ difference: Int) { count.wrappingAdd(difference, ordering: .acquiringAndReleasing) }
}
