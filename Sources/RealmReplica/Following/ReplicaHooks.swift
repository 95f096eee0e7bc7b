// SPDX-License-Identifier: Apache-2.0

package import RealmEngine
package import RealmPlatform

/// Callbacks of a follower to the host of its realm, on a thread of the follower and without a lock.
package struct ReplicaHooks: Sendable {
    /// Releases leases and slow streams that pin versions up to the given one. Other readers are left alone; the realm then
    /// continues in a file of its own.
    package var endReaders: @Sendable (_ version: UInt64) -> Void = { _ in }
    /// Makes the mark of a commit of the names of those that are not notified of it; nil when none of them is known here.
    package var mark: @Sendable (_ skips: [String]) -> CommitMark? = { _ in nil }
    /// Called once, when the realm cannot be followed any more in this opening.
    package var didEnd: @Sendable (ReplicaHooks.End) -> Void = { _ in }

    /// Makes hooks that do nothing.
    package init() {}
}

extension ReplicaHooks {
    /// Why a realm cannot be followed any more. It has to be closed; all but `missing` may be opened again at once.
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
