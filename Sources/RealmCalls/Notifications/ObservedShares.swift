// SPDX-License-Identifier: Apache-2.0

internal import RealmAccess
internal import RealmFormats
internal import RealmPlatform
internal import RealmStorage

/// The memory of observed definitions by the clients that read them. A definition counts once for each stream, poll and registration
/// that reads it.
///
/// Any thread may use it.
package final class ObservedShares: Sendable {
    private let bytes = RankedMutex(.leaf, [[UInt8]: Int]())
    private let liveLimits: LiveLimits

    /// Makes a table for a server without clients.
    init(_ limits: LiveLimits) { liveLimits = limits }

    /// Counts more bytes of a client, or fewer if negative.
    ///
    /// - Parameters:
    ///   - client: The client, by the bytes of its name.
    ///   - refuses: Whether nothing is counted beyond the limit of the client.
    /// - Returns: The problem when the client exceeds its limit then.
    fileprivate func add(_ count: Int, to client: [UInt8], refusing refuses: Bool = false) -> Problem? {
        let limit = liveLimits.current.observedBytesPerPrincipal
        let fits = bytes.withLock { bytes -> Bool in
            // Differences may arrive in another order than they arose, so that the sum is below 0 for a moment.
            let total = bytes[client, default: 0] + count
            let fits = total <= limit || client.isEmpty
            if fits || !refuses { bytes[client] = total == 0 ? nil : total }
            return fits
        }
        guard !fits else { return nil }
        return Problem.overLimit(.tooManyStreams, "the observed definitions of one client take too much memory", limit: limit)
            .with("limitName", "observed-bytes-per-principal")
    }
}

/// The memory of the definitions of one stream, poll or registration: the sum of the differences that their feeds count. Released
/// with the value.
package final class ObservedShare: Sendable {
    private let shares: ObservedShares
    /// The name of the client.
    let name: ByteText
    /// The name of the client, by its bytes.
    private let client: [UInt8]
    private let bytes = RankedMutex(.leaf, 0)

    /// Makes a share of nothing.
    package init(_ shares: ObservedShares, of client: String) {
        self.shares = shares
        name = ByteText(client)
        self.client = Array(client.utf8)
    }

    /// Adds the difference in a definition's size.
    ///
    /// - Returns: The problem when the client exceeds its limit then.
    func add(_ count: Int) -> Problem? {
        bytes.withLock { $0 += count }
        return shares.add(count, to: client)
    }

    /// Adds the size of another definition.
    ///
    /// - Returns: The problem when the client would exceed its limit then; nothing is added.
    func take(_ count: Int) -> Problem? {
        if let problem = shares.add(count, to: client, refusing: true) { return problem }
        bytes.withLock { $0 += count }
        return nil
    }

    deinit { _ = shares.add(-bytes.withLock { $0 }, to: client) }
}

/// A weak reference to a share that counts a feed.
struct WeakShare: Sendable {
    /// The share; nil once it was released.
    weak var share: ObservedShare?
}
