// SPDX-License-Identifier: Apache-2.0

package import RealmFormats
internal import RealmPlatform
internal import RealmStorage

/// Counts the requests that were refused because of their origin, their host, or missing rights, by the code of their problem.
package final class RefusalMetrics: Sendable {
    private static let codes: [ProblemCode] = [.crossOrigin, .hostNotAllowed, .unauthenticated, .forbidden]

    /// The number of refusals since the start, in the order of `codes`.
    private let counts = RankedMutex(.leaf, [UInt64](repeating: 0, count: RefusalMetrics.codes.count))

    /// Counts nothing yet.
    package init() {}

    /// Counts a refusal.
    ///
    /// - Parameter code: The code of the problem. Other codes than those of access are ignored.
    package func count(_ code: ProblemCode) {
        guard let index = RefusalMetrics.codes.firstIndex(of: code) else { return }
        counts.withLock { $0[index] += 1 }
    }

    /// Writes the number of refused requests, one sample for each reason.
    package func write(to text: inout MetricsText) {
        let counts = counts.withLock { $0 }
        text.counter(
            "refused_requests_total", "Requests refused because of their origin, host or rights.", by: "reason",
            zip(RefusalMetrics.codes, counts).map { ($0.rawValue, $1) })
    }
}
