// SPDX-License-Identifier: Apache-2.0

internal import RealmStorage

/// Counts the requests that were turned away because of where they came from.
final class RefusalMetrics: Sendable {
    private static let codes: [ProblemCode] = [.crossOrigin, .hostNotAllowed, .unauthenticated, .forbidden]

    private let counts = RankedMutex(.leaf, [UInt64](repeating: 0, count: RefusalMetrics.codes.count))

    /// Counts a refusal, if it is one of those that are counted.
    func count(_ code: ProblemCode) {
        guard let index = RefusalMetrics.codes.firstIndex(of: code) else { return }
        counts.withLock { $0[index] += 1 }
    }

    /// Writes one sample for each reason.
    func write(to text: inout MetricsText) {
        let counts = counts.withLock { $0 }
        text.header("refused_requests_total", .counter, "Requests turned away because of where they came from.")
        for (code, count) in zip(RefusalMetrics.codes, counts) {
            text.sample("refused_requests_total", [("reason", code.rawValue)], Double(count))
        }
    }
}
