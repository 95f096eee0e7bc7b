// SPDX-License-Identifier: Apache-2.0

package import RealmAccess
package import RealmEngine
package import RealmFormats
internal import RealmPlatform
internal import RealmStorage

/// All registrations of a server, by id and by ticket, with the memory of those that have ended.
///
/// A registration that ended within the last ten minutes is answered with `subscription_expired`,
/// and an unknown one with `not_found`. There is one table for a server. Any thread may use it;
/// registrations are released after its lock, because that releases feeds.
package final class RegistrationTable: Sendable {
    /// The registrations and the memory of ended ones, guarded by the lock.
    private struct State {
        /// The registrations that have not ended, by id.
        var byID: [ByteText: Registration] = [:]
        /// The registrations that have not ended, by ticket.
        var byTicket: [ByteText: Registration] = [:]
        /// The number of registrations of each client, with those that are being made.
        var perClient: [ByteText: Int] = [:]
        /// The ids and tickets of registrations that have ended, with the name of their realm and their owner.
        var ended: [ByteText: (realm: String, owner: String)] = [:]
        /// The same in the order in which the registrations ended, with the time at which each is
        /// forgotten. Entries before `firstEnded` are forgotten already.
        var endedInOrder: [(id: String, ticket: String, until: Instant)] = []
        /// The index of the first ended registration that is not forgotten yet.
        var firstEnded = 0

        /// Forgets registrations that ended long ago, and the oldest ones when there are too many:
        /// a client may register and delete quickly.
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

        /// Reduces the number of registrations of a client by one.
        mutating func leave(_ client: String) {
            let left = perClient[client, default: 1] - 1
            perClient[client] = left > 0 ? left : nil
        }
    }

    /// The seconds for which an ended registration is remembered.
    static let memorySeconds = 600.0
    /// The number of ended registrations that are remembered.
    static let memoryCount = 10_000
    private let state = RankedMutex(.registrationTable, State())
    private let liveLimits: LiveLimits
    /// The limits in force.
    private var limits: Limits { liveLimits.current }

    /// Makes a table of registrations, which is empty.
    ///
    /// - Parameter limits: The limits of the server, of which the number of registrations per
    ///   client counts.
    init(_ limits: LiveLimits) { liveLimits = limits }

    /// The number of registrations of all realms that have not ended.
    var count: Int { state.withLock { $0.byID.count } }
    /// The seconds until the first registration without a reader expires; nil when every registration has a reader.
    var secondsToNextEnd: Double? { state.withLock { $0.byID.values.compactMap(\.secondsLeft).min() } }

    /// Counts a registration that a client is about to make.
    ///
    /// - Parameters:
    ///   - own: The limit of this client; nil for the limit of every client.
    /// - Throws: `too_many_streams` when the client has as many registrations as the limits allow.
    package func reserve(_ client: String, limit own: Int? = nil) throws(Problem) {
        sweep()
        let limit = own ?? limits.registrations
        let isTaken = state.withLock { state -> Bool in
            guard state.perClient[client, default: 0] < limit else { return false }
            state.perClient[client, default: 0] += 1
            return true
        }
        guard isTaken else {
            throw .overLimit(.tooManyStreams, "too many registrations of one client", limit: limit)
        }
    }

    /// Takes back the count of a registration that was not made.
    package func giveBack(_ client: String) { state.withLock { $0.leave(client) } }

    /// Adds a registration for which `reserve` was called.
    package func add(_ registration: Registration) {
        state.withLock { state in
            state.byID[registration.id] = registration
            state.byTicket[registration.ticket] = registration
        }
    }

    /// Ends the registrations without a reader whose time has passed.
    func sweep() {
        let now = Instant.now()
        let over = state.withLock { state -> [Registration] in
            state.forget(now)
            let over = state.byID.values.filter { $0.expire(now) }
            for registration in over { RegistrationTable.end(registration, now, &state) }
            return over
        }
        // Released after the lock, because that releases feeds.
        withExtendedLifetime(over) {}
    }

    /// Removes a registration from the table and remembers that it existed.
    private static func end(_ registration: Registration, _ now: Instant, _ state: inout State) {
        guard state.byID.removeValue(forKey: registration.id) != nil else { return }
        state.byTicket[registration.ticket] = nil
        state.leave(registration.client)
        let realm = registration.notifications.database.name.text
        state.ended[registration.id] = (realm, registration.owner)
        state.ended[registration.ticket] = (realm, registration.owner)
        state.endedInOrder.append((registration.id, registration.ticket, now.adding(seconds: memorySeconds)))
    }

    /// Returns the registration of an id.
    ///
    /// - Parameters:
    ///   - id: The id from the URL.
    ///   - database: The realm in the URL. A registration of another realm is not found.
    ///   - call: The request. A registration of another principal is not found.
    /// - Returns: The registration; nil when it never existed or was forgotten.
    /// - Throws: `subscription_expired` when it ended within the last ten minutes.
    package func find(id: String, in database: Database, for call: Call) throws(Problem) -> Registration? {
        sweep()
        return try found(state.withLock { $0.byID[id] }, id, in: database, for: call)
    }

    /// Returns the registration of a ticket, as `find(id:in:for:)` does for an id.
    package func find(ticket: String, in database: Database, for call: Call) throws(Problem) -> Registration? {
        sweep()
        return try found(state.withLock { $0.byTicket[ticket] }, ticket, in: database, for: call)
    }

    /// Whether any client has a registration of this id, in any realm.
    func contains(_ id: String) -> Bool { state.withLock { $0.byID[id] != nil } }

    /// The registration of an id, of any client; nil when the realm has none of that id.
    func registration(_ id: String, of database: Database) -> Registration? {
        guard let registration = state.withLock({ $0.byID[id] }), registration.notifications.database === database else {
            return nil
        }
        return registration
    }

    /// The registration if it is one of the realm. Throws for one that has ended.
    private func found(
        _ registration: Registration?, _ name: String, in database: Database, for call: Call
    ) throws(Problem) -> Registration? {
        let owner = call.ownerScope
        if let registration {
            // The ticket of an anonymous client is valid for every anonymous client with the same rights.
            if registration.ticket == name, registration.principal.kind == .anonymous, call.caller.principal.kind == .anonymous,
                registration.rights.utf8.elementsEqual(call.rightsIdentity.utf8)
            {
                return registration.notifications.database === database ? registration : nil
            }
            guard registration.notifications.database === database, owner ?? registration.owner == registration.owner else {
                return nil
            }
            return registration
        }
        guard let ended = state.withLock({ $0.ended[name] }), ended.realm == database.name.text,
            owner ?? ended.owner == ended.owner
        else { return nil }
        throw Registration.expired
    }

    /// Returns the principal for whom a ticket stands: the one that made the registration; nil for an unknown ticket.
    package func principal(ofTicket ticket: String) -> Principal? { state.withLock { $0.byTicket[ticket] }?.principal }

    /// Deletes a registration, which ends its streams and polls.
    ///
    /// - Parameters:
    ///   - id: The id from the URL.
    ///   - database: The realm in the URL.
    ///   - call: The request. A registration of another principal is not found.
    /// - Returns: False when there is no such registration in the realm.
    package func delete(id: String, in database: Database, for call: Call) -> Bool {
        sweep()
        guard let registration = state.withLock({ $0.byID[id] }), registration.notifications.database === database,
            call.ownerScope ?? registration.owner == registration.owner
        else { return false }
        state.withLock { RegistrationTable.end(registration, .now(), &$0) }
        return registration.delete()
    }

    /// Ends a registration whose client does not know of it, because its response was not sent.
    package func end(_ registration: Registration) {
        state.withLock { RegistrationTable.end(registration, .now(), &$0) }
        _ = registration.delete()
    }

    /// Ends the registrations whose makers have left, or have other rights by the roles in force, with their streams and polls.
    func endOutdated() {
        let all = state.withLock { Array($0.byID.values) }
        let over = all.filter { !$0.standing.mayKeep }
        state.withLock { state in for registration in over { RegistrationTable.end(registration, .now(), &state) } }
        for registration in over { _ = registration.delete() }
    }

    /// Deletes all registrations of a realm that is closed. They are not remembered, so that
    /// clients get `not_found` and register again.
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
