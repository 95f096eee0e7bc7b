// SPDX-License-Identifier: Apache-2.0

/// Counts of a hub.
package struct ObservationMetrics: Sendable, Equatable {
    /// Targets with a listener that waits for events.
    package var active = 0
    /// Targets without such a listener.
    package var passive = 0
    /// How often a target was advanced over a range.
    package var evaluations: UInt64 = 0
    /// Evaluations that led to an event.
    package var events: UInt64 = 0
    /// How often the active targets were advanced.
    package var rounds: UInt64 = 0
    /// Commits that were delivered together with others.
    package var joinedCommits: UInt64 = 0
    /// Ranges in which it was forgotten what happened.
    package var lostRanges: UInt64 = 0
    /// Commits that were not delivered yet.
    package var waitingCommits = 0
    /// Versions that are held because passive targets are at them.
    package var heldVersions = 0
    /// How long the last round took.
    package var lastRound = Duration.zero
}
