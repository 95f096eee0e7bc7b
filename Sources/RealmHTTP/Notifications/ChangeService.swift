// SPDX-License-Identifier: Apache-2.0

internal import RealmEngine
internal import RealmStorage
internal import Synchronization

/// The notifications of all realms of a server.
final class ChangeService: Sendable {
    let slots: StreamSlots
    let registrations: RegistrationTable
    let figures = ChangeFigures()
    private let limits: Limits
    private let alarm: Alarm
    /// Threads for what takes longer.
    let workers = Mutex<WorkerPool?>(nil)

    private struct State {
        var centers: [ObjectIdentifier: ChangeCenter] = [:]
        var isEnding = false
    }

    private let state = Mutex(State())

    init(_ limits: Limits, _ alarm: Alarm) {
        self.limits = limits
        self.alarm = alarm
        slots = StreamSlots(limits)
        registrations = RegistrationTable(limits)
    }

    /// The notifications of one realm, which begin when somebody asks first.
    func center(of database: Database) throws(Problem) -> ChangeCenter {
        let center = state.withLock { state -> ChangeCenter? in
            guard !state.isEnding else { return nil }
            if let known = state.centers[ObjectIdentifier(database)] { return known }
            let center = ChangeCenter(database, limits, figures, alarm) { [weak self] job in
                self?.workers.withLock { $0 }?.submitContinuation(job) ?? false
            }
            state.centers[ObjectIdentifier(database)] = center
            return center
        }
        guard let center else { throw Problem(.shuttingDown, "the server is shutting down") }
        return center
    }

    var centers: [ChangeCenter] { state.withLock { Array($0.centers.values) } }

    /// Looks after a registration when it may be over.
    func sweepRegistrations(afterSeconds seconds: Double) {
        alarm.set(at: Instant.now().adding(seconds: seconds)) { [weak self] in self?.registrations.sweep() }
    }

    /// A realm is going to be closed: ends all who read it.
    func close(_ database: Database) {
        let center = state.withLock { $0.centers.removeValue(forKey: ObjectIdentifier(database)) }
        if let center {
            center.close()
            figures.pastEvaluations.add(Int(database.observations.metrics.evaluations), ordering: .relaxed)
        }
        registrations.deleteAll(of: database)
    }

    /// The server ends: says so to all streams, and answers all polls.
    func end() {
        let centers = state.withLock { state in
            state.isEnding = true
            return Array(state.centers.values)
        }
        for center in centers { center.endReaders("shutdown") }
    }

    /// Lets everything go.
    func closeAll() {
        let centers = state.withLock { state in
            defer { state.centers = [:] }
            return Array(state.centers.values)
        }
        for center in centers { center.close() }
    }
}
