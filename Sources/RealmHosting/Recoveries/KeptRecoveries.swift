// SPDX-License-Identifier: Apache-2.0

package import RealmCalls
package import RealmEngine
package import RealmFormats
package import RealmPlatform
internal import RealmStorage

/// The recoveries of a server: at most one of a realm and four in all, each for ten minutes after its last use.
///
/// One file is searched at a time, because a search takes memory and a processor. Any thread may use it.
package final class KeptRecoveries: Sendable {
    /// A recovery with the realm that it is of.
    private struct Entry {
        /// The realm; nil after it was closed.
        weak var database: Database?
        let recovery: KeptRecovery
        /// The time after which it is released.
        var expires: Instant
    }

    /// The state under the lock.
    private struct State {
        /// The recoveries, the least recently used first.
        var entries: [Entry] = []
        /// The realm whose file is searched; nil while none is.
        var searched: ObjectIdentifier?
        /// The requests that wait for the result.
        var waiting: [Completion] = []
        /// The time of the next look for those that have expired; nil when no timer is set.
        var nextSweep: Instant?
    }

    /// Receives a recovery, or why there is none, on any thread.
    package typealias Completion = @Sendable (Result<KeptRecovery, Problem>) -> Void

    /// The seconds for which an unused recovery is kept.
    package static let seconds = 600.0
    /// The most recoveries of a server.
    package static let maximumCount = 4
    /// The most requests that wait for one search.
    private static let maximumWaiting = 64

    private let state = RankedMutex(.leaf, State())
    private let timers: TimerQueue

    package init(_ timers: TimerQueue) { self.timers = timers }

    /// Returns the recovery of a realm, and keeps it for longer; nil when there is none.
    package func find(_ database: Database) -> KeptRecovery? {
        sweep()
        return state.withLock { state in
            guard let index = state.entries.firstIndex(where: { $0.database === database }) else { return nil }
            var entry = state.entries.remove(at: index)
            entry.expires = .now().adding(seconds: KeptRecoveries.seconds)
            state.entries.append(entry)
            return entry.recovery
        }
    }

    /// Returns the recovery of a realm with an id.
    ///
    /// - Throws: `not_found` when it was not made, has expired or was released.
    package func find(_ id: String, _ database: Database) throws(Problem) -> KeptRecovery {
        if let recovery = find(database), recovery.id == id { return recovery }
        throw Problem(.notFound, "there is no recovery of this id: it has ended; GET …/recovered makes another one")
    }

    /// Releases the recovery of a realm.
    ///
    /// - Returns: False when there is none.
    package func release(_ database: Database) -> Bool {
        state.withLock { state in
            let count = state.entries.count
            state.entries.removeAll { $0.database === database }
            return state.entries.count < count
        }
    }

    // MARK: - Making

    /// Waits for the recovery of a realm, and begins a search where none is made yet.
    ///
    /// - Parameters:
    ///   - search: Searches the file and calls its argument once; it is called at once, if this request begins the search.
    ///   - completion: Receives the recovery; `overloaded` while the file of another realm is searched.
    package func make(
        _ database: Database, _ search: (@escaping Completion) -> Void, completion: @escaping Completion
    ) {
        if let known = find(database) { return completion(.success(known)) }
        let (isFirst, isRefused) = state.withLock { state -> (Bool, Bool) in
            let isFirst = state.searched == nil
            guard isFirst || state.searched == ObjectIdentifier(database), state.waiting.count < KeptRecoveries.maximumWaiting
            else { return (false, true) }
            state.searched = ObjectIdentifier(database)
            state.waiting.append(completion)
            return (isFirst, false)
        }
        guard !isRefused else {
            var problem = Problem(.overloaded, "the file of another realm is being searched; one is searched at a time")
            problem.retryAfterSeconds = 5
            return completion(.failure(problem))
        }
        guard isFirst else { return }
        search { [self] result in end(database, result) }
    }

    /// Keeps the result of a search, and hands it to all who wait.
    private func end(_ database: Database, _ result: Result<KeptRecovery, Problem>) {
        let waiting = state.withLock { state -> [Completion] in
            if case .success(let recovery) = result {
                if state.entries.count == KeptRecoveries.maximumCount { state.entries.removeFirst() }
                state.entries.append(
                    Entry(database: database, recovery: recovery, expires: .now().adding(seconds: KeptRecoveries.seconds)))
            }
            state.searched = nil
            defer { state.waiting = [] }
            return state.waiting
        }
        sweepLater()
        for completion in waiting { completion(result) }
    }

    // MARK: - Expiry

    /// Releases the recoveries that were not used for long, and those of realms that were closed.
    private func sweep() {
        let now = Instant.now()
        let ended = state.withLock { state -> [Entry] in
            let ended = state.entries.filter { $0.expires <= now || $0.database == nil }
            if !ended.isEmpty { state.entries.removeAll { $0.expires <= now || $0.database == nil } }
            return ended
        }
        withExtendedLifetime(ended) {}
    }

    private func sweepLater() {
        let time = state.withLock { state -> Instant? in
            guard state.nextSweep == nil, let next = state.entries.map(\.expires).min() else { return nil }
            state.nextSweep = next
            return next
        }
        guard let time else { return }
        timers.set(at: time) { [weak self] in
            guard let self else { return }
            state.withLock { $0.nextSweep = nil }
            sweep()
            sweepLater()
        }
    }
}
