// SPDX-License-Identifier: Apache-2.0

internal import MicroHTTP
internal import RealmAccess
internal import RealmCalls
internal import RealmEngine
internal import RealmFormats
internal import RealmHosting
internal import RealmPlatform
internal import RealmStorage
internal import Synchronization

/// Propagates revoked and expired credentials within a second.
///
/// Everything begun with such a credential ends, and so does everything begun without one before there were any. Twice a second,
/// on the thread of the timer, it checks whether the file of keys has changed, and ends the streams and polls of ended
/// principals, and the leases of those that cannot return. The file is short, and read only when it has changed. Times of use are
/// stored by a worker.
final class AccessWatch: Sendable {
    /// The keys, sessions and failures of the server.
    private let authenticator: Authenticator
    /// The streams and polls.
    private let notifications: ChangeService
    /// The transactions and snapshots.
    private let leases: LeaseRegistry
    /// The realms, for which writes wait.
    private let catalog: Catalog
    /// The timer whose thread looks.
    private let timers: TimerQueue
    /// The pool that stores times of use, which waits for the disk.
    private let workers: WorkerPool
    /// The log for a file that cannot be read; nil for none.
    private let log: AccessLog?
    /// Reports roles that do not fit the schema of a realm.
    private let roles: RoleWatch
    /// Whether `stop` was called.
    private let isStopped = Atomic<Bool>(false)
    private let looks = Atomic<Int>(0)
    /// The seconds between two looks.
    private static let pauseSeconds = 0.5
    /// The number of looks between two searches for sessions that are over.
    private static let looksBetweenSweeps = 120

    /// Takes the parts of a server. It does nothing until it is started.
    init(_ state: ServerState) {
        authenticator = state.authenticator
        notifications = state.notifications
        leases = state.leases
        catalog = state.catalog
        timers = state.timers
        workers = state.workers
        log = state.accessLog
        roles = RoleWatch(state)
    }

    /// Begins to look.
    func start() {
        if let failure = authenticator.keys.failure { logUnreadable(failure) }
        checkLater()
    }

    /// Ends looking, and stores when keys were used.
    func stop() {
        isStopped.store(true, ordering: .releasing)
        authenticator.keys.storeUses()
    }

    /// Sets the timer for the next look.
    private func checkLater() {
        timers.set(at: Instant.now().adding(seconds: AccessWatch.pauseSeconds)) { [weak self] in
            guard let self, !isStopped.load(ordering: .acquiring) else { return }
            check()
            checkLater()
        }
    }

    /// Looks once.
    private func check() {
        if roles.isNeeded { _ = workers.submitContinuation(for: WorkerPool.server) { [roles] in roles.check() } }
        let keys = authenticator.keys
        if let failure = keys.refresh() { logUnreadable(failure) }
        guard authenticator.hasCredentials else { return }
        authenticator.endAnonymousPrincipals()
        notifications.endOutdated()
        leases.endOutdated()
        refuseWrites()
        if looks.add(1, ordering: .relaxed).newValue % AccessWatch.looksBetweenSweeps == 0 { authenticator.sessions.sweep() }
        guard keys.isStoreDue else { return }
        _ = workers.submitContinuation(for: WorkerPool.server) { keys.storeUses() }
    }

    /// Lets a worker refuse the waiting writes, if there are any, of senders whose credential has ended.
    private func refuseWrites() {
        guard catalog.hasPendingWrites else { return }
        _ = workers.submitContinuation(for: WorkerPool.server) { [catalog] in catalog.refuseOutdatedWrites() }
    }

    /// Logs why the file of keys cannot be read.
    private func logUnreadable(_ failure: String) { log?.note("keys_unreadable", realm: "", failure, level: .error) }
}
