// SPDX-License-Identifier: Apache-2.0

internal import RealmStorage

/// What one request or answer holds of a ledger. It is given back when this object goes.
final class ByteHolding: Sendable {
    private let ledger: ByteLedger
    private let principal: String
    private let count = RankedMutex(.leaf, 0)

    /// Holds nothing yet of the memory in `ledger`.
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

    /// Gives so many bytes back, but no more than are held.
    func shrink(by bytes: Int) {
        let returned = count.withLock { count in
            let returned = min(bytes, count)
            count -= returned
            return returned
        }
        if returned > 0 { ledger.giveBack(returned, of: principal) }
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
