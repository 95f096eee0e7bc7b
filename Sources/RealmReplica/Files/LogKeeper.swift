// SPDX-License-Identifier: Apache-2.0

internal import RealmEngine
package import RealmPlatform
internal import RealmStorage

/// Makes bases of the realms that a node owns, and deletes from their logs what is behind them: one thread, one realm at a time.
///
/// A base is read back and verified before anything is deleted, as `LogBases.prune` says. Any thread may call it.
package final class LogKeeper: Sendable {
    package struct Counts: Sendable, Equatable {
        /// Bases that were made.
        package var bases = 0
        /// Deletions of records and older bases.
        package var prunings = 0
        /// Attempts that have failed.
        package var failures = 0
    }

    /// A realm whose log is kept short.
    private struct Entry {
        let realm: LoggedRealm
        /// The volume stored by the owner when the newest base was made.
        var before: RealmOwner.Volume
        /// The volume in the log after the newest base, from before the realm was owned here; nil until known.
        var earlier: RealmOwner.Volume?
        /// When it is looked at again after a failure.
        var retry = Instant(nanoseconds: 0)
    }

    /// The realms, and the state of the thread.
    private struct State {
        /// The realms.
        var entries: [ObjectIdentifier: Entry] = [:]
        /// The realm that is worked on.
        var current: ObjectIdentifier?
        /// Whether there is a thread.
        var isRunning = false
        /// Whether the thread is to end.
        var isStopped = false
        var counts = Counts()
        /// Why the last attempt has failed; nil when it has not.
        var failure: StorageError?
    }

    /// When bases are made.
    private let policy: BasePolicy
    /// Whether there is a thread; otherwise the owner of this object calls `work`.
    private let hasThread: Bool
    /// The realms, and the state of the thread.
    private let monitor = Monitor(State())

    /// Makes a keeper; its thread starts with the first realm, and ends after the last.
    ///
    /// - Parameters:
    ///   - policy: When bases are made.
    ///   - hasThread: Whether there is a thread; otherwise only `work` does anything.
    package init(_ policy: BasePolicy = BasePolicy(), hasThread: Bool = true) {
        self.policy = policy
        self.hasThread = hasThread
    }

    package var counts: Counts { monitor.withLock { $0.counts } }
    /// Why the last attempt has failed; nil when it has not.
    package var failure: StorageError? { monitor.withLock { $0.failure } }

    /// Adds a realm that is owned from now on.
    ///
    /// - Throws: `.io` when the system provides no thread.
    package func add(_ realm: LoggedRealm) throws(StorageError) {
        let entry = Entry(realm: realm, before: RealmOwner.Volume())
        let starts = monitor.broadcast { state in
            state.entries[ObjectIdentifier(realm)] = entry
            guard hasThread, !state.isRunning else { return false }
            state.isRunning = true
            state.isStopped = false
            return true
        }
        guard starts else { return }
        do throws(Threads.Failure) {
            try Threads.start("log-keeper", stackBytes: 1 << 20) { [self] in run() }
        } catch {
            monitor.withLock { state in
                state.isRunning = false
                state.entries[ObjectIdentifier(realm)] = nil
            }
            throw .io(operation: "pthread_create", errno: error.code)
        }
    }

    /// Removes a realm that is not owned any more. Blocks until no base of it is being made.
    package func remove(_ realm: LoggedRealm) {
        let key = ObjectIdentifier(realm)
        monitor.broadcast { state in _ = state.entries.removeValue(forKey: key) }
        _ = monitor.wait { state -> Bool? in state.current == key ? nil : true }
    }

    /// Ends the thread, whatever is still kept. Blocks until it has ended.
    package func stop() {
        monitor.broadcast { $0.isStopped = true }
        _ = monitor.wait { state -> Bool? in state.isRunning ? nil : true }
    }

    /// The loop of the thread.
    private func run() {
        while true {
            work()
            let next = Instant.now().adding(seconds: policy.checkSeconds)
            _ = monitor.wait(until: next) { state -> Bool? in state.isStopped || state.entries.isEmpty ? true : nil }
            let isOver = monitor.broadcast { state in
                if state.isStopped || state.entries.isEmpty { state.isRunning = false }
                return !state.isRunning
            }
            if isOver { return }
        }
    }

    /// Looks at all realms once, and makes the bases that are due.
    package func work() {
        let now = Instant.now()
        for (key, entry) in monitor.withLock({ $0.entries }) where entry.retry <= now {
            let isPresent = monitor.withLock { state in
                guard !state.isStopped, state.entries[key] != nil else { return false }
                state.current = key
                return true
            }
            guard isPresent else { continue }
            work(on: entry, key)
            monitor.broadcast { $0.current = nil }
        }
    }

    /// Makes a base of a realm if it is due, and deletes what is behind it.
    private func work(on entry: Entry, _ key: ObjectIdentifier) {
        var entry = entry
        do throws(StorageError) {
            if try keepShort(&entry) { monitor.withLock { $0.failure = nil } }
        } catch {
            entry.retry = Instant.now().adding(seconds: policy.retrySeconds)
            monitor.withLock { state in
                state.counts.failures += 1
                state.failure = error
            }
        }
        monitor.withLock { state in if state.entries[key] != nil { state.entries[key] = entry } }
    }

    /// Makes a base of a realm if it is due, and deletes what is behind it.
    ///
    /// - Returns: Whether it was due.
    private func keepShort(_ entry: inout Entry) throws(StorageError) -> Bool {
        let owner = entry.realm.owner
        let volume = owner.volume
        let earlier: RealmOwner.Volume
        if let known = entry.earlier { earlier = known } else { earlier = try entry.realm.volumeBefore(policy) }
        entry.earlier = earlier
        let added = RealmOwner.Volume(
            records: volume.records - entry.before.records + earlier.records,
            bytes: volume.bytes - entry.before.bytes + earlier.bytes)
        let byteCount = Int(clamping: entry.realm.database.current.snapshot.top.logicalSize)
        guard policy.isDue(added, for: byteCount) else { return false }
        _ = try entry.realm.makeBase()
        monitor.withLock { $0.counts.bases += 1 }
        entry.before = volume
        entry.earlier = RealmOwner.Volume()
        if try entry.realm.prune(keeping: policy.kept) != nil { monitor.withLock { $0.counts.prunings += 1 } }
        return true
    }
}

extension LoggedRealm {
    /// Returns the volume in the log after the newest base, as of when this node became the owner. Only the number of records by
    /// other nodes is known, so each counts as long as the policy assumes.
    func volumeBefore(_ policy: BasePolicy) throws(StorageError) -> RealmOwner.Volume {
        guard let place = owner.place else { return RealmOwner.Volume() }
        let newest = try bases().first { $0.lineage == place.epoch }
        let count = Int(clamping: place.version - min(newest?.version ?? 0, place.version)) - owner.volume.records
        let records = max(0, count)
        return RealmOwner.Volume(records: records, bytes: records * (policy.bytes / max(1, policy.records)))
    }
}
