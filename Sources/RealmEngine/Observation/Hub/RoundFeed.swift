// SPDX-License-Identifier: Apache-2.0

internal import RealmStorage

/// Those who hear of the rounds of a hub.
final class RoundFeed: Sendable {
    typealias Observer = @Sendable (ObservationRound) -> Void

    private struct State {
        var observers: [Int: Observer] = [:]
        var nextToken = 0
    }

    private let state = RankedMutex(.leaf, State())

    func add(_ observer: @escaping Observer) -> Int {
        state.withLock { state in
            state.nextToken += 1
            state.observers[state.nextToken] = observer
            return state.nextToken
        }
    }

    func remove(_ token: Int) {
        let observer = state.withLock { $0.observers.removeValue(forKey: token) }
        withExtendedLifetime(observer) {}
    }

    func publish(_ round: ObservationRound) {
        HeldLocks.assertNone()
        for (_, observer) in state.withLock({ $0.observers }).sorted(by: { $0.key < $1.key }) { observer(round) }
    }
}
