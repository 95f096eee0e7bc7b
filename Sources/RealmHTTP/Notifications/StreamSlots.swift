// SPDX-License-Identifier: Apache-2.0

internal import RealmStorage

/// Counts streams and waiting polls, in all and per client.
final class StreamSlots: Sendable {
    /// One place; given back when it is let go.
    final class Slot: Sendable {
        private let slots: StreamSlots
        private let client: String

        fileprivate init(_ slots: StreamSlots, _ client: String) {
            self.slots = slots
            self.client = client
        }

        deinit { slots.release(client) }
    }

    private struct State {
        var total = 0
        var perClient: [String: Int] = [:]
    }

    private let state = RankedMutex(.leaf, State())
    private let limits: Limits

    init(_ limits: Limits) { self.limits = limits }

    /// Takes a place for a client: its principal, or without credentials its address.
    func take(_ client: String) throws(Problem) -> Slot {
        let problem = state.withLock { state -> Problem? in
            guard state.total < limits.streams else {
                return .overLimit(
                    .overloaded, "the server has as many streams and waiting polls as it takes", limit: limits.streams)
            }
            let known = state.perClient[client, default: 0]
            // Clients on a Unix socket have no address that would tell them apart.
            guard client.isEmpty || known < limits.streamsPerPrincipal else {
                return .overLimit(
                    .tooManyStreams, "too many streams and waiting polls of one client", limit: limits.streamsPerPrincipal)
            }
            state.total += 1
            state.perClient[client] = known + 1
            return nil
        }
        if let problem { throw problem }
        return Slot(self, client)
    }

    private func release(_ client: String) {
        state.withLock { state in
            state.total -= 1
            let left = state.perClient[client, default: 1] - 1
            state.perClient[client] = left > 0 ? left : nil
        }
    }
}
