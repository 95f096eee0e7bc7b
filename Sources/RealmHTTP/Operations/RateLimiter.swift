// SPDX-License-Identifier: Apache-2.0

package import RealmStorage

/// A token bucket for each client: one second's worth of requests at once, then as many as time brings.
package final class RateLimiter: Sendable {
    private struct Bucket {
        var tokens: Double
        var filledAt: Instant
    }

    /// Clients that are remembered. A bucket that nobody touched for a second is full again and need not be.
    private static let clientLimit = 16_384
    /// All clients beyond the limit share one bucket.
    private static let others = "*"

    /// Requests per second and client.
    package let rate: Int
    private struct State {
        var buckets: [String: Bucket] = [:]
        /// Buckets are looked through for such as are full again at most so often, however many clients come.
        var nextSweep = Instant(nanoseconds: 0)
    }

    private static let secondsBetweenSweeps = 0.5
    private let state = RankedMutex(.leaf, State())

    /// Nil when `rate` is 0: no limit.
    package init?(rate: Int) {
        guard rate > 0 else { return nil }
        self.rate = rate
    }

    /// Takes a token of `client`. When there is none: after how many seconds there will be.
    package func secondsToWait(_ client: String, _ now: Instant) -> Double? {
        state.withLock { state in
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

    private static func remembered(_ client: String, _ state: inout State, _ now: Instant) -> String {
        guard state.buckets.count >= clientLimit, state.buckets[client] == nil else { return client }
        guard now >= state.nextSweep else { return others }
        state.nextSweep = now.adding(seconds: secondsBetweenSweeps)
        state.buckets = state.buckets.filter { now.seconds(since: $0.value.filledAt) < 1 }
        return state.buckets.count < clientLimit ? client : others
    }

    /// How many clients are remembered, which is bounded.
    package var clientCount: Int { state.withLock { $0.buckets.count } }
}
