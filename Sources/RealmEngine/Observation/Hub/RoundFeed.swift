// SPDX-License-Identifier: Apache-2.0

internal import RealmStorage

/// The observers of the rounds of a hub.
final class RoundFeed: Sendable {
    /// Called on the thread of the hub.
    typealias Observer = @Sendable (ObservationRound) -> Void

    /// What the lock guards.
    private struct State {
        /// By the tokens that `add` gave out.
        var observers: [Int: Observer] = [:]
        /// The token that was given out last.
        var nextToken = 0
    }

    /// The observers; the lock is a leaf and not held while they are called.
    private let state = RankedMutex(.leaf, State())

    /// Calls `observer` at the end of each round; returns a token for `remove`.
    func add(_ observer: @escaping Observer) -> Int {
        state.withLock { state in
            state.nextToken += 1
            state.observers[state.nextToken] = observer
            return state.nextToken
        }
    }

    /// Ends the calls of an observer.
    func remove(_ token: Int) {
        let observer = state.withLock { $0.observers.removeValue(forKey: token) }
        withExtendedLifetime(observer) {}
    }

    /// Calls all observers, in the order in which they were added.
    func publish(_ round: ObservationRound) {
        HeldLocks.assertNone()
        for (_, observer) in state.withLock({ $0.observers }).sorted(by: { $0.key < $1.key }) { observer(round) }
    }
}
