// SPDX-License-Identifier: Apache-2.0

internal import RealmStorage
internal import Synchronization

/// Counts of the notifications of all realms since the start of the server. Any thread may add to
/// them.
final class NotificationMetrics: Sendable {
    /// The number of change sets that were encoded.
    let encodings = Atomic<Int>(0)
    /// The evaluations of definitions in realms that are closed. They are kept, because a counter
    /// must not decrease.
    let pastEvaluations = Atomic<Int>(0)
    /// The number of times that a stream was reset because its client was too far behind.
    let overflows = Atomic<Int>(0)
    /// The number of change sets that were delivered from memory to clients that resumed.
    let replayed = Atomic<Int>(0)
    /// The number of resets by reason.
    private let resets = RankedMutex<[ResetNotice.Reason: Int]>(.leaf, [:])

    /// Counts a reset.
    func noteReset(_ reason: ResetNotice.Reason) { resets.withLock { $0[reason, default: 0] += 1 } }

    /// Returns the number of resets with a reason.
    func resets(_ reason: ResetNotice.Reason) -> Int { resets.withLock { $0[reason, default: 0] } }
}
