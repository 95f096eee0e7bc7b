// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform
package import RealmStorage

/// One commit: the versions before and after it, and the changes in between.
///
/// `EventFeed` passes it to its observers on the writer's thread.
package struct Commit: Sendable {
    /// The version that the transaction started from.
    package let previous: Version
    /// The version that the commit made. It is the newest version when observers are called.
    package let version: Version
    /// The changes of objects and collections, in the order in which they were made.
    package let changes: [ObjectChange]
    /// Whether the changes could not be found out, so that observers have to read their contents again.
    package var hasUnknownChanges = false
    /// The action that the writer requested for the time after observers were notified. A commit with a
    /// mark contains one write only.
    package let mark: CommitMark?
}
