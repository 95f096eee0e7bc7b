// SPDX-License-Identifier: Apache-2.0

internal import MicroHTTP
package import RealmEngine
internal import RealmFormats
internal import RealmPlatform
internal import RealmStorage

/// Brings several subscriptions to one version.
///
/// Each feed catches up with the newest commit on its own, so feeds may reach different versions.
/// Their feeds are active, so each gets the changes of every round of the hub: contents that were
/// read at an earlier version are still valid at the newest one unless their feed has got a change
/// up to then. Those that are not valid are read again, and after them those whose evaluation takes long. These are evaluated at the
/// newest version, so that the others need not be read once more. Several of these meet at one version from the beginning, so that each is
/// evaluated once. `RealmNotifications.align` makes one per alignment.
///
/// Definitions that are not observed yet begin one after another. So each one is counted before the next is
/// evaluated, and a client has others wait for one evaluation at the most.
final class SubscriptionAlignment: Sendable {
    /// The answers of the feeds in the current attempt to align them, guarded by the lock.
    private struct State {
        /// The number of feeds that catch up together and have not done so yet.
        var missing = 0
        /// The number of the version that each feed has reached, by index; nil before its answer.
        var versions: [UInt64?]
        /// The newest of these versions; the earlier ones are not kept.
        var newest: Version?
        /// The rows of each subscription at its version, by index.
        var contents: [ObservedContents?]
        /// The first problem that a feed has reported; it fails the whole alignment.
        var problem: Problem?
    }

    /// The subscriptions that are brought to one version.
    private let subs: [ReadSubscription]
    /// Whether the rows at the version are needed, for snapshots.
    private let wantsContents: Bool
    /// Counts the memory of the definitions for their client; nil when it is counted elsewhere.
    private let share: ObservedShare?
    /// Limits the memory and the time of all definitions that are observed from now on.
    private let limits: ObservedMemory.Admission
    private let newest: @Sendable () -> Version
    /// Receives the common version and contents, or the problem, once.
    private let completion: @Sendable (Result<AlignedSubscriptions, Problem>) -> Void
    private let state: RankedMutex<State>

    /// Makes an alignment, which does nothing before `begin`.
    ///
    /// - Parameters:
    ///   - subs: The subscriptions, whose feeds have to be active.
    ///   - wantsContents: Whether the rows at the version are needed, for snapshots.
    ///   - share: Counts the memory of the definitions for their client; nil when it is counted elsewhere.
    ///   - limits: Limits the memory and the time of definitions that are observed from now on.
    ///   - completion: Receives the common version, or the problem of a feed. Called once, without a lock.
    init(
        _ subs: [ReadSubscription], wantsContents: Bool, countedIn share: ObservedShare?, _ limits: ObservedMemory.Admission,
        newest: @escaping @Sendable () -> Version,
        _ completion: @escaping @Sendable (Result<AlignedSubscriptions, Problem>) -> Void
    ) {
        self.subs = subs
        self.wantsContents = wantsContents
        self.share = share
        self.limits = limits
        self.newest = newest
        self.completion = completion
        state = RankedMutex(
            .leaf,
            State(
                versions: Array(repeating: nil, count: subs.count), contents: Array(repeating: nil, count: subs.count)))
    }

    /// Starts the alignment. The completion is called later on the thread of the hub, or at once on this thread.
    func begin() { catchUp(Array(subs.indices)) }

    /// Lets the feeds of some subscriptions catch up with the newest commit: first those that are not observed yet, one after
    /// another.
    private func catchUp(_ indexes: [Int]) {
        let others = indexes.filter { subs[$0].feed.isObserved }
        begin(indexes.filter { !others.contains($0) }[...], before: others)
    }

    /// Begins the observation of the first of some subscriptions, and then that of the next one, as long as none has failed.
    ///
    /// - Parameters:
    ///   - indexes: The subscriptions that are not observed.
    ///   - others: Those that catch up together afterwards.
    private func begin(_ indexes: ArraySlice<Int>, before others: [Int]) {
        guard let index = indexes.first, !hasFailed else { return catchUpTogether(others) }
        catchUp(index, at: nil) { [self] in
            let rest = indexes.dropFirst()
            guard !rest.isEmpty else { return begin(rest, before: others) }
            // It catches up with the others once more, so that it keeps no version while the next one is evaluated.
            forget(index)
            begin(rest, before: others + [index])
        }
    }

    /// Drops the state that the feed of a subscription has reached.
    private func forget(_ index: Int) {
        let old = state.withLock { state -> (Version?, ObservedContents?) in
            defer {
                state.newest = nil
                state.versions[index] = nil
                state.contents[index] = nil
            }
            return (state.newest, state.contents[index])
        }
        withExtendedLifetime(old) {}
    }

