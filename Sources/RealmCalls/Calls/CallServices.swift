// SPDX-License-Identifier: Apache-2.0

package import MicroHTTP
package import RealmAccess
package import RealmEngine
package import RealmFormats
package import RealmPlatform

/// The parts of a server that all calls share. It is made when the server is made, and does not change.
package final class CallServices: Sendable {
    /// The limits of the server, as configured.
    package let liveLimits: LiveLimits
    /// The versions that clients hold as snapshots.
    package let pinned: PinnedVersions
    /// The threads for work that would delay the writer or the daemon.
    package let workers: WorkerPool
    /// Classes whose objects may only be written under a condition (`requireIfMatch`), each as `realm.Class`.
    package let conditionalClasses: Set<ByteText>
    /// Reads from a write which subscriptions are not notified of its commit; nil for all are. It fails for ids that are wrong.
    package let commitMark: @Sendable (Call, Database) -> Result<CommitMark?, Problem>

    /// Makes the services of the parts of a server.
    ///
    /// - Parameters:
    ///   - liveLimits: The limits of the server, as configured.
    ///   - pinned: The versions that clients hold as snapshots.
    ///   - workers: The threads that finish long answers.
    ///   - conditionalClasses: Classes that need conditions, each as `realm.Class`.
    ///   - commitMark: Reads which subscriptions are not notified of a write.
    package init(
        liveLimits: LiveLimits, pinned: PinnedVersions, workers: WorkerPool, conditionalClasses: Set<ByteText>,
        commitMark: @escaping @Sendable (Call, Database) -> Result<CommitMark?, Problem>
    ) {
        self.liveLimits = liveLimits
        self.pinned = pinned
        self.workers = workers
        self.conditionalClasses = conditionalClasses
        self.commitMark = commitMark
    }
}
