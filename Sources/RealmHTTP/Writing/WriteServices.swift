// SPDX-License-Identifier: Apache-2.0

internal import RealmFormats
internal import RealmPlatform
internal import RealmStorage

/// What all writes of a server share. It is made when the server is made, and does not change.
final class WriteServices: Sendable {
    /// The threads that finish what would delay the writer or the daemon.
    let workers: WorkerPool
    /// The registrations of change subscriptions, which a write may exclude from being notified.
    let registrations: RegistrationTable
    /// Classes whose objects may only be written under a condition (`requireIfMatch`), each as
    /// `realm.Class`.
    let conditionalClasses: Set<ByteText>
    /// Whether other nodes may serve the same realms.
    let isInCluster: Bool

    /// Creates the services of writes from the parts of a server.
    ///
    /// - Parameters:
    ///   - workers: The threads that finish long answers.
    ///   - registrations: The registrations of change subscriptions.
    ///   - conditionalClasses: Classes that need conditions, each as `realm.Class`.
    ///   - isInCluster: Whether other nodes may serve the same realms.
    init(workers: WorkerPool, registrations: RegistrationTable, conditionalClasses: Set<ByteText>, isInCluster: Bool) {
        self.workers = workers
        self.registrations = registrations
        self.conditionalClasses = conditionalClasses
        self.isInCluster = isInCluster
    }
}
