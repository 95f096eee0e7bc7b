// SPDX-License-Identifier: Apache-2.0

internal import RealmStorage

/// Bytes that are held for the sake of requests: in all, and for each client. Nobody takes more than there are.
final class ByteLedger: Sendable {
    /// Which limit would be passed.
    enum Excess: Sendable { case total, principal }

    private struct State {
        var total = 0
        var byPrincipal: [String: Int] = [:]
        var refusals: UInt64 = 0
    }

    /// Bytes for all clients together.
    let limit: Int
    /// Bytes for one client.
    let limitOfPrincipal: Int
    private let state = RankedMutex(.leaf, State())

    /// A ledger in which nothing is taken.
    init(limit: Int, limitOfPrincipal: Int = .max) {
        self.limit = limit
        self.limitOfPrincipal = limitOfPrincipal
    }

    /// Takes `count` bytes; nothing is taken when they are too many.
    func take(_ count: Int, for principal: String) -> Excess? {
        state.withLock { state in
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

    /// Gives bytes back that `principal` took before.
    func giveBack(_ count: Int, of principal: String) {
        state.withLock { state in
            state.total -= count
            let own = state.byPrincipal[principal, default: 0] - count
            state.byPrincipal[principal] = own > 0 ? own : nil
        }
    }

    /// Bytes that are held now, and how often somebody was refused.
    var figures: (bytes: Int, refusals: UInt64) { state.withLock { ($0.total, $0.refusals) } }
}

extension ByteLedger {
    /// Why there is no memory for an answer.
    func stop(_ excess: Excess) -> WorkStop {
        switch excess {
        case .total: return .noRoom(limit: limit, ofPrincipal: false)
        case .principal: return .noRoom(limit: limitOfPrincipal, ofPrincipal: true)
        }
    }
}
