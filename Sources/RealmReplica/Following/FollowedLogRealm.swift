// SPDX-License-Identifier: Apache-2.0

package import RealmEngine
package import RealmPlatform
internal import RealmStorage

/// A realm that another node owns, and that this one serves for reading: its file is a cache of the log.
///
/// The database is an ordinary one whose writes are refused with `.notOwner`. Records are applied in the place of the file and
/// published as commits with the changes that the owner recorded, so versions have the same tokens, and observers get the same
/// notifications, as at the owner.
///
/// A `LogFollower` passes heads of the log and lends threads. One thread at a time has the *turn*, in which records are applied.
///
/// `@unchecked Sendable`: only the thread that has the turn uses `work`; `monitor` guards everything else.
package final class FollowedLogRealm: @unchecked Sendable {
    /// The open realm.
    package let database: Database
    package let name: String
    /// How opening brought the file up to the log; nil for a realm that was owned before.
    package let way: LogReplay.Way?
    /// The source of heads of the log.
    let follower: LogFollower
    /// Callbacks to the host of the realm.
    let hooks: ReplicaHooks
    /// The state that threads share.
    let monitor: Monitor<State>
    /// The state of the thread that has the turn.
    var work: Work

    var log: any RealmLog { follower.log }
    var limits: FollowerLimits { follower.limits }

    /// The state that threads share.
    struct State {
        /// The head as it was last seen; nil before the first time.
        var head: LogHead?
        /// When the log was asked for that.
        var seen: Instant
        /// The place in the chain that the realm has reached.
        var place: RecordChain
        /// Whether a thread has the turn.
        var isTurn = false
        /// Whether no thread may take the turn any more.
        var isStopped = false
        /// Why the realm is not followed any more; nil while it is.
        var end: ReplicaHooks.End?
        /// Whether that was said.
        var isEndKnown = false
        /// The error of the last attempt; nil after a success.
        var failure: StorageError?
        /// The number of failures in a row.
        var failureCount = 0
        /// The time of the next retry.
        var retry = Instant(nanoseconds: 0)
        /// Callers that wait for a version.
        var waiters: [Waiter] = []
        var nextWaiter = 0
        var counts = ReplicaCounts()
    }

    /// The state of the thread that has the turn.
    struct Work {
        /// The place in the chain that the realm has reached.
        var chain: RecordChain
        /// The top node of the version there, while the file is not at it yet.
        var top: Ref?
        /// The file that states it.
        var position: FilePosition
        /// A record that waits for readers.
        var pending: Pending?
        /// Whether the records that follow were asked for a second time.
        var hasRefetched = false
        /// Whether no record can be applied to the file as it is.
        var needsFile: Bool
    }

    /// A record that waits for readers of versions that it would overwrite.
    struct Pending {
        /// The sealed record.
        let bytes: [UInt8]
        /// Since when it waits.
        let since: Instant
        /// When readers were asked to end.
        var announced: Instant?
    }

    /// Makes a follower of an open realm that is not written here.
    ///
    /// - Parameters:
    ///   - chain: The place in the chain that its file has.
    ///   - way: How the file was brought up to the log.
    ///   - follower: The source of heads of the log.
    ///   - hooks: Callbacks to the host of the realm.
    ///   - needsFile: Whether no record can be applied to the file as it is.
    init(
        _ database: Database, at chain: RecordChain, by way: LogReplay.Way?, _ follower: LogFollower,
        hooks: ReplicaHooks, needsFile: Bool = false
    ) throws(StorageError) {
        self.database = database
        self.way = way
        self.follower = follower
        self.hooks = hooks
        name = chain.realm
        work = Work(
            chain: chain,
            position: try FilePosition(chain, top: database.current.snapshot.top.ref, for: database.path), needsFile: needsFile)
        let now = follower.clock()
        monitor = Monitor(State(seen: now, place: chain))
        database.replicationStatus.note(reached: chain.version)
        database.replicationStatus.note(newest: chain.version, asked: now)
    }

    // MARK: - Opening and closing

    /// The number of attempts to open while the log moves on.
    private static let attempts = 3

    /// Brings the file of a realm up to its log, or makes it, opens it, and begins to follow. Blocks until then.
    ///
    /// - Parameters:
    ///   - follower: The source of heads of the log.
    ///   - hooks: Callbacks to the host of the realm.
    /// - Throws: `.refused(.fileNotFound)` when the log does not know the realm; `.refused(.logUnavailable)`; errors of opening a
    ///   file.
    package static func open(
        _ opening: LoggedRealm.Opening, _ follower: LogFollower, _ hooks: ReplicaHooks = ReplicaHooks()
    ) throws(StorageError) -> FollowedLogRealm {
        var attempt = 0
        while true {
            let asked = follower.clock()
            guard let head = try follower.log.heads(of: [opening.name.text], confirmedFor: nil)[opening.name.text] else {
                try LoggedRealm.removeDropped(opening, follower.log)
                throw .refused(.fileNotFound)
            }
            let opened: (database: Database, chain: RecordChain, way: LogReplay.Way)
            do throws(StorageError) {
                opened = try LoggedRealm.openFile(opening, follower.log, at: head)
            } catch {
                // The records up to this head may have been pruned in the meantime.
                attempt += 1
                guard error.isDamage, attempt < attempts else { throw error }
                continue
            }
            do throws(StorageError) {
                _ = try opened.database.stopWriting(for: head.owner.node)
                let realm = try FollowedLogRealm(opened.database, at: opened.chain, by: opened.way, follower, hooks: hooks)
                _ = realm.note(head, asked: asked, isConfirmed: false)
                try follower.add(realm)
                return realm
            } catch {
                opened.database.close()
                throw error
            }
        }
    }

    /// Stops to follow, fails all waiters, and closes the realm. Blocks until then.
    package func close() {
        abandon()
        database.close()
    }

    /// Stops to follow, and fails all waiters. Blocks while records are applied.
    package func abandon() {
        follower.remove(self)
        stop()
        failWaiters()
    }

    /// Waits for the current turn to end, and blocks new ones.
    func stop() {
        monitor.withLock { $0.isStopped = true }
        _ = monitor.wait { state -> Bool? in state.isTurn ? nil : true }
    }

    // MARK: - State of the log

    /// The number of the newest version of this realm.
    package var version: UInt64 { monitor.withLock { $0.place.version } }

    package var lag: LogFollower.Lag {
        let now = follower.clock()
        return monitor.withLock { state in
            let newest = state.head?.version ?? state.place.version
            let commits = newest > state.place.version ? newest - state.place.version : 0
            return LogFollower.Lag(commits: commits, seconds: now.seconds(since: state.seen))
        }
    }

    /// Whether the log has answered lately, so that what is read here is at most so old.
    package var isCurrent: Bool { lag.seconds <= limits.contactSeconds }

    /// The node that owns the realm, as far as is known; empty when none does.
    package var owner: String { database.writerElsewhere ?? "" }

    package var counts: ReplicaCounts { monitor.withLock { $0.counts } }

    /// Why the realm does not get on at present; nil when it does.
    package var failure: StorageError? { monitor.withLock { $0.failure } }

    /// Why the realm is not followed any more; nil while it is.
    package var end: ReplicaHooks.End? { monitor.withLock { $0.end } }

    /// Records the answer of the log.
    ///
    /// - Parameters:
    ///   - head: The head; nil when the log does not know the realm.
    ///   - isConfirmed: Whether the log has confirmed that it is the one that counts.
    /// - Returns: Whether there is something to do.
    func note(_ head: LogHead?, asked: Instant, isConfirmed: Bool) -> Bool {
        guard let head else {
            finish(.missing)
            announceEnd()
            return false
        }
        let now = follower.clock()
        let (ready, isBehind) = monitor.broadcast { state -> ([Waiter], Bool) in
            state.head = head
            state.seen = max(state.seen, asked)
            let ready = isConfirmed ? state.takeReady(seen: head, asked: asked) : []
            return (ready, state.isBehind && state.retry <= now)
        }
        database.replicationStatus.note(newest: head.version, asked: asked)
        database.noteWriter(head.owner.node)
        for waiter in ready { waiter.completion(true) }
        return isBehind
    }

    /// Ends following. The thread with the turn calls `announceEnd` after it.
    func finish(_ end: ReplicaHooks.End) {
        monitor.broadcast { state in
            if state.end == nil { state.end = end }
            state.isStopped = true
        }
    }

    /// Says once that following has ended, if it has. The realm may be closed by that.
    func announceEnd() {
        let end = monitor.withLock { state -> ReplicaHooks.End? in
            defer { state.isEndKnown = state.end != nil }
            return state.isEndKnown ? nil : state.end
        }
        guard let end else { return }
        failWaiters()
        hooks.didEnd(end)
    }
}

extension FollowedLogRealm.State {
    /// Whether the log has something that the realm has not.
    var isBehind: Bool {
        guard let head, !isStopped, !isTurn else { return false }
        return head.lineage != place.epoch || head.version != place.version || head.checksum.bytes != place.checksum
    }
}
