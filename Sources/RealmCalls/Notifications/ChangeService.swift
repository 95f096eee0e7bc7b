// SPDX-License-Identifier: Apache-2.0

package import MicroHTTP
package import RealmAccess
package import RealmEngine
package import RealmFormats
package import RealmPlatform
internal import RealmStorage
internal import Synchronization

/// The notifications of all realms of a server: the entry for requests about changes.
///
/// There is one for a server. It makes a `RealmNotifications` for a realm at the first request,
/// ends it with the realm, and ends registrations that expire. Any thread may call it.
package final class ChangeService: Sendable {
    /// Counts the streams and waiting polls, in all and per client.
    package let slots: StreamSlots
    /// The registered subscriptions of all realms of the server.
    package let registrations: RegistrationTable
    /// Counts encoded, reset and replayed change sets of all realms.
    let metrics = NotificationMetrics()
    private let liveLimits: LiveLimits
    /// The limits in force.
    private var limits: Limits { liveLimits.current }
    /// The timer for polls, registrations and unused feeds.
    private let timers: TimerQueue
    /// The pool whose workers write snapshots for streams and polls, which may be long.
    private let workers: WorkerPool

    /// A realm as the subscribers of one scope see it.
    private struct View: Hashable {
        let database: ObjectIdentifier
        /// The identity of the scope; nil for subscribers who see everything.
        let scope: String?
    }

    /// The notifications by realm and the state of the service, guarded by the lock.
    private struct State {
        /// The notifications of each realm that was observed, for each scope of subscribers.
        var realms: [View: RealmNotifications] = [:]
        /// Whether the server is stopping, so that no realm can be observed anymore.
        var isEnding = false
        /// Whether a timer is set that ends registrations which have expired.
        var willSweep = false
        /// Whether a worker is about to evict the unused feeds of all realms.
        var willMakeRoom = false
        /// The views whose notifications a timer checks, to end them if they are unused.
        var watched: Set<View> = []
    }

    private let state = RankedMutex(.changeService, State())

    /// Makes a service without any observed realm.
    ///
    /// - Parameters:
    ///   - timers: The timer for polls, registrations and unused feeds.
    ///   - workers: The pool that writes snapshots.
    package init(_ limits: LiveLimits, _ timers: TimerQueue, _ workers: WorkerPool) {
        liveLimits = limits
        self.timers = timers
        self.workers = workers
        slots = StreamSlots(limits)
        registrations = RegistrationTable(limits)
    }

    /// Returns the notifications of a realm, and begins them at the first call.
    ///
    /// - Parameters:
    ///   - database: The open realm.
    ///   - scope: The readable part of the realm; nil for everything.
    /// - Throws: `shutting_down` when the server is stopping.
    package func notifications(of database: Database, for scope: (any VersionScope)?) throws(Problem) -> RealmNotifications {
        let view = View(database: ObjectIdentifier(database), scope: scope?.identity)
        let (notifications, isNew) = state.withLock { state -> (RealmNotifications?, Bool) in
            guard !state.isEnding else { return (nil, false) }
            if let known = state.realms[view] { return (known, false) }
            let notifications = RealmNotifications(
                database, scope: scope, limits: liveLimits, metrics: metrics, timers: timers,
                submit: { [workers] client, job in workers.submitContinuation(for: client, job) },
                didRunEmpty: { [weak self, name = database.name.text] in self?.watch(view, ofRealm: name) },
                dropExcess: { [weak self] in self?.dropExcess() }, makeRoom: { [weak self] in self?.makeRoom() },
                makeRoomSoon: { [weak self] in self?.makeRoomSoon() })
            state.realms[view] = notifications
            return (notifications, true)
        }
        guard let notifications else { throw Problem(.shuttingDown, "the server is shutting down") }
        // The request may name something unknown, and then uses them for nothing.
        if isNew { watch(view, ofRealm: database.name.text) }
        return notifications
    }

    // MARK: - Unused notifications

    /// The delay of that check in seconds. Clients that retry within it find the notifications.
    private static let secondsToLook = 1.0

    /// Schedules a check that ends the notifications of a scope if they are unused. Notifications without a scope stay as long as the realm.
    private func watch(_ view: View, ofRealm name: String) {
        guard view.scope != nil, state.withLock({ $0.watched.insert(view).inserted }) else { return }
        timers.set(at: Instant.now().adding(seconds: ChangeService.secondsToLook)) { [weak self] in
            // Ending a hub may wait for its thread.
            _ = self?.workers.submitContinuation(for: "realm " + name) { [weak self] in self?.endWatch(of: view, ofRealm: name) }
        }
    }

    /// Ends the notifications of a scope if they are unused, and checks again later if a request still refers to them.
    private func endWatch(of view: View, ofRealm name: String) {
        state.withLock { _ = $0.watched.remove(view) }
        release(view)
        // Notifications that are used again are watched again when their last reader leaves.
        if state.withLock({ $0.realms[view]?.isUnused }) == true { watch(view, ofRealm: name) }
    }

    /// Evicts unused feeds of all realms when more are unused than may be kept, or when all feeds take more than half of the memory
    /// that they may. Those that were unused for longest go first, and an eighth more of them than necessary, so that the search is not
    /// repeated at each release.
    private func dropExcess() {
        let limit = limits.idleDefinitions
        let bytes = ObservedMemory.shared.byteCount - limits.observedBytes / 2
        guard metrics.idleFeeds.load(ordering: .relaxed) > limit || bytes > 0 else { return }
        let unused = realms.flatMap { realm in realm.unusedFeeds.map { (realm: realm, feed: $0.feed, since: $0.since) } }
            .sorted { $0.since < $1.since }
        let number = unused.count > limit ? unused.count - limit + limit / 8 : 0
        var freed = 0
        for (count, entry) in unused.enumerated() {
            guard count < number || freed < bytes else { break }
            freed += entry.feed.byteCount
            entry.realm.drop(entry.feed)
        }
    }

    /// Evicts the unused feeds of all realms.
    private func makeRoom() { for realm in realms { realm.dropIdle() } }

    /// Lets a worker evict the unused feeds of all realms, unless one is about to.
    private func makeRoomSoon() {
        let isFirst = state.withLock { state -> Bool in
            defer { state.willMakeRoom = true }
            return !state.willMakeRoom
        }
        guard isFirst else { return }
        _ = workers.submitContinuation(for: WorkerPool.server) { [weak self] in
            self?.state.withLock { $0.willMakeRoom = false }
            self?.makeRoom()
        }
    }

    // MARK: - Registrations and ends

    /// The notifications of all realms that were observed.
    var realms: [RealmNotifications] { state.withLock { Array($0.realms.values) } }

    /// Ends registrations without a reader when they expire. Called whenever a registration was added or has lost its last
    /// reader.
    package func watchRegistrations() {
        let isFirst = state.withLock { state -> Bool in
            defer { state.willSweep = true }
            return !state.willSweep
        }
        if isFirst { setSweepTimer() }
    }

    /// Sets a timer for the registration that expires first.
    private func setSweepTimer() {
        guard let seconds = registrations.secondsToNextEnd else { return endWatch() }
        timers.set(at: Instant.now().adding(seconds: seconds + 0.01)) { [weak self] in
            self?.registrations.sweep()
            self?.endWatch()
        }
    }

    /// Records that no timer is set, and sets another one if a registration needs it.
    private func endWatch() {
        state.withLock { $0.willSweep = false }
        // Another caller, relying on the timer that has just fired, may have added a registration since then.
        if registrations.secondsToNextEnd != nil { watchRegistrations() }
    }

    /// Ends all streams, polls and registrations of a realm that is about to be closed.
    ///
    /// - Parameters:
    ///   - database: The realm.
    ///   - problem: The reason why the realm cannot be served at present, so that clients may return; nil when it was detached.
    package func close(_ database: Database, failing problem: Problem? = nil) {
        let closed = state.withLock { state -> [RealmNotifications] in
            let views = state.realms.keys.filter { $0.database == ObjectIdentifier(database) }
            let closed = views.compactMap { state.realms.removeValue(forKey: $0) }
            for notifications in closed { notifications.forgetHub() }
            return closed
        }
        for notifications in closed { close(notifications, failing: problem) }
        registrations.deleteAll(of: database)
    }

    /// Forgets the unused notifications of a realm, so that it may be closed. Change sets that were kept for clients
    /// that resume go with them; such a client gets a reset.
    ///
    /// - Parameter id: The identity of the database; a reference to it would keep it in use.
    package func release(_ id: ObjectIdentifier) {
        let views = state.withLock { $0.realms.keys.filter { $0.database == id } }
        for view in views {
            state.withLock { $0.realms[view] }?.dropAllUnused()
            release(view)
        }
    }

    /// Forgets the notifications of a realm for one scope if they are unused.
    private func release(_ view: View) {
        let released = state.withLock { state -> RealmNotifications? in
            guard var notifications = state.realms.removeValue(forKey: view) else { return nil }
            guard notifications.isUnused, isKnownUniquelyReferenced(&notifications) else {
                state.realms[view] = notifications
                return nil
            }
            // A caller that arrives before the hub is closed must get a new one, so it is forgotten under the same lock.
            notifications.forgetHub()
            return notifications
        }
        if let released { close(released) }
    }

    /// Ends notifications, and the code that advances the targets of a scope.
    private func close(_ notifications: RealmNotifications, failing problem: Problem? = nil) {
        notifications.close(failing: problem)
        metrics.addPast(notifications.hub.metrics)
        if notifications.scope != nil { notifications.hub.close() }
    }

    /// Ends the streams of clients whose credential is no longer valid or whose rights have changed, and answers their polls.
    ///
    /// Registrations stay as long as their makers may return: a newer credential with the same rights reads them.
    package func endOutdated() {
        for notifications in realms { notifications.endOutdated() }
        registrations.endOutdated()
    }

    /// Ends all streams with the reason `shutdown`, and answers all polls. Called when the server
    /// begins to stop; realms cannot be observed after that.
    package func end() {
        let realms = state.withLock { state in
            state.isEnding = true
            return Array(state.realms.values)
        }
        for notifications in realms { notifications.end(.shutdown) }
    }

    /// Ends the observation of all realms and forgets them. Called after the listeners have stopped.
    package func closeAll() {
        let realms = state.withLock { state in
            defer { state.realms = [:] }
            return Array(state.realms.values)
        }
        for notifications in realms { notifications.close() }
    }
}
