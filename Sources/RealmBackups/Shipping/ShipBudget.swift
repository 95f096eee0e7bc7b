// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform
internal import Synchronization
internal import RealmStorage

/// The memory that records of all realms take while they wait to be shipped.
package final class ShipBudget: Sendable {
    /// The greatest number of bytes.
    package let limit: Int
    /// The number of bytes that wait at present.
    private let used = Atomic<Int>(0)

    /// Makes a budget of so many bytes.
    package init(limit: Int) { self.limit = limit }

    /// The number of bytes that wait at present.
    package var usedBytes: Int { used.load(ordering: .relaxed) }

    /// Takes bytes of the budget; false when there are not so many.
    package func take(_ byteCount: Int) -> Bool {
        guard used.add(byteCount, ordering: .relaxed).newValue <= limit else {
            used.subtract(byteCount, ordering: .relaxed)
            return false
        }
        return true
    }

    /// Gives bytes back.
    package func give(_ byteCount: Int) { used.subtract(byteCount, ordering: .relaxed) }
}
