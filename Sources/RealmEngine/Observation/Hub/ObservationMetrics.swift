// SPDX-License-Identifier: Apache-2.0

/// Counts of a hub.
package struct ObservationMetrics: Sendable, Equatable {
    /// Targets that somebody waits for, and those nobody does.
    package var active = 0
    package var passive = 0
    /// How often a target was led over a range.
    package var evaluations: UInt64 = 0
    /// Evaluations that had something to tell.
    package var events: UInt64 = 0
    package var rounds: UInt64 = 0
    /// Commits that were told together with others.
    package var joinedCommits: UInt64 = 0
    /// Ranges in which it was forgotten what happened.
    package var lostRanges: UInt64 = 0
    /// Commits that were not told yet.
    package var waitingCommits = 0
    /// Versions that are kept because targets that nobody waits for stand at them.
    package var heldVersions = 0
    /// How long the last round took.
    package var lastRound = Duration.zero
}