    /// Lets the feeds of observed subscriptions catch up. The last one ends the attempt.
    private func catchUpTogether(_ indexes: [Int]) {
        guard !indexes.isEmpty, !hasFailed else { return finish() }
        // One alone goes as far as it can, so that all who wait for it wait for the same evaluation.
        let goal = indexes.count { subs[$0].feed.takesLong } > 1 ? newest() : nil
        let stop = state.withLock { state -> Version? in
            state.missing = indexes.count
            let isFirst = indexes.allSatisfy { state.versions[$0] == nil }
            state.newest = state.newest ?? goal
            return isFirst && goal == nil ? nil : state.newest
        }
        for index in indexes {
            catchUp(index, at: stop) { [self] in
                let isLast = state.withLock { state -> Bool in
                    state.missing -= 1
                    return state.missing == 0
                }
                if isLast { finish() }
            }
        }
    }

    /// Whether a feed has reported a problem. No observation begins after that.
    private var hasFailed: Bool { state.withLock { $0.problem != nil } }

    /// Lets the feed of a subscription catch up with the newest commit, or with an earlier version if it is behind that.
    ///
    /// - Parameters:
    ///   - stop: The version where it meets others; nil for none.
    ///   - continuation: Called when it has caught up or failed.
    private func catchUp(_ index: Int, at stop: Version?, then continuation: @escaping @Sendable () -> Void) {
        var admission = limits
        admission.isWanted = { [self] in !hasFailed && limits.isWanted?() ?? true }
        subs[index].feed.catchUp(wantsContents: wantsContents, at: stop, admission) { [self] result in
            note(counted(result, index), index)
            continuation()
        }
    }

    /// Counts the memory of a feed for the client. The result is a failure when the client exceeds its limit.
    private func counted(
        _ result: Result<(Version, ObservedContents?), Problem>, _ index: Int
    ) -> Result<(Version, ObservedContents?), Problem> {
        guard let share, case .success = result else { return result }
        do throws(Problem) {
            try subs[index].feed.join(share)
            return result
        } catch {
            return .failure(error)
        }
    }

    /// Records that one feed has caught up, or has failed.
    private func note(_ result: Result<(Version, ObservedContents?), Problem>, _ index: Int) {
        // The replaced contents are released after the lock.
        let old = state.withLock { state -> (Version?, ObservedContents?) in
            let old = (state.newest, state.contents[index])
            switch result {
            case .success(let (version, contents)):
                state.versions[index] = version.token.version
                state.contents[index] = wantsContents ? contents : nil
                if state.newest.map({ $0.token.version < version.token.version }) ?? true { state.newest = version }
            case .failure(let problem): state.problem = state.problem ?? problem
            }
            return old
        }
        withExtendedLifetime(old) {}
    }

    /// Ends the alignment, or reads contents again that have changed between their version and the newest one.
    private func finish() {
        HeldLocks.assertNone()
        let (versions, last, contents, problem) = state.withLock { state in
            (state.versions, state.newest, state.contents, state.problem)
        }
        if let problem { return completion(.failure(problem)) }
        guard let newest = last else {
            return completion(.failure(Problem(.internalError, "there is no subscription to align")))
        }
        let stale = subs.indices.filter { index in
            versions[index].map { isStale(subs[index].feed, at: $0, for: newest.token.version) } ?? false
        }
        guard !stale.isEmpty else {
            return completion(.success(AlignedSubscriptions(version: newest, contents: contents)))
        }
        let quick = stale.filter { subs[$0].feed.behind == nil }
        catchUp(quick.isEmpty ? stale : quick)
    }

    /// Whether the contents that a feed has reported at a version are known to differ at a later one.
    private func isStale(_ feed: ChangeFeed, at version: UInt64, for newest: UInt64) -> Bool {
        guard version < newest else { return false }
        if let behind = feed.behind, behind < newest { return true }
        guard wantsContents else { return false }
        // Sets that were dropped may have changed it.
        let (place, set) = feed.next(after: version)
        return place == .lost || set.map { $0.from < newest } ?? false
    }
}

/// The result of `SubscriptionAlignment`: several subscriptions whose feeds have all reached one version.
///
/// A stream, a poll or a registration begins at this version. While the value is held, the version
/// stays readable, so that snapshots of it can be written.
package struct AlignedSubscriptions: Sendable {
    /// The version that all subscriptions have reached.
    package let version: Version
    /// The rows of each subscription at that version, by the index of the subscription; nil where the caller did not want them.
    let contents: [ObservedContents?]
}
