// SPDX-License-Identifier: Apache-2.0

internal import RealmStorage

/// Bytes that are held for the sake of requests: in all, and for each client. Nobody takes more than there are.
final class ByteLedger: Sendable {
    enum Excess: Sendable { case total, principal }

    private struct State {
        var total = 0
        var byPrincipal: [String: Int] = [:]
        var refusals: UInt64 = 0
    }

    let limit: Int
    let limitOfPrincipal: Int
    private let state = RankedMutex(.leaf, State())

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

/// What one request or answer holds of a ledger. It is given back when this object goes.
final class ByteHolding: Sendable {
    private let ledger: ByteLedger
    private let principal: String
    private let count = RankedMutex(.leaf, 0)

    init(_ ledger: ByteLedger, _ principal: String) {
        self.ledger = ledger
        self.principal = principal
    }

    deinit { shrink(by: .max) }

    /// Holds more; nothing changes when it would be too much.
    func grow(by bytes: Int) -> ByteLedger.Excess? {
        if let excess = ledger.take(bytes, for: principal) { return excess }
        count.withLock { $0 += bytes }
        return nil
    }

    /// Holds `bytes` in all; what is too much is not taken.
    func adjust(to bytes: Int) -> ByteLedger.Excess? {
        let held = count.withLock { $0 }
        if bytes > held { return grow(by: bytes - held) }
        shrink(by: held - bytes)
        return nil
    }

    func shrink(by bytes: Int) {
        let returned = count.withLock { count in
            let returned = min(bytes, count)
            count -= returned
            return returned
        }
        if returned > 0 { ledger.giveBack(returned, of: principal) }
    }
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

extension ByteHolding {
    /// Holds more of what waits; what is too much is a problem.
    func require(_ bytes: Int) throws(Problem) {
        switch grow(by: bytes) {
        case nil: return
        case .total?:
            throw Problem.overLimit(
                .overloaded, "the bodies of requests take all the memory that there is for them", limit: ledger.limit
            )
            .with("limitName", "waiting-bytes")
        case .principal?:
            throw Problem.overLimit(
                .rateLimited, "the bodies of requests from this address take all the memory that there is for one",
                limit: ledger.limitOfPrincipal
            ).with("limitName", "waiting-bytes-per-principal")
        }
    }
}
