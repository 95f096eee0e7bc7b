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
    private let buckets = RankedMutex<[String: Bucket]>(.leaf, [:])

    /// Nil when `rate` is 0: no limit.
    package init?(rate: Int) {
        guard rate > 0 else { return nil }
        self.rate = rate
    }

    /// Takes a token of `client`. When there is none: after how many seconds there will be.
    package func secondsToWait(_ client: String, _ now: Instant) -> Double? {
        buckets.withLock { buckets in
            let name = RateLimiter.remembered(client, &buckets, now)
            var bucket = buckets[name] ?? Bucket(tokens: Double(rate), filledAt: now)
            bucket.tokens = min(Double(rate), bucket.tokens + now.seconds(since: bucket.filledAt) * Double(rate))
            bucket.filledAt = max(bucket.filledAt, now)
            let isAllowed = bucket.tokens >= 1
            if isAllowed { bucket.tokens -= 1 }
            buckets[name] = bucket
            return isAllowed ? nil : (1 - bucket.tokens) / Double(rate)
        }
    }

    private static func remembered(_ client: String, _ buckets: inout [String: Bucket], _ now: Instant) -> String {
        guard buckets.count >= clientLimit, buckets[client] == nil else { return client }
        buckets = buckets.filter { now.seconds(since: $0.value.filledAt) < 1 }
        return buckets.count < clientLimit ? client : others
    }

    package var clientCount: Int { buckets.withLock { $0.count } }
}
