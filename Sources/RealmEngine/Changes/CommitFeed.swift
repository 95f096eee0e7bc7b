// SPDX-License-Identifier: Apache-2.0

package import RealmStorage

/// One commit: the versions before and after it, and what was done in between.
package struct Commit: Sendable {
    package let previous: Database.Version
    package let version: Database.Version
    /// In the order in which it was done.
    package let changes: [ObjectChange]
    /// What its writer wants those to know who are told of it. Such a commit has one writer.
    package let mark: (any Sendable)?

    /// What became of every class.
    package var summary: ChangeSummary { ChangeSummary(changes) }
}

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
