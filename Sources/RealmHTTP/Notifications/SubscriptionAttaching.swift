// SPDX-License-Identifier: Apache-2.0

internal import RealmEngine
internal import RealmStorage

/// Brings several subscriptions to one version. All of them are active, so that each is told of every round: the
/// contents of one that was earlier than another still hold unless it was told of a change since.
final class SubscriptionAttaching: Sendable {
    private struct State {
        var missing = 0
        var versions: [Database.Version?]
        var contents: [ObservedContents?]
        var problem: Problem?
    }

    private let subs: [ReadSubscription]
    private let wantsContents: Bool
    private let completion: @Sendable (Result<AttachedSubscriptions, Problem>) -> Void
    private let state: RankedMutex<State>

    init(
        _ subs: [ReadSubscription], wantsContents: Bool,
        _ completion: @escaping @Sendable (Result<AttachedSubscriptions, Problem>) -> Void
    ) {
        self.subs = subs
        self.wantsContents = wantsContents
        self.completion = completion
        state = RankedMutex(
            .leaf,
            State(
                versions: Array(repeating: nil, count: subs.count), contents: Array(repeating: nil, count: subs.count)))
    }

    func begin() { bring(Array(subs.indices)) }

    private func bring(_ indexes: [Int]) {
        state.withLock { $0.missing = indexes.count }
        for index in indexes {
            subs[index].channel.bring(wantsContents: wantsContents) { [self] result in took(result, index) }
        }
    }

    private func took(_ result: Result<(Database.Version, ObservedContents?), Problem>, _ index: Int) {
        // What was there of an earlier version goes after the lock is open again.
        let (isDone, old) = state.withLock { state -> (Bool, (Database.Version?, ObservedContents?)) in
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
            return wantsContents && version < newest.token.version && subs[index].channel.next(after: version).1 != nil
        }
        guard stale.isEmpty else { return bring(stale) }
        completion(.success(AttachedSubscriptions(version: newest, contents: contents)))
    }
}
