// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform
internal import RealmStorage

/// Calls its observers with every commit, in order, on the writer's thread.
///
/// A commit is durable, and its version is the newest, before any observer is called; the writes are
/// answered after all observers have returned. There is one feed for each database.
package final class CommitFeed: Sendable {
    /// A function that is called with each commit on the writer's thread.
    package typealias Observer = @Sendable (Commit) -> Void

    /// The observers of a feed with the last token, as the lock of the feed guards them.
    private struct State {
        /// The observers by the tokens that `add` returned.
        var observers: [Int: Observer] = [:]
        /// The token that `add` returned last; tokens count up from 1.
        var nextToken = 0
    }

    /// The observers; the lock is a leaf and not held while they are called.
    private let state = RankedMutex(.leaf, State())

    /// A feed without observers, for which commits cost nothing.
    init() {}

    /// Whether there are observers at present.
    var isObserved: Bool { state.withLock { !$0.observers.isEmpty } }

    /// Adds an observer. It is called when a commit is durable and before its writes are answered.
    ///
    /// It must not wait, as the writer's thread runs it, and it has to keep what it needs of the commit
    /// itself.
    ///
    /// - Returns: The token with which `remove` removes the observer.
    package func add(_ observer: @escaping Observer) -> Int {
        state.withLock { state in
            state.nextToken += 1
            state.observers[state.nextToken] = observer
            return state.nextToken
        }
    }

    /// Removes an observer. A call that is already running may still end after this.
    package func remove(_ token: Int) {
        // What the observer holds goes after the lock is open again.
        let observer = state.withLock { $0.observers.removeValue(forKey: token) }
        withExtendedLifetime(observer) {}
    }

    /// Calls all observers in the order in which they were added.
    ///
    /// - Parameter commit: The commit; it is evaluated only when there are observers.
    func publish(_ commit: @autoclosure () -> Commit) {
        let observers = state.withLock { $0.observers }
        guard !observers.isEmpty else { return }
        HeldLocks.assertNone()
        let commit = commit()
        for (_, observer) in observers.sorted(by: { $0.key < $1.key }) { observer(commit) }
    }
}
