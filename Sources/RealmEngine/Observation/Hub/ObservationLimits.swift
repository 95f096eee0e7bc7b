// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform

/// The limits of the observations of one database. They protect its memory, its file and the time of the hub's thread.
package struct ObservationLimits: Sendable, Equatable {
    /// The number of commits that may wait; beyond it they are delivered together.
    package var waitingCommits = 8
    /// The number of changes that may wait before they are discarded.
    package var waitingChanges = 1_000_000
    /// The number of commits that may wait to be delivered separately. Beyond it their changes are discarded.
    package var waitingBarriers = 64
    /// The number of commits after which a passive target is advanced.
    ///
    /// A passive target keeps its version in the file, so it is also advanced after `passiveTime`, and when such targets are at
    /// more than `passiveVersions` versions. If that takes long it is done less often, so that it takes a tenth of the thread's
    /// time at most; `maximumPassiveTime` applies in any case.
    package var passiveCommits = 8
    /// The number of distinct versions that passive targets may be at.
    package var passiveVersions = 4
    /// The time for which a passive target may remain behind the newest version.
    package var passiveTime = Duration.seconds(1)
    /// The longest time for which a passive target remains behind the newest version, whatever advancing it costs.
    package var maximumPassiveTime = Duration.seconds(10)
    /// The number of changes that may be kept for passive targets.
    package var passiveChanges = 500_000
    /// The longest time for which one target may be evaluated; then its observation fails, because all
    /// other targets wait meanwhile. It is also the longest time for which the file keeps a version for a target that other threads advance.
    package var evaluationTime = Duration.seconds(10)

    /// The time of an evaluation from which on other threads make it, if the listeners have some.
    package var delayedTime = Duration.milliseconds(20)
    /// The time of a round after which other threads make the evaluations that take a tenth of `delayedTime`, or may take it. After ten
    /// times as long they make all.
    package var roundTime = Duration.milliseconds(100)

    /// Makes limits with the default values, except for the time of evaluations.
    package init(evaluationTime: Duration = .seconds(10)) { self.evaluationTime = evaluationTime }
}
