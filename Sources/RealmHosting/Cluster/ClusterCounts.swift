// SPDX-License-Identifier: Apache-2.0

internal import RealmFormats
internal import RealmPlatform
internal import Synchronization
internal import RealmStorage

/// What has happened in a node since its start. Any thread may count.
final class ClusterCounts: Sendable {
    /// Openings that began with a claim.
    let claims = Atomic(0)
    /// Openings for which the file was made from a base.
    let hydrations = Atomic(0)
    /// Records that files were brought up with when they were opened.
    let replayedRecords = Atomic(0)
    /// Realms that were followed and are owned from then on, while they were open.
    let promotions = Atomic(0)
    /// Realms that were owned and are followed from then on, while they were open.
    let demotions = Atomic(0)
    /// Realms that were lost to another node.
    let fenced = Atomic(0)
    /// Commits whose outcome was not known in time.
    let unknownOutcomes = Atomic(0)
    /// Requests for realms of other nodes.
    let handOvers = Atomic(0)
    /// Openings that failed because of the log.
    let failedOpenings = Atomic(0)
}
