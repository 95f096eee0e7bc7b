// SPDX-License-Identifier: Apache-2.0

internal import RealmFormats
package import RealmPlatform
internal import RealmStorage

/// Limits the requests per second of each client by a token bucket.
///
/// A bucket holds the requests of one second at most, and is filled at the configured rate. A client that was idle may therefore
/// send a burst of that size. Up to 16,384 clients have separate buckets; others share one bucket. Any thread may call it.
package final class RateLimiter: Sendable {
    /// The tokens of one client, as of the time when they were last filled.
    private struct Bucket {
        /// The number of requests that the client may send at once, as of `filledAt`.
        var tokens: Double
        /// The time at which the tokens were last brought up to date.
        var filledAt: Instant
    }

    /// The number of clients with separate buckets. A bucket that was not used for a second is full again, so it can be
    /// forgotten.
    private static let clientLimit = 16_384
    /// The name of the bucket that all clients beyond the limit share. No client has this name.
    private static let others = "*"

    /// The token buckets of the clients, guarded by the lock.
    private struct State {
        /// The token buckets by client. The shared bucket of all clients beyond the limit has the name `*`.
        var buckets: [ByteText: Bucket] = [:]
        /// The time from which full buckets may be searched for again. The search costs time for
        /// every client, so it is done at most twice a second.
        var nextSweep = Instant(nanoseconds: 0)
    }

    /// The seconds between two searches for full buckets.
    private static let secondsBetweenSweeps = 0.5
    private let state = RankedMutex(.leaf, State())

    /// Makes a limiter that no client was counted by.
    package init() {}

    /// Takes a token for a request.
    ///
    /// - Parameters:
    ///   - client: The client that sent the request.
    ///   - rate: The requests per second that it may send, which is also the size of a burst; 0 for any number.
    ///   - now: The time of the request.
    /// - Returns: nil when the request may proceed; otherwise the seconds until a token is
    ///   available.
    package func secondsToWait(_ client: String, rate: Int, _ now: Instant) -> Double? {
        guard rate > 0 else { return nil }
        return state.withLock { state in
            let name = RateLimiter.remembered(client, &state, now)
            var bucket = state.buckets[name] ?? Bucket(tokens: Double(rate), filledAt: now)
            bucket.tokens = min(Double(rate), bucket.tokens + now.seconds(since: bucket.filledAt) * Double(rate))
            bucket.filledAt = max(bucket.filledAt, now)
            let isAllowed = bucket.tokens >= 1
            if isAllowed { bucket.tokens -= 1 }
            state.buckets[name] = bucket
            return isAllowed ? nil : (1 - bucket.tokens) / Double(rate)
        }
    }

    /// The name of the bucket for a client: its own name, or the shared bucket when there are too many clients.
    private static func remembered(_ client: String, _ state: inout State, _ now: Instant) -> String {
        guard state.buckets.count >= clientLimit, state.buckets[client] == nil else { return client }
        guard now >= state.nextSweep else { return others }
        state.nextSweep = now.adding(seconds: secondsBetweenSweeps)
        state.buckets = state.buckets.filter { now.seconds(since: $0.value.filledAt) < 1 }
        return state.buckets.count < clientLimit ? client : others
    }

    /// The number of clients that have separate buckets, which is bounded.
    package var clientCount: Int { state.withLock { $0.buckets.count } }
}
