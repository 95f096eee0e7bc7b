// SPDX-License-Identifier: Apache-2.0

/// What all writes of a server share.
final class WriteServices: Sendable {
    let workers: WorkerPool
    /// Registrations of subscriptions, which a write may ask not to notify.
    let registrations: RegistrationTable
    /// Classes, as `realm.Class`, whose objects are only written under a condition.
    let conditionalClasses: Set<String>

    init(workers: WorkerPool, registrations: RegistrationTable, conditionalClasses: Set<String>) {
        self.workers = workers
        self.registrations = registrations
        self.conditionalClasses = conditionalClasses
    }
}
