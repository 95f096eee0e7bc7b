// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform

/// The limits on nodes and time of a recovery. When it is used up no node is read any more, so all loops end soon.
///
/// Not Sendable: it belongs to the thread that searches.
final class SearchBudget {
    /// The nodes that may still be visited.
    private var rest: Int
    /// The number of nodes at the start.
    private let total: Int
    /// When the time is over.
    private var deadline: Instant
    /// The time at the start, in seconds.
    private let seconds: Double
    /// Counts down to the next look at the clock.
    private var untilClock = 4096
    /// The reason why the search was stopped; nil while it runs.
    private(set) var reason: String?

    /// The bytes of results that may still be kept.
    private var resultBytes: Int

    /// Makes a budget for a file.
    ///
    /// - Parameters:
    ///   - byteCount: The size of the plain file.
    ///   - seconds: The time.
    ///   - resultBytes: The most bytes of results that are kept in memory.
    init(byteCount: Int, seconds: Double, resultBytes: Int) {
        total = max(200_000, byteCount / 8 * 4)
        rest = total
        self.seconds = seconds
        self.resultBytes = resultBytes
        deadline = Instant.now().adding(seconds: seconds)
    }

    /// Why the first part of the search was stopped, once the second one has begun.
    private var firstReason: String?

    /// Whether nothing more may be read.
    var isUsedUp: Bool { reason != nil }

    /// Why any part was stopped; nil for a complete search.
    var anyReason: String? { firstReason ?? reason }

    /// Begins the last part, which compares the findings with the present version. It has a budget of its own, so that findings
    /// before a stop can still be reported.
    func beginLastPart() {
        firstReason = reason
        reason = nil
        rest = total
        deadline = Instant.now().adding(seconds: max(seconds, 10))
        resultBytes = max(resultBytes, 1 << 28)
    }

    /// Notes work as a number of nodes; returns false when the budget is used up.
    @discardableResult func spend(_ nodes: Int = 1) -> Bool {
        guard reason == nil else { return false }
        rest -= nodes
        untilClock -= nodes
        if rest < 0 { reason = "stopped after \(total) nodes" }
        if untilClock < 0 {
            untilClock = 4096
            if deadline < Instant.now() { reason = "stopped after \(DecimalText.of(seconds)) seconds" }
        }
        return reason == nil
    }

    /// Notes bytes of results that are kept.
    func keep(_ byteCount: Int) {
        resultBytes -= byteCount
        if resultBytes < 0, reason == nil { reason = "stopped because the results need more memory than they may have" }
    }

    /// Texts of numbers of seconds.
    private enum DecimalText {
        /// Returns a number without a fraction where it has none.
        static func of(_ number: Double) -> String { number == number.rounded() ? String(Int(number)) : String(number) }
    }
}
