// SPDX-License-Identifier: Apache-2.0

internal import RealmEngine
internal import RealmStorage

/// Brings several subscriptions to one version. All of them are active, so that each feed gets the changes of every round: contents
/// that were read at an earlier version than those of another still hold unless the feed got a change since then.
final class SubscriptionAlignment: Sendable {
    private struct State {
        var missing = 0
        var versions: [Version?]
        var contents: [ObservedContents?]
        var problem: Problem?
    }

    private let subs: [ReadSubscription]
    private let wantsContents: Bool
    private let completion: @Sendable (Result<AlignedSubscriptions, Problem>) -> Void
    private let state: RankedMutex<State>

    init(
        _ subs: [ReadSubscription], wantsContents: Bool,
        _ completion: @escaping @Sendable (Result<AlignedSubscriptions, Problem>) -> Void
    ) {
        self.subs = subs
        self.wantsContents = wantsContents
        self.completion = completion
        state = RankedMutex(
            .leaf,
            State(
                versions: Array(repeating: nil, count: subs.count), contents: Array(repeating: nil, count: subs.count)))
    }

    /// Starts; `completion` is called later or at once, on the thread of the hub or on this one.
    func begin() { catchUp(Array(subs.indices)) }

    private func catchUp(_ indexes: [Int]) {
        state.withLock { $0.missing = indexes.count }
        for index in indexes {
            subs[index].feed.catchUp(wantsContents: wantsContents) { [self] result in add(result, index) }
        }
    }

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

    private func finish() {
        HeldLocks.assertNone()
        let (versions, contents, problem) = state.withLock { ($0.versions.compactMap { $0 }, $0.contents, $0.problem) }
        if let problem { return completion(.failure(problem)) }
        guard let newest = versions.max(by: { $0.token.version < $1.token.version }) else {
            return completion(.failure(Problem(.internalError, "nothing is observed")))
        }
        let stale = subs.indices.filter { index in
            let version = versions[index].token.version
            return wantsContents && version < newest.token.version && subs[index].feed.next(after: version).1 != nil
        }
        guard stale.isEmpty else { return catchUp(stale) }
        completion(.success(AlignedSubscriptions(version: newest, contents: contents)))
    }
}
