// SPDX-License-Identifier: Apache-2.0

/// Bounds of what is observed in one database.
package struct ObservationLimits: Sendable {
    /// Commits that wait before they are told as one.
    package var waitingCommits = 8
    /// Changes that may wait before it is forgotten what they were.
    package var waitingChanges = 1_000_000
    /// Commits that wait although each should be told alone. Beyond, it is forgotten what they were.
    package var waitingBarriers = 64
    /// A target that nobody waits for falls behind, and keeps its version in the file. It is led on when it has fallen behind by
    /// so many commits, or for so long, or such targets stand at so many versions. When that takes long it is done less often, so
    /// that it takes a tenth of the time at the most; but after `maximumPassiveTime` in any case.
    package var passiveCommits = 8
    package var passiveVersions = 4
    package var passiveTime = Duration.seconds(1)
    package var maximumPassiveTime = Duration.seconds(10)
    package var passiveChanges = 500_000
    /// The longest that one target is evaluated. Then it fails; all others wait meanwhile.
    package var evaluationTime = Duration.seconds(10)

    package init(evaluationTime: Duration = .seconds(10)) { self.evaluationTime = evaluationTime }
}
