// SPDX-License-Identifier: Apache-2.0

package import RealmEngine
package import RealmPlatform

/// What a follower asks of whoever serves its realm. The functions are called on a thread of the follower, without a lock.
package struct ReplicaHooks: Sendable {
    /// Ends what keeps a version of the realm up to the given one: leases, and streams that are far behind. Readers that do not
    /// end are left alone; the realm then goes on in a file of its own.
    package var endReaders: @Sendable (_ version: UInt64) -> Void = { _ in }
    /// Makes the mark of a commit of the names of those that are not notified of it; nil when none of them is known here.
    package var mark: @Sendable (_ skips: [String]) -> CommitMark? = { _ in nil }
    /// Called once, when the realm cannot be followed any further in this opening.
    package var didEnd: @Sendable (ReplicaHooks.End) -> Void = { _ in }

    /// Makes hooks that do nothing.
    package init() {}
}

extension ReplicaHooks {
    /// Why a realm cannot be followed any further. It has to be closed; all but `missing` may be opened again at once.
    package enum End: Sendable, Equatable {
        /// The log does not know the realm any more.
        case missing
        /// The log has another history, with versions of numbers that were used already: of a realm that was restored, or of a log
        /// that has lost what was seen of it.
        case replaced
        /// The file was closed, or another program has changed it.
        case file(StorageError)
    }
}
