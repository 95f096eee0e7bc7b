// SPDX-License-Identifier: Apache-2.0

internal import RealmEngine
internal import RealmStorage

/// Brings several subscriptions to one version.
///
/// Each feed catches up with the newest commit on its own, so feeds may reach different versions.
/// Their feeds are active, so each gets the changes of every round of the hub: contents that were
/// read at an earlier version are still valid at the newest one unless their feed has got a change
/// since then. Those that are not valid are read again. `RealmNotifications.align` makes one per
/// alignment.
final class SubscriptionAlignment: Sendable {
    /// What the feeds have answered in the current attempt to align them, guarded by the lock.
    private struct State {
        /// The number of feeds that have not caught up yet.
        var missing = 0
        /// The version that each feed has reached, by index; nil before its answer.
        var versions: [Version?]
        /// The rows of each subscription at its version, by index.
        var contents: [ObservedContents?]
        /// The first problem that a feed has reported; it fails the whole alignment.
        var problem: Problem?
    }

    /// The subscriptions that are brought to one version.
    private let subs: [ReadSubscription]
    /// Whether the rows at the version are needed, for snapshots.
    private let wantsContents: Bool
    /// Counts what the definitions take for their client; nil when that is counted elsewhere.
    private let share: ObservedShare?
    /// Limits the memory and the time of all definitions that are observed from now on.
    private let limits: ObservedMemory.Admission
    /// Receives the common version and contents, or the problem, once.
    private let completion: @Sendable (Result<AlignedSubscriptions, Problem>) -> Void
    private let state: RankedMutex<State>

    /// Makes an alignment, which does nothing before `begin`.
    ///
    /// - Parameters:
    ///   - subs: The subscriptions, whose feeds have to be active.
    ///   - wantsContents: Whether the rows at the version are needed, for snapshots.
    ///   - share: Counts what the definitions take for their client; nil when that is counted elsewhere.
    ///   - limits: Limits the memory and the time of definitions that are observed from now on.
    ///   - completion: Receives the common version, or the problem of a feed. Called once, without
    ///     a lock.
    init(
        _ subs: [ReadSubscription], wantsContents: Bool, countedIn share: ObservedShare?, _ limits: ObservedMemory.Admission,
        _ completion: @escaping @Sendable (Result<AlignedSubscriptions, Problem>) -> Void
    ) {
        self.subs = subs
        self.wantsContents = wantsContents
        self.share = share
        self.limits = limits
        self.completion = completion
        state = RankedMutex(
            .leaf,
            State(
                versions: Array(repeating: nil, count: subs.count), contents: Array(repeating: nil, count: subs.count)))
    }

    /// Starts the alignment. The completion is called later on the thread of the hub, or at once on
    /// this thread.
    func begin() { catchUp(Array(subs.indices)) }

    /// Has the feeds of some subscriptions catch up with the newest commit.
    private func catchUp(_ indexes: [Int]) {
        state.withLock { $0.missing = indexes.count }
        var admission = limits
        // Nothing is observed for a request that has failed already.
        admission.isWanted = { [self] in state.withLock { $0.problem == nil } && limits.isWanted?() ?? true }
        for index in indexes {
            subs[index].feed.catchUp(wantsContents: wantsContents, admission) { [self] result in
                add(counted(result, index), index)
            }
        }
    }

    /// Counts what a feed takes for the client. The result is a failure when the client exceeds its limit.
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

    /// Notes that one feed has caught up, or has failed. The last one ends the attempt.
    private func add(_ result: Result<(Version, ObservedContents?), Problem>, _ index: Int) {
        // Contents of an earlier version are released after the lock.
        let (isDone, old) = state.withLock { state -> (Bool, (Version?, ObservedContents?)) in
            let old = (state.versions[index], state.contents[index])
            switch result {
            case .success(let (version, contents)):
                state.versions[index] = version
                state.contents[index] = contents
            case .failure(let problem): state.problem = state.problem ?? problem
            }
            state.missing -= 1
            return (state.missing == 0, old)
        }
        withExtendedLifetime(old) {}
        if isDone { finish() }
    }

    /// Ends the alignment, or reads contents again that have changed between their version and the
    /// newest one.
    private func finish() {
        HeldLocks.assertNone()
        let (versions, contents, problem) = state.withLock { ($0.versions.compactMap { $0 }, $0.contents, $0.problem) }
        if let problem { return completion(.failure(problem)) }
        guard let newest = versions.max(by: { $0.token.version < $1.token.version }) else {
            return completion(.failure(Problem(.internalError, "there is no subscription to align")))
        }
        let stale = subs.indices.filter { index in
            let version = versions[index].token.version
            return wantsContents && version < newest.token.version && subs[index].feed.next(after: version).1 != nil
        }
        guard stale.isEmpty else { return catchUp(stale) }
        completion(.success(AlignedSubscriptions(version: newest, contents: contents)))
    }
}
