// SPDX-License-Identifier: Apache-2.0

package import RealmPlatform
internal import Synchronization

/// The state of a cluster's realm and its log that every request checks, without a lock.
///
/// Each value alone is true; a reader may see one of them newer than another. Callers that need consistent values ask their
/// guard.
package final class ReplicationStatus: Sendable {
    /// Whether another node or none writes the realm.
    private let followed = Atomic(false)
    /// The newest version that the log is known to have.
    private let newest = Atomic<UInt64>(0)
    /// The version that the realm has reached.
    private let reached = Atomic<UInt64>(0)
    /// When the log was asked for the former, in nanoseconds.
    private let seen = Atomic<UInt64>(0)
    /// The number of a map of the cluster that gives the realm to this node; none at first.
    private let map = Atomic(UInt64.max)

    /// Makes the status of a realm that is written here.
    init() {}

    /// Whether another node or none writes the realm, so that this one only follows the log.
    package var isFollowed: Bool { followed.load(ordering: .acquiring) }

    /// Notes whether another node writes the realm.
    func note(isFollowed: Bool) { followed.store(isFollowed, ordering: .releasing) }

    package func note(newest version: UInt64, asked: Instant) {
        newest.store(version, ordering: .relaxed)
        seen.max(asked.nanoseconds, ordering: .relaxed)
    }

    /// Notes the version that the realm has reached.
    package func note(reached version: UInt64) { reached.store(version, ordering: .relaxed) }

    /// Whether the realm has everything that the log had within the last seconds.
    ///
    /// - Parameters:
    ///   - now: The present instant.
    ///   - seconds: The maximum age of the last answer of the log.
    package func isCurrent(at now: Instant, within seconds: Double) -> Bool {
        guard newest.load(ordering: .relaxed) <= reached.load(ordering: .relaxed) else { return false }
        return now.seconds(since: Instant(nanoseconds: seen.load(ordering: .relaxed))) <= seconds
    }

    /// Notes that a map of the cluster gives the realm to this node.
    package func note(map number: UInt64) { map.store(number, ordering: .relaxed) }

    /// Whether the map of a number is known to give the realm to this node.
    package func isOurs(inMap number: UInt64) -> Bool { map.load(ordering: .relaxed) == number }
}
