// SPDX-License-Identifier: Apache-2.0

internal import RealmFormats
internal import RealmPlatform
internal import RealmStorage

/// Counts requests by route and status, with their latency and the bytes of their bodies.
///
/// One lock guards all counts; it is held for a few additions per request.
package final class RequestMetrics: Sendable {
    /// The upper bounds of the latency histogram, in seconds.
    package static let bounds: [Double] = [
        0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10,
    ]

    /// The HTTP statuses that are counted separately: all that this server sends, and 499 for clients that disconnected before
    /// the response. Any other status is counted as the last entry, 0.
    package static let statuses = [
        200, 201, 202, 204, 304, 400, 401, 403, 404, 405, 406, 408, 409, 410, 412, 413, 414, 415, 421, 422, 423, 428,
        429, 431, 499, 500, 501, 503, 504, 507, 0,
    ]

    /// The counts, as flat arrays indexed by route and status, or by route and bucket.
    private struct Shard {
        /// The number of requests, at `route * statuses.count + status`.
        var requests: [UInt64]
        /// The latency buckets, at `route * (bounds.count + 1) + bucket`.
        var buckets: [UInt64]
        /// The sum of the latencies of each route, in seconds.
        var seconds: [Double]
        /// The bytes of bodies that all requests have sent.
        var bytesReceived: UInt64 = 0
        /// The bytes of the bodies of all responses.
        var bytesSent: UInt64 = 0

        /// Makes counts of zero for a number of routes.
        init(routes: Int) {
            requests = Array(repeating: 0, count: routes * RequestMetrics.statuses.count)
            buckets = Array(repeating: 0, count: routes * (RequestMetrics.bounds.count + 1))
            seconds = Array(repeating: 0, count: routes)
        }
    }

    /// The labels of the routes. Requests are counted by the index of their route in this array.
    private let routes: [String]
    /// The counts of requests, latencies and bytes, under their lock.
    private let shard: RankedMutex<Shard>

    /// Makes metrics without requests.
    ///
    /// - Parameter routes: The labels of the routes, by the index that `count` gets.
    package init(routes: [String]) {
        self.routes = routes
        shard = RankedMutex(.leaf, Shard(routes: routes.count))
    }

    /// Counts a request that has ended.
    ///
    /// - Parameters:
    ///   - route: The index of its route.
    ///   - status: Its HTTP status.
    ///   - seconds: The time from its arrival to the end of its response.
    ///   - bytesReceived: The bytes of its body.
    ///   - bytesSent: The bytes of the body of its response.
    package func count(route: Int, status: Int, seconds: Double, bytesReceived: Int, bytesSent: Int) {
        let statusIndex = RequestMetrics.statuses.firstIndex(of: status) ?? RequestMetrics.statuses.count - 1
        let bucket = RequestMetrics.bounds.firstIndex { seconds <= $0 } ?? RequestMetrics.bounds.count
        shard.withLock { shard in
            shard.requests[route * RequestMetrics.statuses.count + statusIndex] += 1
            shard.buckets[route * (RequestMetrics.bounds.count + 1) + bucket] += 1
            shard.seconds[route] += seconds
            shard.bytesReceived += UInt64(bytesReceived)
            shard.bytesSent += UInt64(bytesSent)
        }
    }

    /// The number of requests of all routes since the start.
    package var total: UInt64 { shard.withLock { $0.requests.reduce(0, +) } }

    /// Writes counts, latencies and bytes. Routes without requests are left out.
    package func write(to text: inout MetricsText) {
        let shard = shard.withLock { $0 }
        text.header("requests_total", .counter, "Requests by route template and status.")
        for (route, label) in routes.enumerated() {
            for (index, status) in RequestMetrics.statuses.enumerated() {
                let count = shard.requests[route * RequestMetrics.statuses.count + index]
                guard count > 0 else { continue }
                let name = status == 0 ? "other" : String(status)
                text.sample("requests_total", [("route", label), ("status", name)], Double(count))
            }
        }
        writeLatency(shard, to: &text)
        text.counter("request_body_bytes_total", "Body bytes received.", shard.bytesReceived)
        text.counter("response_body_bytes_total", "Body bytes sent.", shard.bytesSent)
    }

    /// Writes the latency histogram of each route that has had requests.
    private func writeLatency(_ shard: Shard, to text: inout MetricsText) {
        text.header("request_seconds", .histogram, "Time from the first line of a request to the end of its response.")
        for (route, label) in routes.enumerated() {
            let first = route * (RequestMetrics.bounds.count + 1)
            let counts = shard.buckets[first...(first + RequestMetrics.bounds.count)]
            guard counts.contains(where: { $0 > 0 }) else { continue }
            text.histogram(
                "request_seconds", [("route", label)], bounds: RequestMetrics.bounds, counts: counts,
                sum: shard.seconds[route])
        }
    }
}
