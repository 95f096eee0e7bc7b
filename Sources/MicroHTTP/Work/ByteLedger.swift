// SPDX-License-Identifier: Apache-2.0

internal import RealmFormats
package import RealmPlatform
internal import RealmStorage

/// Counts the bytes of memory that are held for requests, in all and for each client, and refuses more than the limits.
///
/// The server has one for bodies of requests and each listener has one for responses that were not sent yet. Nothing is
/// allocated here: `ByteHolding` takes bytes before memory is used, and gives them back. Any thread may call it.
package final class ByteLedger: Sendable {
    /// The limit that would be exceeded: that of all clients together, or that of one client.
    package enum Excess: Sendable { case total, principal }

    /// The bytes that are taken from a ledger, guarded by its lock.
    private struct State {
        /// The number of bytes that all clients together hold.
        var total = 0
        /// The number of bytes that each client holds, for clients that hold any.
        var byPrincipal: [ByteText: Int] = [:]
        /// The number of refusals since the start of the server.
        var refusals: UInt64 = 0
    }

    /// The maximum number of bytes that all clients together may hold.
    package let limit: Int
    /// The maximum number of bytes that one client may hold.
    package let limitOfPrincipal: Int
    private let state = RankedMutex(.leaf, State())

    /// Makes a ledger in which no bytes are taken.
    ///
    /// - Parameters:
    ///   - limit: The bytes for all clients together.
    ///   - limitOfPrincipal: The bytes for one client; by default there is no such limit.
    package init(limit: Int, limitOfPrincipal: Int = .max) {
        self.limit = limit
        self.limitOfPrincipal = limitOfPrincipal
    }

    /// Takes bytes, unless a limit would be exceeded.
    ///
    /// - Parameters:
    ///   - principal: The client to count them for.
    ///   - ownLimit: The bytes for this client; nil for the limit of every client.
    /// - Returns: The limit that would be exceeded, in which case nothing is taken; nil on success.
    package func take(_ count: Int, for principal: String, ownLimit: Int? = nil) -> Excess? {
        let limitOfPrincipal = ownLimit ?? self.limitOfPrincipal
        return state.withLock { state in
            let own = state.byPrincipal[principal, default: 0]
            let excess: Excess? = count > limit - state.total ? .total : count > limitOfPrincipal - own ? .principal : nil
            guard excess == nil else {
                state.refusals &+= 1
                return excess
            }
            state.total += count
            state.byPrincipal[principal] = own + count
            return nil
        }
    }

    /// Gives bytes back.
    ///
    /// - Parameters:
    ///   - count: The number of bytes, which were taken before.
    ///   - principal: The client that they were counted for.
    package func giveBack(_ count: Int, of principal: String) {
        state.withLock { state in
            state.total -= count
            let own = state.byPrincipal[principal, default: 0] - count
            state.byPrincipal[principal] = own > 0 ? own : nil
        }
    }

    /// The bytes that are held at present, and the number of refusals.
    package var counts: (bytes: Int, refusals: UInt64) { state.withLock { ($0.total, $0.refusals) } }
}

/// The stop of work on a response when there is no memory for it.
extension ByteLedger {
    /// The reason to stop the work on a response for which there is no memory.
    package func stop(_ excess: Excess) -> WorkStop {
        switch excess {
        case .total: return .noRoom(limit: limit, ofPrincipal: false)
        case .principal: return .noRoom(limit: limitOfPrincipal, ofPrincipal: true)
        }
    }
}
