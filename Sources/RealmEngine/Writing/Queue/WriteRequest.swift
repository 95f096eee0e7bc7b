// SPDX-License-Identifier: Apache-2.0

package import RealmStorage
internal import Synchronization

/// What a write asks for besides its changes.
package struct WriteRequest: Sendable {
    /// When to give up; the write is rolled back then.
    package var deadline: Instant
    /// Fails unless this is the newest version; writes ahead of it that share its commit count too.
    package var ifVersion: UInt64?
    /// Does everything, then rolls back.
    package var isDryRun = false
    /// Shares its version with no other write.
    package var isAlone = false
    /// What to do when observers have been notified of the commit; makes sense for a write that is alone.
    package var mark: CommitMark?
    /// Told how much is done, and asked whether it is still wanted.
    package var control: WorkControl?

    /// A write that gives up at `deadline`.
    package init(deadline: Instant, ifVersion: UInt64? = nil, isDryRun: Bool = false, isAlone: Bool = false) {
        self.deadline = deadline
        self.ifVersion = ifVersion
        self.isDryRun = isDryRun
        self.isAlone = isAlone
    }
}
