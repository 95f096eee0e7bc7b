// SPDX-License-Identifier: Apache-2.0

package import RealmFormats
internal import RealmPlatform
internal import RealmStorage

/// The bytes that one request or response has taken from a `ByteLedger`.
///
/// The bytes go back to the ledger when the object is deallocated, so that no path out of a request can forget them. Any thread
/// may call it; `adjust` expects that no other thread changes the total at the same time.
package final class ByteHolding: Sendable {
    /// The ledger that the bytes are taken from.
    private let ledger: ByteLedger
    /// The client that the held bytes are counted for.
    private let principal: String
    /// The bytes that this client may hold; nil for the limit of every client.
    private let ownLimit: Int?
    /// The number of bytes that the request or response holds.
    private let count = RankedMutex(.leaf, 0)

    /// Makes a holding without any bytes.
    ///
    /// - Parameters:
    ///   - ledger: The ledger to take bytes from.
    ///   - principal: The client to count them for.
    ///   - ownLimit: The bytes that this client may hold; nil for the limit of every client.
    package init(_ ledger: ByteLedger, _ principal: String, ownLimit: Int? = nil) {
        self.ownLimit = ownLimit
        self.ledger = ledger
        self.principal = principal
    }

    /// Gives all held bytes back to the ledger.
    deinit { shrink(by: .max) }

    /// Takes more bytes from the ledger.
    ///
    /// - Returns: The limit that would be exceeded, in which case nothing changes; nil on success.
    package func grow(by bytes: Int) -> ByteLedger.Excess? {
        if let excess = ledger.take(bytes, for: principal, ownLimit: ownLimit) { return excess }
        count.withLock { $0 += bytes }
        return nil
    }

    /// Takes bytes from the ledger, or gives some back, so that a total is held.
    ///
    /// - Parameter bytes: The total.
    /// - Returns: The limit that would be exceeded, in which case nothing changes; nil on success.
    package func adjust(to bytes: Int) -> ByteLedger.Excess? {
        let held = count.withLock { $0 }
        if bytes > held { return grow(by: bytes - held) }
        shrink(by: held - bytes)
        return nil
    }

    /// Returns bytes to the ledger.
    ///
    /// - Parameter bytes: The number of bytes, no more than are held.
    package func shrink(by bytes: Int) {
        let returned = count.withLock { count in
            let returned = min(bytes, count)
            count -= returned
            return returned
        }
        if returned > 0 { ledger.giveBack(returned, of: principal) }
    }
}

/// The problem of a request without memory for its body.
extension ByteHolding {
    /// Takes more bytes for the body of a request.
    ///
    /// - Throws: `overloaded` when all requests together would hold more than `waiting-bytes`, and
    ///   `rate_limited` when those of one client would hold more than
    ///   `waiting-bytes-per-principal`.
    package func require(_ bytes: Int) throws(Problem) {
        switch grow(by: bytes) {
        case nil: return
        case .total?:
            throw Problem.overLimit(
                .overloaded, "the bodies of requests use all of their memory", limit: ledger.limit
            )
            .with("limitName", "waiting-bytes")
        case .principal?:
            throw Problem.overLimit(
                .rateLimited, "the bodies of requests of this client use all memory that one client may use",
                limit: ownLimit ?? ledger.limitOfPrincipal
            ).with("limitName", "waiting-bytes-per-principal")
        }
    }
}
