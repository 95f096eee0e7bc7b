// SPDX-License-Identifier: Apache-2.0

package import RealmAccess
package import RealmEngine
package import RealmFormats
package import RealmPlatform
internal import RealmStorage

/// The versions of all realms that clients hold under a lease: the resource `…/snapshots`.
///
/// A client that reads with `?snapshot=ID` sees the pinned version, despite later commits. A pinned version keeps its nodes in
/// the file, which grows with each commit. Therefore every lease expires, the number of leases is limited per realm and per
/// client, and the oldest leases of a realm are ended when it has too many live versions or when its disk fills up.
///
/// There is one object for a server. Any thread may use it: its `Mutex` guards the leases, and versions are released only after
/// that lock.
package final class PinnedVersions: Sendable {
    /// One lease: a client's hold on one version of one realm, until it expires, is deleted or is ended by the server.
    ///
    /// It is a value. A copy keeps the version readable even after the lease has ended, so requests
    /// that have found the lease can finish.
    package struct Lease: Sendable {
        /// The name of the lease in URLs, random, so that other clients cannot guess it.
        package let id: String
        /// The open realm whose version the lease holds.
        package let database: Database
        /// The name of the realm whose version the lease holds.
        let realm: String
        /// The version that is held. The reference keeps its nodes in the file.
        package let version: Version
        /// The client that created the lease, which is counted against the limit per client.
        let client: String
        /// The principal that created the lease; it does not exist for others.
        package let owner: String
        /// The time to live in seconds: a renewal sets the expiry to this time from then on, a use to half of it.
        var ttl: Double
        /// The time at which the lease expires.
        var expires: Instant

        /// The number of versions that were committed since the pinned one.
        package var behind: Int { Int(clamping: database.current.token.version &- version.token.version) }
        /// The seconds until the lease expires; 0 when it has expired already.
        package var secondsLeft: Double { max(0, expires.seconds(since: Instant.now())) }
    }

    /// A remembered lease that has ended, to respond with 410 instead of 404.
    private struct Ended {
        /// The name of the realm in which the ended lease was.
        let realm: String
        /// The principal that had created it.
        let owner: String
        /// The time until which an ended lease is remembered.
        let until: Instant
    }

    /// The leases and their bookkeeping, guarded by the lock of `PinnedVersions`.
    private struct State {
        /// The leases that have not been ended, the oldest first. Expired ones stay until the next sweep.
        var leases: [Lease] = []
        /// Leases that have ended, by id. A request for one of them gets `snapshot_expired`, and a
        /// request for any other unknown id `not_found`.
        var ended: [ByteText: Ended] = [:]
        /// The tokens of the commit observers of databases with leases, by the identity of the
        /// database. The value -1 reserves a place while the observer is being added.
        var observers: [ObjectIdentifier: Int] = [:]
        /// The time of the next timer that ends expired leases; nil when no timer is set.
        var nextSweep: Instant?
        /// The number of leases that were ended because versions or disk space ran short.
        var dropped: UInt64 = 0
    }

    /// The time to live in seconds of a lease whose client names none.
    package static let defaultSeconds = 60.0
    /// The number of ended leases that are remembered. When there are more, the older half is forgotten.
    private static let rememberedCount = 10_000
    /// The free bytes that the disk of a realm should have: with less, its oldest leases are ended.
    private static let freeBytesWanted: UInt64 = 1 << 30

    private let state = RankedMutex(.leaf, State())
    private let liveLimits: LiveLimits
    /// The limits in force.
    private var limits: Limits { liveLimits.current }
    /// The list in which administrators see the leases.
    private let leaseRegistry: LeaseRegistry
    /// The timer that ends expired leases.
    private let timers: TimerQueue

    /// Makes the table of leases of a server, which has none at first.
    ///
    /// - Parameters:
    ///   - limits: The limits of leases per realm and per client, of live versions, and of the time for which ended leases are
    ///     remembered.
    ///   - leases: The registry through which administrators see and end leases.
    ///   - timers: The timer that ends expired leases.
    package init(_ limits: LiveLimits, _ leases: LeaseRegistry, _ timers: TimerQueue) {
        liveLimits = limits
        leaseRegistry = leases
        self.timers = timers
    }

    /// The number of leases of all realms, including expired ones that are not ended yet.
    package var count: Int { state.withLock { $0.leases.count } }
    /// The number of leases that were ended because versions or disk space ran short, since the start of the server.
    package var droppedCount: UInt64 { state.withLock { $0.dropped } }

    // MARK: - Leases

    /// Pins the newest version of a realm under a new lease.
    ///
    /// The first lease of a realm also starts to observe its commits, because each commit may leave too many live versions.
    ///
    /// - Parameters:
    ///   - database: The realm whose newest version is pinned.
    ///   - call: The request, whose sender owns the lease.
    ///   - ttl: The time to live in seconds.
    /// - Returns: The lease, which begins now.
    /// - Throws: `too_many_snapshots` when the realm or the client has as many leases as the limits
    ///   allow. Expired leases are not counted.
    /// - Complexity: O(leases of all realms).
    package func pin(
        _ database: Database, realm: String, client: String, for call: Call, ttl: Double
    ) throws(Problem) -> Lease {
        let lease = Lease(
            id: RandomName.make(), database: database, realm: realm, version: database.current, client: client,
            owner: call.owner, ttl: ttl, expires: .now().adding(seconds: ttl))
        let ownLimit = call.caller.roleLimits?[.snapshots] ?? limits.snapshotsPerPrincipal
        let problem = state.withLock { state -> Problem? in
            let now = Instant.now()
            let alive = state.leases.filter { $0.expires > now }
            guard alive.count(where: { $0.database === database }) < limits.snapshots else {
                return PinnedVersions.tooMany("this realm has \(limits.snapshots) snapshots already", limits.snapshots)
            }
            guard alive.count(where: { $0.client == client }) < ownLimit else {
                return PinnedVersions.tooMany("you have \(ownLimit) snapshots already", ownLimit)
            }
            state.leases.append(lease)
            return nil
        }
        if let problem { throw problem }
        leaseRegistry.add(
            LeaseRegistry.Lease(
                id: lease.id, kind: .snapshot, realm: realm, principal: call.caller.principal.logName,
                mayStay: { [standing = call.standing] in standing.mayKeep }
            ) { [weak self] in
                _ = self?.free(lease.id, realm: realm, owner: nil)
            })
        watch(database)
        sweepLater()
        return lease
    }

    /// The problem `too_many_snapshots`, which advises the client to retry after five seconds.
    private static func tooMany(_ detail: String, _ limit: Int) -> Problem {
        var problem = Problem.overLimit(.tooManySnapshots, detail, limit: limit)
        problem.retryAfterSeconds = 5
        return problem
    }

    /// Returns the leases of a realm that have not expired, the oldest first.
    package func all(of database: Database) -> [Lease] {
        let now = Instant.now()
        return state.withLock { $0.leases.filter { $0.database === database && $0.expires > now } }
    }

    /// Returns the lease of an id.
    ///
    /// - Parameters:
    ///   - id: The id from the URL.
    ///   - database: The realm in the URL: a lease of another realm is not found.
    ///   - isUse: Whether the pinned version is going to be read. A use extends the lease to at
    ///     least half of its time to live, so a client that keeps reading does not lose it.
    ///   - owner: The owner whose leases are found; nil for those of all.
    /// - Throws: `snapshot_expired` when the lease of this id has ended within the last
    ///   `Limits.rememberedSeconds`, otherwise `not_found`.
    package func find(_ id: String, in database: Database, isUse: Bool, owner: String?) throws(Problem) -> Lease {
        let found = state.withLock { state -> Lease? in
            let now = Instant.now()
            let isFound = { (lease: Lease) in lease.id == id && lease.database === database && lease.expires > now }
            guard let index = state.leases.firstIndex(where: isFound),
                owner ?? state.leases[index].owner == state.leases[index].owner
            else { return nil }
            if isUse {
                state.leases[index].expires = max(state.leases[index].expires, now.adding(seconds: state.leases[index].ttl / 2))
            }
            return state.leases[index]
        }
        if let found { return found }
        sweep()
        let realm = database.name.text
        let isKnown = state.withLock { state -> Bool in
            guard let ended = state.ended[id] else { return false }
            return ended.realm == realm && ended.until > Instant.now() && owner ?? ended.owner == ended.owner
        }
        throw isKnown ? Problem(.snapshotExpired, "the snapshot ended") : Problem(.notFound, "there is no snapshot of this id")
    }

    /// Extends a lease.
    ///
    /// - Parameters:
    ///   - id: The id from the URL.
    ///   - database: The realm in the URL.
    ///   - ttl: The new time to live in seconds, from now on.
    ///   - owner: The owner whose leases are found; nil for those of all.
    /// - Returns: The lease with its new expiry.
    /// - Throws: `snapshot_expired` or `not_found`, as `find` does.
    package func renew(_ id: String, in database: Database, ttl: Double, owner: String?) throws(Problem) -> Lease {
        _ = try find(id, in: database, isUse: false, owner: owner)
        let renewed = state.withLock { state -> Lease? in
            guard let index = state.leases.firstIndex(where: { $0.id == id }) else { return nil }
            state.leases[index].ttl = ttl
            state.leases[index].expires = .now().adding(seconds: ttl)
            return state.leases[index]
        }
        guard let renewed else { throw Problem(.snapshotExpired, "the snapshot ended") }
        return renewed
    }

    /// Ends a lease and releases its version.
    ///
    /// - Parameters:
    ///   - id: The id from the URL.
    ///   - owner: The owner whose leases are found; nil for those of all.
    /// - Returns: Whether there was a lease of this id in the realm.
    package func free(_ id: String, realm: String, owner: String?) -> Bool {
        end { $0.id == id && $0.realm == realm && owner ?? $0.owner == $0.owner } > 0
    }

    /// Ends all leases of a database that is about to be closed.
    package func free(_ database: Database) { end { $0.database === database } }

    /// Ends the leases of a database that hold a version up to the given one, because its file is about to be written over.
    package func free(_ database: Database, upTo version: UInt64) {
        let count = end { $0.database === database && $0.version.token.version <= version }
        state.withLock { $0.dropped += UInt64(count) }
    }

    // MARK: - Ends

    /// Ends the leases that satisfy a condition, removes them from the registry, and stops observing the commits of databases
    /// without leases.
    ///
    /// - Parameter isOver: The condition, called under the lock.
    /// - Returns: The number of ended leases.
    @discardableResult
    private func end(_ isOver: (Lease) -> Bool) -> Int {
        // The versions are released after the lock, because that may free memory.
        let (over, unwatched) = state.withLock { state -> ([Lease], [(Database, Int)]) in
            let over = state.leases.filter(isOver)
            guard !over.isEmpty else { return ([], []) }
            state.leases.removeAll { lease in over.contains { $0.id == lease.id } }
            let until = Instant.now().adding(seconds: Double(limits.rememberedSeconds))
            PinnedVersions.forget(&state)
            for lease in over { state.ended[lease.id] = Ended(realm: lease.realm, owner: lease.owner, until: until) }
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

    /// Drops the memory of leases that ended long ago, and of the older half when too many are
    /// remembered: a client may create and delete leases quickly.
    private static func forget(_ state: inout State) {
        let now = Instant.now()
        state.ended = state.ended.filter { $0.value.until > now }
        guard state.ended.count >= rememberedCount else { return }
        let oldest = state.ended.sorted { $0.value.until < $1.value.until }.prefix(rememberedCount / 2)
        for (id, _) in oldest { state.ended[id] = nil }
    }

    /// Ends the leases that have expired, so that their versions are released without any request.
    private func sweep() {
        let now = Instant.now()
        end { $0.expires <= now }
    }

    /// Sets a timer for the lease that expires first, unless an earlier one is set.
    private func sweepLater() {
        let time = state.withLock { state -> Instant? in
            guard let next = state.leases.map(\.expires).min() else { return nil }
            // At most four times a second: leases in use are extended again and again.
            let time = max(next, .now().adding(seconds: 0.25))
            if let planned = state.nextSweep, planned <= time { return nil }
            state.nextSweep = time
            return time
        }
        guard let time else { return }
        timers.set(at: time) { [weak self] in
            guard let self else { return }
            let isDue = state.withLock { state -> Bool in
                // A lease that expires earlier may have set another timer in the meantime.
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

    /// Observes the commits of a database, if that is not done already.
    ///
    /// The observer is added outside the lock, so the last lease may have ended in the meantime; then it is removed again.
    private func watch(_ database: Database) {
        let isNew = state.withLock { state -> Bool in
            guard state.observers[ObjectIdentifier(database)] == nil else { return false }
            // This value reserves the place, so that no other thread adds an observer in the meantime.
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

    /// Ends the oldest leases of a database until it has few enough live versions and its disk has
    /// enough room, or until it has no lease left.
    ///
    /// Called by the commit feed after each commit of a database with leases.
    private func relieve(_ database: Database) {
        while database.liveVersions > limits.liveVersions || PinnedVersions.isShortOfSpace(database.path) {
            guard let oldest = state.withLock({ $0.leases.first { $0.database === database } }) else { return }
            guard free(oldest.id, realm: oldest.realm, owner: nil) else { return }
            state.withLock { $0.dropped += 1 }
        }
    }

    /// Whether the disk of a file has less free space than is wanted; false for realms in memory
    /// and where the system does not report the space.
    private static func isShortOfSpace(_ path: String) -> Bool {
        guard !path.isEmpty else { return false }
        guard let space = System.diskSpace(at: path) else { return false }
        return space.freeBytes < freeBytesWanted
    }
}
