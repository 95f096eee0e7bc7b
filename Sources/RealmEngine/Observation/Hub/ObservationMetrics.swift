// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform

/// The metrics of an observation hub: its targets, its work and what is waiting.
package struct ObservationMetrics: Sendable, Equatable {
    /// The number of targets with a listener that waits for events.
    package var active = 0
    /// The number of targets without such a listener.
    package var passive = 0
    /// The number of times that a target was looked at over a range, because the changes might concern it.
    package var visited: UInt64 = 0
    /// The number of times that a round passed a target over, because its changes cannot concern it.
    package var passedOver: UInt64 = 0
    /// The number of evaluations of a target over a range.
    package var evaluations: UInt64 = 0
    /// The number of evaluations that resulted in an event.
    package var events: UInt64 = 0
    /// The number of rounds, each of which advances all active targets over one or more commits.
    package var rounds: UInt64 = 0
    /// The number of commits that were delivered together with an earlier one.
    package var joinedCommits: UInt64 = 0
    /// The number of ranges whose changes had been discarded.
    package var lostRanges: UInt64 = 0
    /// The number of commits that are not delivered yet.
    package var waitingCommits = 0
    /// The numbers of the versions that are kept because passive targets are at them, or others are evaluated at them for the first time.
    package var held: Set<UInt64> = []
    /// The number of versions kept for these.
    package var heldVersions: Int { held.count }
    /// The duration of the last round.
    package var lastRound = Duration.zero
}
