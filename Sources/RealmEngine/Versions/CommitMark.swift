// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform

/// An action that the writer of a commit requests for the time when the observers of the database have been notified.
///
/// A commit with a mark contains one write only, and is a separate round of notifications.
package struct CommitMark: Sendable {
    /// Called on the thread of the observation hub, after all active targets were advanced to `version` and before the end of the
    /// round is published. It must not wait. `missed` are the listeners that get the changes of the commit together with others, as too
    /// many commits wait. When others would wait too long for the change of its own, it is called once more, before these changes are
    /// delivered.
    package let didNotify: @Sendable (_ version: UInt64, _ missed: Set<ObjectIdentifier>) -> Void

    /// The listeners that get the commit as a change of its own, even if their target is delayed or idle.
    package let listeners: Set<ObjectIdentifier>

    /// The subscriptions that are not notified, by their names for clients, for the record of the commit.
    package let skips: [String]

    /// Returns whether the same clients are not notified of two commits. Without names nothing is known of them.
    func skipsSame(as other: CommitMark) -> Bool {
        !skips.isEmpty && skips.count == other.skips.count && zip(skips, other.skips).allSatisfy { $0 == $1 }
    }

    /// Makes a mark that calls `didNotify`.
    package init(
        skips: [String] = [], listeners: Set<ObjectIdentifier> = [],
        didNotify: @escaping @Sendable (_ version: UInt64, _ missed: Set<ObjectIdentifier>) -> Void
    ) {
        self.skips = skips
        self.listeners = listeners
        self.didNotify = didNotify
    }
}
