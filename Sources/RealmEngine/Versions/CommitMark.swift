// SPDX-License-Identifier: Apache-2.0

/// What the writer of a commit wants done when the observers of the database have been notified of the commit.
///
/// A commit with a mark has one writer, and is a round of notifications by itself.
package struct CommitMark: Sendable {
    /// Called on the thread of the observation hub, after all active targets were advanced to `version` and before the end of the
    /// round is published. It must not wait. It is not called when the commit was merged with others because too many wait.
    package let didNotify: @Sendable (_ version: UInt64) -> Void

    /// A mark that calls `didNotify`.
    package init(didNotify: @escaping @Sendable (_ version: UInt64) -> Void) { self.didNotify = didNotify }
}
