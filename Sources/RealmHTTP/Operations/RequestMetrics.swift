// SPDX-License-Identifier: Apache-2.0

internal import RealmStorage

/// Counts requests by route and status, and how long they took.
package final class RequestMetrics: Sendable {
    /// Upper bounds of the latency histogram in seconds.
    package static let bounds: [Double] = [
        0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10,
    ]

    /// Statuses this server sends, and 499 for clients that left; anything else counts as the last.
    static let statuses = [
        200, 201, 202, 204, 304, 400, 401, 403, 404, 405, 406, 408, 409, 410, 411, 412, 413, 414, 415, 421, 422, 423, 428,
        429, 431, 499, 500, 501, 503, 504, 507, 0,
    ]

    private struct Shard {
        var requests: [UInt64]
        var buckets: [UInt64]
        var seconds: [Double]
        var bytesReceived: UInt64 = 0
        var bytesSent: UInt64 = 0

        init(routes: Int) {
            requests = Array(repeating: 0, count: routes * RequestMetrics.statuses.count)
            buckets = Array(repeating: 0, count: routes * (RequestMetrics.bounds.count + 1))
            seconds = Array(repeating: 0, count: routes)
        }
    }

    /// The labels of the routes; requests are counted by the index in here.
    private let routes: [String]
    private let shard: RankedMutex<Shard>

    /// Metrics of the routes with these labels, by their index.
    package init(routes: [String]) {
        self.routes = routes
        shard = RankedMutex(.leaf, Shard(routes: routes.count))
    }

    /// Counts a request to the route of index `route` that has ended.
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

    /// Requests counted so far, of all routes.
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
        text.header("request_body_bytes_total", .counter, "Body bytes received.")
        text.sample("request_body_bytes_total", [], Double(shard.bytesReceived))
        text.header("response_body_bytes_total", .counter, "Body bytes sent.")
        text.sample("response_body_bytes_total", [], Double(shard.bytesSent))
    }

    private func writeLatency(_ shard: Shard, to text: inout MetricsText) {
        text.header("request_seconds", .histogram, "Time from the first line of a request to the end of its answer.")
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
