// SPDX-License-Identifier: Apache-2.0

internal import RealmEngine
internal import RealmStorage

/// All registrations, by id and by ticket, with those that ended a while ago.
final class RegistrationTable: Sendable {
    private struct State {
        var byID: [String: Registration] = [:]
        var byTicket: [String: Registration] = [:]
        var perClient: [String: Int] = [:]
        /// Ids and tickets that were, with the realm they were of.
        var ended: [String: String] = [:]
        /// The same in the order in which they ended, with the time at which that is forgotten.
        var endedInOrder: [(id: String, ticket: String, until: Instant)] = []
        /// The first of them that is not forgotten yet.
        var firstEnded = 0

        /// Forgets what ended long ago, and the oldest when it is too much: registering and deleting is quickly done.
        mutating func forget(_ now: Instant) {
            while firstEnded < endedInOrder.count,
                endedInOrder[firstEnded].until <= now || endedInOrder.count - firstEnded > RegistrationTable.memoryCount
            {
                ended[endedInOrder[firstEnded].id] = nil
                ended[endedInOrder[firstEnded].ticket] = nil
                firstEnded += 1
            }
            guard firstEnded > 64, firstEnded * 2 > endedInOrder.count else { return }
            endedInOrder.removeFirst(firstEnded)
            firstEnded = 0
        }

        mutating func leave(_ client: String) {
            let left = perClient[client, default: 1] - 1
            perClient[client] = left > 0 ? left : nil
        }
    }

    /// How long ended ones are told from those that never were.
    static let memorySeconds = 600.0
    /// How many of them, at the most.
    static let memoryCount = 10_000
    private let state = RankedMutex(.registrationTable, State())
    private let limits: Limits

    init(_ limits: Limits) { self.limits = limits }

    var count: Int { state.withLock { $0.byID.count } }
    /// When the next one that nobody reads ends; nil when there is none.
    var secondsToNextEnd: Double? { state.withLock { $0.byID.values.compactMap(\.secondsLeft).min() } }

    /// Makes room for a registration of a client, who is refused when it has too many.
    func reserve(_ client: String) throws(Problem) {
        sweep()
        let isTaken = state.withLock { state -> Bool in
            guard state.perClient[client, default: 0] < limits.registrations else { return false }
            state.perClient[client, default: 0] += 1
            return true
        }
        guard isTaken else {
            throw .overLimit(.tooManyStreams, "too many registrations of one client", limit: limits.registrations)
        }
    }

    /// Gives back room that was not needed.
    func giveBack(_ client: String) { state.withLock { $0.leave(client) } }

    /// Adds a registration for which room was made.
    func add(_ registration: Registration) {
        state.withLock { state in
            state.byID[registration.id] = registration
            state.byTicket[registration.ticket] = registration
        }
    }

    /// Ends what nobody has read for its time.
    func sweep() {
        let now = Instant.now()
        let over = state.withLock { state -> [Registration] in
            state.forget(now)
            let over = state.byID.values.filter { $0.expire(now) }
            for registration in over { RegistrationTable.end(registration, now, &state) }
            return over
        }
        // Let go outside of the lock, as that lets go of feeds.
        withExtendedLifetime(over) {}
    }

    private static func end(_ registration: Registration, _ now: Instant, _ state: inout State) {
        guard state.byID.removeValue(forKey: registration.id) != nil else { return }
        state.byTicket[registration.ticket] = nil
        state.leave(registration.client)
        let realm = registration.notifications.database.name.text
        state.ended[registration.id] = realm
        state.ended[registration.ticket] = realm
        state.endedInOrder.append((registration.id, registration.ticket, now.adding(seconds: memorySeconds)))
    }

    /// The registration of an id, in one realm. One that is over is `subscription_expired`, one that never was nil.
    func find(id: String, in database: Database) throws(Problem) -> Registration? {
        sweep()
        return try found(state.withLock { $0.byID[id] }, id, database)
    }

    func find(ticket: String, in database: Database) throws(Problem) -> Registration? {
        sweep()
        return try found(state.withLock { $0.byTicket[ticket] }, ticket, database)
    }

    private func found(_ registration: Registration?, _ name: String, _ database: Database) throws(Problem) -> Registration? {
        if let registration { return registration.notifications.database === database ? registration : nil }
        guard state.withLock({ $0.ended[name] }) == database.name.text else { return nil }
        throw Registration.expired
    }

    /// Ends a registration; false when it was over, or never was.
    func delete(id: String, in database: Database) -> Bool {
        sweep()
        guard let registration = state.withLock({ $0.byID[id] }), registration.notifications.database === database else {
            return false
        }
        state.withLock { RegistrationTable.end(registration, .now(), &$0) }
        return registration.delete()
    }

    /// Ends all of a realm that is closed. They are as if they never were.
    func deleteAll(of database: Database) {
        let registrations = state.withLock { state -> [Registration] in
            let all = state.byID.values.filter { $0.notifications.database === database }
            for registration in all {
                RegistrationTable.end(registration, .now(), &state)
                state.ended[registration.id] = nil
                state.ended[registration.ticket] = nil
            }
            return all
        }
        for registration in registrations { _ = registration.delete() }
    }
}
