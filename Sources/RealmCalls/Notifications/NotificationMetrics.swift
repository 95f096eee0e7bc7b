// SPDX-License-Identifier: Apache-2.0

internal import RealmEngine
internal import RealmFormats
internal import RealmPlatform
internal import RealmStorage
internal import Synchronization

/// Counts of the notifications of all realms, most of them since the start of the server. Any thread may add to them.
final class NotificationMetrics: Sendable {
    /// The number of unused feeds that are kept at present, in all realms and scopes.
    let idleFeeds = Atomic<Int>(0)
    /// The number of change sets that were encoded since the start of the server.
    let encodings = Atomic<Int>(0)
    /// The evaluations of definitions in realms that are closed. They are kept, because a counter must not decrease.
    let pastEvaluations = Atomic<Int>(0)
    /// The number of visited definitions in closed realms.
    let pastVisits = Atomic<Int>(0)
    /// The number of skipped definitions in closed realms.
    let pastPasses = Atomic<Int>(0)
    /// The number of times that a stream was reset because its client was too far behind.
    let overflows = Atomic<Int>(0)
    /// The number of change sets that were delivered from memory to clients that resumed.
    let replayed = Atomic<Int>(0)
    /// The number of subscriptions that had to restart, by reason.
    private let resets = RankedMutex<[ResetNotice.Reason: Int]>(.leaf, [:])

    /// Keeps the counts of a hub that is closed.
    func addPast(_ hub: ObservationMetrics) {
        pastEvaluations.add(Int(hub.evaluations), ordering: .relaxed)
        pastVisits.add(Int(hub.visited), ordering: .relaxed)
        pastPasses.add(Int(hub.passedOver), ordering: .relaxed)
    }

    /// Counts subscriptions that had to restart.
    ///
    /// - Parameter reason: The reason for the loss of their position.
    func noteReset(_ reason: ResetNotice.Reason) { resets.withLock { $0[reason, default: 0] += 1 } }

    /// Returns the number of restarts of subscriptions for a reason.
    func resets(_ reason: ResetNotice.Reason) -> Int { resets.withLock { $0[reason, default: 0] } }
}
