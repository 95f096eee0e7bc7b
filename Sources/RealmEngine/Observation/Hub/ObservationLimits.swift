// SPDX-License-Identifier: Apache-2.0

/// Bounds of what is observed in one database.
package struct ObservationLimits: Sendable {
    /// So many commits may wait; more are delivered as one.
    package var waitingCommits = 8
    /// Changes that may wait before it is forgotten what they were.
    package var waitingChanges = 1_000_000
    /// So many commits may wait that are to be delivered by themselves. Beyond that their changes are forgotten.
    package var waitingBarriers = 64
    /// A passive target falls behind, and keeps its version in the file. It is advanced when it has fallen behind by
    /// so many commits, or for so long, or such targets are at so many versions. When that takes long it is done less often, so
    /// that it takes a tenth of the time at the most; but after `maximumPassiveTime` in any case.
    package var passiveCommits = 8
    /// At so many versions passive targets may be.
    package var passiveVersions = 4
    /// So long a passive target may stay behind.
    package var passiveTime = Duration.seconds(1)
    /// The longest that it stays behind, whatever advancing it costs.
    package var maximumPassiveTime = Duration.seconds(10)
    /// So many changes may wait for passive targets.
    package var passiveChanges = 500_000
    /// The longest that one target is evaluated. Then it fails; all others wait meanwhile.
    package var evaluationTime = Duration.seconds(10)

    /// Bounds with another time for evaluations.
    package init(evaluationTime: Duration = .seconds(10)) { self.evaluationTime = evaluationTime }
}
