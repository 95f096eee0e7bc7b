// SPDX-License-Identifier: Apache-2.0

internal import RealmStorage

/// An action that the writer of a commit requests for the time when the observers of the database have
/// been notified.
///
/// A commit with a mark contains one write only, and is a round of notifications by itself.
package struct CommitMark: Sendable {
    /// Called on the thread of the observation hub, after all active targets were advanced to `version` and before the end of the
    /// round is published. It must not wait. It is not called when the commit was merged with others because too many wait.
    package let didNotify: @Sendable (_ version: UInt64) -> Void

    /// What is not notified, by the names that clients have for it, for the record of the commit.
    package let skips: [String]

    /// Makes a mark that calls `didNotify`.
    package init(skips: [String] = [], didNotify: @escaping @Sendable (_ version: UInt64) -> Void) {
        self.skips = skips
        self.didNotify = didNotify
    }
}
