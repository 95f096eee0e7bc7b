// SPDX-License-Identifier: Apache-2.0

internal import RealmAccess
package import RealmFormats
internal import RealmPlatform
internal import RealmStorage

/// Counts the streams and waiting polls of a server, in all and per client, and refuses more than
/// the limits allow. Any thread may use it.
package final class StreamSlots: Sendable {
    /// One place of a stream or a poll among those that the limits allow. It is released when the object is deallocated.
    package final class Slot: Sendable {
        /// The counts of streams and polls that this place is part of.
        private let slots: StreamSlots
        /// The client whose stream or poll has this place.
        let client: String
        /// The memory of the definitions that it reads, unless a registration has them.
        let share: ObservedShare

        /// Makes a place for a stream or poll, which was counted before.
        fileprivate init(_ slots: StreamSlots, _ client: String) {
            self.slots = slots
            self.client = client
            share = ObservedShare(slots.shares, of: client)
        }

        /// Gives the place back, so that another stream or poll may have it.
        deinit { slots.release(client) }
    }

    /// The counts of streams and polls, guarded by the lock.
    private struct State {
        /// The number of streams and waiting polls of all clients.
        var total = 0
        /// The number of streams and waiting polls of each client that has any.
        var perClient: [ByteText: Int] = [:]
    }

    /// The memory of observed definitions by client.
    package let shares: ObservedShares
    private let state = RankedMutex(.leaf, State())
    private let liveLimits: LiveLimits
    /// The limits in force.
    private var limits: Limits { liveLimits.current }

    /// Makes counts for a server without streams and polls.
    ///
    /// - Parameter limits: The limits of the server, of which `streams` and `streamsPerPrincipal`
    ///   count.
    init(_ limits: LiveLimits) {
        liveLimits = limits
        shares = ObservedShares(limits)
    }

    /// Takes a place for a stream or a poll.
    ///
    /// - Parameters:
    ///   - client: The client: its principal, or its address without credentials. Clients on a Unix socket have no address and
    ///     are limited together with all others only.
    ///   - own: The limit of this client; nil for the limit of every client.
    /// - Returns: The place, which the stream or poll holds as long as it exists.
    /// - Throws: `overloaded` when the server has as many streams and polls as the limits allow, and `too_many_streams` when the
    ///   client has.
    package func take(_ client: String, limit own: Int? = nil) throws(Problem) -> Slot {
        let ownLimit = own ?? limits.streamsPerPrincipal
        let problem = state.withLock { state -> Problem? in
            guard state.total < limits.streams else {
                return .overLimit(
                    .overloaded, "the server has as many streams and waiting polls as its limits allow", limit: limits.streams)
            }
            let known = state.perClient[client, default: 0]
            // Clients on a Unix socket have no address to distinguish them by.
            guard client.isEmpty || known < ownLimit else {
                return .overLimit(
                    .tooManyStreams, "too many streams and waiting polls of one client", limit: ownLimit)
            }
            state.total += 1
            state.perClient[client] = known + 1
            return nil
        }
        if let problem { throw problem }
        return Slot(self, client)
    }

    /// Counts one stream or poll of a client less.
    private func release(_ client: String) {
        state.withLock { state in
            state.total -= 1
            let left = state.perClient[client, default: 1] - 1
            state.perClient[client] = left > 0 ? left : nil
        }
    }
}
