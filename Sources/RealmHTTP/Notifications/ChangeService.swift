// SPDX-License-Identifier: Apache-2.0

internal import RealmEngine
internal import RealmStorage
internal import Synchronization

/// The notifications of all realms of a server.
final class ChangeService: Sendable {
    /// How many streams and polls each client has.
    let slots: StreamSlots
    /// Registered subscriptions of all realms.
    let registrations: RegistrationTable
    /// Counts of what was encoded, reset and replayed.
    let metrics = NotificationMetrics()
    private let limits: Limits
    private let alarm: Alarm
    /// Threads for what takes longer.
    private let workers: WorkerPool

    private struct State {
        var realms: [ObjectIdentifier: RealmNotifications] = [:]
        var isEnding = false
        /// Whether somebody comes by to end registrations.
        var willSweep = false
    }

    private let state = RankedMutex(.changeService, State())

    /// Notifications that nobody has asked for yet.
    init(_ limits: Limits, _ alarm: Alarm, _ workers: WorkerPool) {
        self.limits = limits
        self.alarm = alarm
        self.workers = workers
        slots = StreamSlots(limits)
        registrations = RegistrationTable(limits)
    }

    /// The notifications of one realm, which begin when somebody asks first.
    func notifications(of database: Database) throws(Problem) -> RealmNotifications {
        let notifications = state.withLock { state -> RealmNotifications? in
            guard !state.isEnding else { return nil }
            if let known = state.realms[ObjectIdentifier(database)] { return known }
            let notifications = RealmNotifications(database, limits: limits, metrics: metrics, alarm: alarm) {
                [workers, name = database.name.text] job in
                // The realm stands for those who listen to it: listeners of one do not delay those of another.
                workers.submitContinuation(for: "realm " + name, job)
            }
            state.realms[ObjectIdentifier(database)] = notifications
            return notifications
        }
        guard let notifications else { throw Problem(.shuttingDown, "the server is shutting down") }
        return notifications
    }

    /// The notifications of the realms that somebody has asked about.
    var realms: [RealmNotifications] { state.withLock { Array($0.realms.values) } }

    /// Looks after registrations that nobody reads when their time may be over. Called when there is one more.
    func watchRegistrations() {
        let isFirst = state.withLock { state -> Bool in
            defer { state.willSweep = true }
            return !state.willSweep
        }
        if isFirst { setSweepAlarm() }
    }

    private func setSweepAlarm() {
        guard let seconds = registrations.secondsToNextEnd else { return endWatch() }
        alarm.set(at: Instant.now().adding(seconds: seconds + 0.01)) { [weak self] in
            self?.registrations.sweep()
            self?.endWatch()
        }
    }

    private func endWatch() {
        state.withLock { $0.willSweep = false }
        // There may be one more by now, and whoever said so relied on the watch that has just ended.
        if registrations.secondsToNextEnd != nil { watchRegistrations() }
    }

    /// A realm is going to be closed: ends all who read it. With a problem they are told that, and may come back.
    func close(_ database: Database, failing problem: Problem? = nil) {
        let notifications = state.withLock { $0.realms.removeValue(forKey: ObjectIdentifier(database)) }
        if let notifications {
            notifications.close(failing: problem)
            metrics.pastEvaluations.add(Int(database.observations.metrics.evaluations), ordering: .relaxed)
        }
        registrations.deleteAll(of: database)
    }

    /// The server ends: says so to all streams, and answers all polls.
    func end() {
        let realms = state.withLock { state in
            state.isEnding = true
            return Array(state.realms.values)
        }
        for notifications in realms { notifications.end(.shutdown) }
    }

    /// Lets everything go.
    func closeAll() {
        let realms = state.withLock { state in
            defer { state.realms = [:] }
            return Array(state.realms.values)
        }
        for notifications in realms { notifications.close() }
    }
}
