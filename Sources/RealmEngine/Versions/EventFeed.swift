// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform

/// Calls its observers with every event, in order, on the thread that publishes.
///
/// A database has one for its commits, which are published on the writer's thread: a commit is durable, and its version is the newest,
/// before any observer is called, and the writes are answered after all observers have returned. A hub has one for the versions that all
/// of its active targets have reached, which are published on its own thread after the listeners were called.
package final class EventFeed<Event: Sendable>: Sendable {
    package typealias Observer = @Sendable (Event) -> Void

    private struct State {
        /// The observers by the tokens that `add` returned.
        var observers: [Int: Observer] = [:]
        /// The token that `add` returned last; tokens count up from 1.
        var nextToken = 0
    }

    /// The observers; the lock is a leaf and not held while they are called.
    private let state = RankedMutex(.leaf, State())

    /// Whether there are observers at present.
    var isObserved: Bool { state.withLock { !$0.observers.isEmpty } }

    /// Adds an observer, which must not wait, and has to keep what it needs of the event itself.
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
        // The observer is released after the lock.
        let observer = state.withLock { $0.observers.removeValue(forKey: token) }
        withExtendedLifetime(observer) {}
    }

    /// Calls all observers in the order in which they were added. The event is evaluated only when there are any.
    func publish(_ event: @autoclosure () -> Event) {
        let observers = state.withLock { $0.observers }
        guard !observers.isEmpty else { return }
        HeldLocks.assertNone()
        let event = event()
        for (_, observer) in observers.sorted(by: { $0.key < $1.key }) { observer(event) }
    }
}
