// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import RealmEngine
internal import RealmStorage

/// Versions that clients hold under a lease: what `…/snapshots` is about.
///
/// A pinned version keeps its nodes in the file, which grows meanwhile; so every lease ends by itself, their number is
/// bounded, and the oldest are dropped when too many versions live or the disk fills up.
package final class PinnedVersions: Sendable {
    /// One lease.
    struct Lease: Sendable {
        let id: String
        let database: Database
        let realm: String
        let version: Version
        /// Who made it, for the limit per client.
        let client: String
        /// Seconds that a renewal lasts.
        var ttl: Double
        var expires: Instant

        /// Commits made since.
        var behind: Int { Int(clamping: database.current.token.version &- version.token.version) }
        var secondsLeft: Double { max(0, expires.seconds(since: Instant.now())) }
    }

    private struct Ended {
        let realm: String
        let until: Instant
    }

    private struct State {
        /// The oldest first.
        var leases: [Lease] = []
        /// Ids that are told as over, not as unknown.
        var ended: [String: Ended] = [:]
        /// Watches over the commits of databases with leases.
        var observers: [ObjectIdentifier: Int] = [:]
        /// When leases are looked through for such as are over.
        var nextSweep: Instant?
        var dropped: UInt64 = 0
    }

    /// How long a lease lasts when its client does not say.
    static let defaultSeconds = 60.0
    /// How many ended leases are known as such.
    private static let rememberedCount = 10_000
    /// The oldest leases go when the disk has less.
    private static let freeBytesWanted: UInt64 = 1 << 30

    private let state = RankedMutex(.leaf, State())
    private let limits: Limits
    private let leaseRegistry: LeaseRegistry
    private let alarm: Alarm

    /// No leases yet. Those to come are shown in `leases`, and ended by `alarm`.
    init(_ limits: Limits, _ leases: LeaseRegistry, _ alarm: Alarm) {
        self.limits = limits
        leaseRegistry = leases
        self.alarm = alarm
    }

    /// How many leases there are in all realms.
    var count: Int { state.withLock { $0.leases.count } }
    /// Leases that were ended because versions or disk space ran short.
    var droppedCount: UInt64 { state.withLock { $0.dropped } }

    // MARK: - Leases

    /// Pins the newest version of a realm. Throws `too_many_snapshots`.
    func pin(_ database: Database, realm: String, client: String, ttl: Double) throws(Problem) -> Lease {
        let lease = Lease(
            id: RandomName.make(), database: database, realm: realm, version: database.current, client: client, ttl: ttl,
            expires: .now().adding(seconds: ttl))
        let problem = state.withLock { state -> Problem? in
            let now = Instant.now()
            let alive = state.leases.filter { $0.expires > now }
            guard alive.count(where: { $0.database === database }) < limits.snapshots else {
                return PinnedVersions.tooMany("this realm has \(limits.snapshots) snapshots already", limits.snapshots)
            }
            guard alive.count(where: { $0.client == client }) < limits.snapshotsPerPrincipal else {
                return PinnedVersions.tooMany(
                    "you have \(limits.snapshotsPerPrincipal) snapshots already", limits.snapshotsPerPrincipal)
            }
            state.leases.append(lease)
            return nil
        }
        if let problem { throw problem }
        leaseRegistry.add(
            LeaseRegistry.Lease(id: lease.id, kind: .snapshot, realm: realm, principal: nil) { [weak self] in
                _ = self?.free(lease.id, realm: realm)
            })
        watch(database)
        sweepLater()
        return lease
    }

    private static func tooMany(_ detail: String, _ limit: Int) -> Problem {
        var problem = Problem.overLimit(.tooManySnapshots, detail, limit: limit)
        problem.retryAfterSeconds = 5
        return problem
    }

    /// The leases of a realm, the oldest first.
    func all(of database: Database) -> [Lease] {
        let now = Instant.now()
        return state.withLock { $0.leases.filter { $0.database === database && $0.expires > now } }
    }

    /// The lease of that id. `isUse` keeps it for at least half its time. Throws `snapshot_expired` and `not_found`.
    func find(_ id: String, in database: Database, isUse: Bool) throws(Problem) -> Lease {
        let found = state.withLock { state -> Lease? in
            let now = Instant.now()
            guard let index = state.leases.firstIndex(where: { $0.id == id && $0.database === database && $0.expires > now })
            else { return nil }
            if isUse {
                state.leases[index].expires = max(state.leases[index].expires, now.adding(seconds: state.leases[index].ttl / 2))
            }
            return state.leases[index]
        }
        if let found { return found }
        sweep()
        let realm = database.name.text
        let isKnown = state.withLock { $0.ended[id].map { $0.realm == realm && $0.until > Instant.now() } ?? false }
        throw isKnown ? Problem(.snapshotExpired, "the snapshot is over") : Problem(.notFound, "there is no snapshot of this id")
    }

    /// Gives a lease `ttl` seconds from now. Throws as `find`.
    func renew(_ id: String, in database: Database, ttl: Double) throws(Problem) -> Lease {
        _ = try find(id, in: database, isUse: false)
        let renewed = state.withLock { state -> Lease? in
            guard let index = state.leases.firstIndex(where: { $0.id == id }) else { return nil }
            state.leases[index].ttl = ttl
            state.leases[index].expires = .now().adding(seconds: ttl)
            return state.leases[index]
        }
        guard let renewed else { throw Problem(.snapshotExpired, "the snapshot is over") }
        return renewed
    }

    /// Ends a lease; false when there is none.
    func free(_ id: String, realm: String) -> Bool {
        end { $0.id == id && $0.realm == realm } > 0
    }

    /// Ends all leases of a database that is being closed.
    func free(_ database: Database) { end { $0.database === database } }

    // MARK: - Ends

    /// Ends the leases that `isOver` names and returns how many there were.
    @discardableResult
    private func end(_ isOver: (Lease) -> Bool) -> Int {
        // What was pinned goes after the lock is open again.
        let (over, unwatched) = state.withLock { state -> ([Lease], [(Database, Int)]) in
            let over = state.leases.filter(isOver)
            guard !over.isEmpty else { return ([], []) }
            state.leases.removeAll { lease in over.contains { $0.id == lease.id } }
            let until = Instant.now().adding(seconds: Double(limits.rememberedSeconds))
            PinnedVersions.forget(&state)
            for lease in over { state.ended[lease.id] = Ended(realm: lease.realm, until: until) }
            var unwatched: [(Database, Int)] = []
            for lease in over where !state.leases.contains(where: { $0.database === lease.database }) {
                guard let token = state.observers.removeValue(forKey: ObjectIdentifier(lease.database)) else { continue }
                unwatched.append((lease.database, token))
            }
            return (over, unwatched)
        }
        for lease in over { leaseRegistry.remove(lease.id) }
        for (database, token) in unwatched { database.commits.remove(token) }
        return over.count
    }

    private static func forget(_ state: inout State) {
        let now = Instant.now()
        state.ended = state.ended.filter { $0.value.until > now }
        guard state.ended.count >= rememberedCount else { return }
        let oldest = state.ended.sorted { $0.value.until < $1.value.until }.prefix(rememberedCount / 2)
        for (id, _) in oldest { state.ended[id] = nil }
    }

    /// Ends what is over by time, so that its version goes without anybody asking.
    private func sweep() {
        let now = Instant.now()
        end { $0.expires <= now }
    }

    /// Sees to it that the next lease to end is ended in time.
    private func sweepLater() {
        let time = state.withLock { state -> Instant? in
            guard let next = state.leases.map(\.expires).min() else { return nil }
            // Not more often than a few times a second: leases in use move their end again and again.
            let time = max(next, .now().adding(seconds: 0.25))
            if let planned = state.nextSweep, planned <= time { return nil }
            state.nextSweep = time
            return time
        }
        guard let time else { return }
        alarm.set(at: time) { [weak self] in
            guard let self else { return }
            let isDue = state.withLock { state -> Bool in
                // An earlier end may have come in between, with an alarm of its own.
                guard let planned = state.nextSweep, planned <= .now() else { return false }
                state.nextSweep = nil
                return true
            }
            guard isDue else { return }
            sweep()
            sweepLater()
        }
    }

    // MARK: - Shortage

    private func watch(_ database: Database) {
        let isNew = state.withLock { state -> Bool in
            guard state.observers[ObjectIdentifier(database)] == nil else { return false }
            // A place holder, so that nobody else adds one meanwhile.
            state.observers[ObjectIdentifier(database)] = -1
            return true
        }
        guard isNew else { return }
        let token = database.commits.add { [weak self, weak database] _ in
            guard let self, let database else { return }
            relieve(database)
        }
        let isWanted = state.withLock { state -> Bool in
            guard state.observers[ObjectIdentifier(database)] != nil else { return false }
            state.observers[ObjectIdentifier(database)] = token
            return true
        }
        if !isWanted { database.commits.remove(token) }
    }

    /// Drops the oldest leases of a database until few enough of its versions live and its disk has room.
    private func relieve(_ database: Database) {
        while database.liveVersions > limits.liveVersions || PinnedVersions.isShortOfSpace(database.path) {
            guard let oldest = state.withLock({ $0.leases.first { $0.database === database } }) else { return }
            guard free(oldest.id, realm: oldest.realm) else { return }
            state.withLock { $0.dropped += 1 }
        }
    }

    private static func isShortOfSpace(_ path: String) -> Bool {
        guard !path.isEmpty else { return false }
        guard let space = System.diskSpace(at: path) else { return false }
        return space.freeBytes < freeBytesWanted
    }
}
