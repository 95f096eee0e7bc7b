// SPDX-License-Identifier: Apache-2.0

internal import RealmStorage

/// Tells those who asked of every commit, in order, on the writer thread.
package final class CommitFeed: Sendable {
    package typealias Observer = @Sendable (Commit) -> Void

    private struct State {
        var observers: [Int: Observer] = [:]
        var nextToken = 0
    }

    private let state = RankedMutex(.leaf, State())

    init() {}

    /// `observer` is called after a commit is durable and before those who wait for it are answered. It must not wait;
    /// it keeps what it needs, because nobody else does.
    package func add(_ observer: @escaping Observer) -> Int {
        state.withLock { state in
            state.nextToken += 1
            state.observers[state.nextToken] = observer
            return state.nextToken
        }
    }

    package func remove(_ token: Int) {
        // What the observer holds goes after the lock is open again.
        let observer = state.withLock { $0.observers.removeValue(forKey: token) }
        withExtendedLifetime(observer) {}
    }

    func publish(_ commit: @autoclosure () -> Commit) {
        let observers = state.withLock { $0.observers }
        guard !observers.isEmpty else { return }
        HeldLocks.assertNone()
        let commit = commit()
        for (_, observer) in observers.sorted(by: { $0.key < $1.key }) { observer(commit) }
    }
}
