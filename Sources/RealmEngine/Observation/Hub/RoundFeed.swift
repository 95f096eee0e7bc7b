// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform
internal import RealmStorage

/// The observers of the rounds of a hub. Observers may be added and removed from any thread.
final class RoundFeed: Sendable {
    /// A function that is called on the thread of the hub.
    typealias Observer = @Sendable (ObservationRound) -> Void

    /// The observers of rounds with the last token, as the lock of the feed guards them.
    private struct State {
        /// The observers by the tokens that `add` returned.
        var observers: [Int: Observer] = [:]
        /// The token that `add` returned last; tokens count up from 1.
        var nextToken = 0
    }

    /// The observers; the lock is a leaf and not held while they are called.
    private let state = RankedMutex(.leaf, State())

    /// Adds an observer of rounds; returns a token for `remove`.
    func add(_ observer: @escaping Observer) -> Int {
        state.withLock { state in
            state.nextToken += 1
            state.observers[state.nextToken] = observer
            return state.nextToken
        }
    }

    /// Removes an observer. A call that is running may still end after this.
    func remove(_ token: Int) {
        let observer = state.withLock { $0.observers.removeValue(forKey: token) }
        withExtendedLifetime(observer) {}
    }

    /// Calls all observers in the order in which they were added.
    func publish(_ round: ObservationRound) {
        HeldLocks.assertNone()
        for (_, observer) in state.withLock({ $0.observers }).sorted(by: { $0.key < $1.key }) { observer(round) }
    }
}
