// SPDX-License-Identifier: Apache-2.0

internal import RealmStorage

/// Calls its observers with every commit, in order, on the writer thread.
///
/// Order: the commit is durable and its version is the newest before any observer is called, and the write is answered after
/// all of them have returned.
package final class CommitFeed: Sendable {
    /// Called on the writer thread.
    package typealias Observer = @Sendable (Commit) -> Void

    /// What the lock guards.
    private struct State {
        /// By the tokens that `add` gave out.
        var observers: [Int: Observer] = [:]
        /// The token that was given out last.
        var nextToken = 0
    }

    /// The observers; the lock is a leaf and not held while they are called.
    private let state = RankedMutex(.leaf, State())

    /// A feed without observers, for which commits cost nothing.
    init() {}

    /// `observer` is called after a commit is durable and before those who wait for it are answered. It must not wait;
    /// what it needs of the commit it has to keep itself.
    package func add(_ observer: @escaping Observer) -> Int {
        state.withLock { state in
            state.nextToken += 1
            state.observers[state.nextToken] = observer
            return state.nextToken
        }
    }

    /// Ends the calls of an observer. One that is running may still end after this.
    package func remove(_ token: Int) {
        // What the observer holds goes after the lock is open again.
        let observer = state.withLock { $0.observers.removeValue(forKey: token) }
        withExtendedLifetime(observer) {}
    }

    /// Calls all observers in the order in which they were added. `commit` is only made when there are any.
    func publish(_ commit: @autoclosure () -> Commit) {
        let observers = state.withLock { $0.observers }
        guard !observers.isEmpty else { return }
        HeldLocks.assertNone()
        let commit = commit()
        for (_, observer) in observers.sorted(by: { $0.key < $1.key }) { observer(commit) }
    }
}
