// SPDX-License-Identifier: Apache-2.0

internal import RealmStorage
internal import Synchronization

/// What is counted of notifications.
final class NotificationMetrics: Sendable {
    let encodings = Atomic<Int>(0)
    /// Evaluations for realms that are closed: what is counted never gets less.
    let pastEvaluations = Atomic<Int>(0)
    let overflows = Atomic<Int>(0)
    /// Sets that were told from memory to somebody who came back.
    let replayed = Atomic<Int>(0)
    private let resets = RankedMutex<[ResetNotice.Reason: Int]>(.leaf, [:])

    func noteReset(_ reason: ResetNotice.Reason) { resets.withLock { $0[reason, default: 0] += 1 } }

    func resets(_ reason: ResetNotice.Reason) -> Int { resets.withLock { $0[reason, default: 0] } }
}
