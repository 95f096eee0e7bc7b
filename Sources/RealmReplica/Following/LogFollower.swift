// SPDX-License-Identifier: Apache-2.0

package import RealmPlatform

/// Looks at a log for all realms that a node follows: one thread, and one statement for many heads. Moved realms advance on
/// shared threads.
///
/// Any thread may call it.
package final class LogFollower: Sendable {
    package struct Counts: Sendable, Equatable {
        /// Looks at the log, one for each statement.
        package var polls = 0
        package var failures = 0
    }

    package let log: any RealmLog
    private let node: String
    /// The interval of looks at the log, and limits for each realm.
    package let limits: FollowerLimits
    let clock: @Sendable () -> Instant
    /// Ends waits.
    let timers = TimerQueue()
    /// Runs what a realm has to do.
    private let run: @Sendable (@escaping @Sendable () -> Void) -> Void
    /// Whether there is a thread; otherwise the owner of this object calls `poll`.
    private let hasThread: Bool
    /// The realms, and the state of the thread.
    private let monitor = Monitor(State())

    /// The realms, and the state of the thread.
    private struct State {
        var realms: [ObjectIdentifier: FollowedLogRealm] = [:]
        /// Whether a caller waits for a look.
        var isHastened = false
        /// Whether there is a thread.
        var isRunning = false
        /// Whether the thread is to end.
        var isStopped = false
        var counts = Counts()
        /// The counts of realms that are not followed any more.
        var past = ReplicaCounts()
        /// Why the last look has failed; nil when it has not.
        var failure: StorageError?
    }

    /// Makes a follower; its thread starts with the first realm, and ends after the last.
    ///
    /// - Parameters:
    ///   - limits: The interval of looks at the log, and limits for each realm.
    package convenience init(_ log: any RealmLog, node: String, _ limits: FollowerLimits = FollowerLimits()) {
        self.init(log, node: node, limits, hasThread: true, clock: { .now() }) { task in
            do throws(Threads.Failure) {
                try SharedThreads.followers.submit(task)
            } catch {
                task()
            }
        }
    }

    /// Makes a follower with a clock and threads of its own, for tests.
    ///
    /// - Parameters:
    ///   - limits: The interval of looks at the log, and limits for each realm.
    ///   - hasThread: Whether there is a thread that looks; otherwise only `poll` does.
    ///   - clock: Replaces the clock of the system.
    ///   - run: Runs what a realm has to do.
    package init(
        _ log: any RealmLog, node: String, _ limits: FollowerLimits, hasThread: Bool, clock: @escaping @Sendable () -> Instant,
        run: @escaping @Sendable (@escaping @Sendable () -> Void) -> Void
    ) {
        self.log = log
        self.node = node
        self.limits = limits
        self.hasThread = hasThread
        self.clock = clock
        self.run = run
    }

    package var realmCount: Int { monitor.withLock { $0.realms.count } }
    package var counts: Counts { monitor.withLock { $0.counts } }
    /// Why the log could not be looked at last; nil when it could.
    package var failure: StorageError? { monitor.withLock { $0.failure } }

    /// The counts of all realms, and the largest lag of any.
    package var totals: (counts: ReplicaCounts, lag: LogFollower.Lag) {
        let (realms, past) = monitor.withLock { (Array($0.realms.values), $0.past) }
        let lags = realms.map(\.lag)
        return (
            realms.reduce(into: past) { $0.add($1.counts) },
            LogFollower.Lag(commits: lags.map(\.commits).max() ?? 0, seconds: lags.map(\.seconds).max() ?? 0)
        )
    }

    // MARK: - Realms

    /// Adds a realm, and starts the thread if there is none.
    func add(_ realm: FollowedLogRealm) throws(StorageError) {
        let starts = monitor.broadcast { state in
            state.realms[ObjectIdentifier(realm)] = realm
            state.isHastened = true
            guard hasThread, !state.isRunning else { return false }
            state.isRunning = true
            state.isStopped = false
            return true
        }
        guard starts else { return }
        do throws(Threads.Failure) {
            try Threads.start("log-follower", stackBytes: 1 << 20) { [self] in work() }
        } catch {
            monitor.withLock { state in
                state.isRunning = false
                state.realms[ObjectIdentifier(realm)] = nil
            }
            throw .io(operation: "pthread_create", errno: error.code)
        }
    }

    /// Removes a realm. A look that runs may still reach it.
    func remove(_ realm: FollowedLogRealm) {
        let counts = realm.counts
        monitor.broadcast { state in
            if state.realms.removeValue(forKey: ObjectIdentifier(realm)) != nil { state.past.add(counts) }
        }
    }

    /// Has the log looked at soon.
    func hasten() { monitor.broadcast { $0.isHastened = true } }

    /// Ends the thread, whatever is still followed. Blocks until it has ended.
    package func stop() {
        monitor.broadcast { $0.isStopped = true }
        _ = monitor.wait { state -> Bool? in state.isRunning ? nil : true }
    }

    // MARK: - The thread

    /// Looks at the log until there is no realm any more, or the follower is stopped.
    private func work() {
        while true {
            poll()
            Threads.sleep(seconds: limits.shortestPollSeconds)
            let next = Instant.now().adding(seconds: limits.pollSeconds - limits.shortestPollSeconds)
            _ = monitor.wait(until: next) { state -> Bool? in
                guard state.isStopped || state.isHastened || state.realms.isEmpty else { return nil }
                return true
            }
            let isOver = monitor.broadcast { state in
                state.isHastened = false
                if state.isStopped || state.realms.isEmpty { state.isRunning = false }
                return !state.isRunning
            }
            if isOver { return }
        }
    }

    /// Looks at the heads of all realms once, and has what has moved taken over.
    package func poll() {
        let realms = monitor.withLock { Array($0.realms.values) }.sorted { $0.name < $1.name }
        var start = 0
        while start < realms.count {
            let end = min(start + max(1, limits.headCount), realms.count)
            pollHeads(Array(realms[start..<end]))
            start = end
        }
    }

    /// Looks at the heads of some realms.
    private func pollHeads(_ realms: [FollowedLogRealm]) {
        let isConfirmed = realms.contains { $0.wantsConfirmation }
        let asked = clock()
        let heads: [ByteText: LogHead]
        do throws(StorageError) {
            heads = try log.heads(of: realms.map(\.name), confirmedFor: isConfirmed ? node : nil)
        } catch {
            return monitor.withLock { state in
                state.counts.polls += 1
                state.counts.failures += 1
                state.failure = error
            }
        }
        monitor.withLock { state in
            state.counts.polls += 1
            state.failure = nil
        }
        for realm in realms where realm.note(heads[realm.name], asked: asked, isConfirmed: isConfirmed) {
            run { realm.step() }
        }
    }
}

extension LogFollower {
    /// The lag of a realm behind its log, as far as known.
    package struct Lag: Sendable, Equatable {
        /// The number of commits in the log, when it was last seen, that the realm has not.
        package let commits: UInt64
        /// The number of seconds since the log was asked for what it last answered.
        package let seconds: Double
    }
}
