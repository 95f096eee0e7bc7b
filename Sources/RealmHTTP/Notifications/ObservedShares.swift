// SPDX-License-Identifier: Apache-2.0

internal import RealmStorage

/// The memory of observed definitions by the clients that read them. A definition that several clients read counts for each.
///
/// Any thread may use it.
final class ObservedShares: Sendable {
    private let bytes = RankedMutex(.leaf, [[UInt8]: Int]())
    private let liveLimits: LiveLimits

    /// Makes a table for a server without clients.
    init(_ limits: LiveLimits) { liveLimits = limits }

    /// Counts the bytes of one share of a client anew.
    ///
    /// - Throws: `too_many_streams` when the shares of the client exceed the limit; nothing has changed then.
    fileprivate func change(_ client: [UInt8], from old: Int, to new: Int) throws(Problem) {
        let limit = liveLimits.current.observedBytesPerPrincipal
        let isGranted = bytes.withLock { bytes in
            let total = bytes[client, default: 0] + new - old
            guard new <= old || total <= limit || client.isEmpty else { return false }
            bytes[client] = total > 0 ? total : nil
            return true
        }
        guard isGranted else { throw ObservedShares.overLimit(limit) }
    }

    /// Counts bytes that are in use already.
    ///
    /// - Returns: Whether the client has as much as it may have, or less.
    fileprivate func add(_ count: Int, to client: [UInt8]) -> Bool {
        let limit = liveLimits.current.observedBytesPerPrincipal
        return bytes.withLock { bytes in
            let total = bytes[client, default: 0] + count
            bytes[client] = total > 0 ? total : nil
            return total <= limit || client.isEmpty
        }
    }

    /// The problem of a client whose definitions take more than the limit.
    fileprivate var problem: Problem { ObservedShares.overLimit(liveLimits.current.observedBytesPerPrincipal) }

    private static func overLimit(_ limit: Int) -> Problem {
        .overLimit(.tooManyStreams, "the observed definitions of one client take too much memory", limit: limit)
            .with("limitName", "observed-bytes-per-principal")
    }
}

/// What the definitions of one stream, poll or registration take. It is given back when the value is released.
final class ObservedShare: Sendable {
    private let shares: ObservedShares
    /// The name of the client, by its bytes.
    private let client: [UInt8]
    private let bytes = RankedMutex(.leaf, 0)

    /// Makes a share of nothing.
    init(_ shares: ObservedShares, of client: String) {
        self.shares = shares
        self.client = Array(client.utf8)
    }

    /// Sets how much the share is.
    ///
    /// - Throws: `too_many_streams` for more than the client may have.
    func set(_ new: Int) throws(Problem) {
        let old = bytes.withLock { $0 }
        try shares.change(client, from: old, to: new)
        bytes.withLock { $0 = new }
    }

    /// Counts what a definition has grown or shrunk by.
    ///
    /// - Returns: The problem when the client has more than it may have now.
    func add(_ count: Int) -> Problem? {
        bytes.withLock { $0 += count }
        return shares.add(count, to: client) ? nil : shares.problem
    }

    deinit { try? shares.change(client, from: bytes.withLock { $0 }, to: 0) }
}

/// A share that a feed counts in as long as somebody else holds it.
struct WeakShare: Sendable {
    /// The share; nil once it was given back.
    weak var share: ObservedShare?
}
