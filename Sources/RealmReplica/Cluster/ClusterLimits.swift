// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform
internal import RealmStorage

/// How often a node tells that it lives, and what it concludes from the silence of others.
///
/// Nothing depends on these for being right, only for being soon: who owns a realm is decided by its log.
package struct ClusterLimits: Sendable {
    /// The number of seconds between two calls of the register.
    package var beatSeconds = 0.5
    /// The number of seconds between two looks at the number of the map, so that a shard that is moved is noticed soon.
    package var lookSeconds = 0.05
    /// After how many seconds of silence a node counts as gone, and its shards are given to others.
    package var patienceSeconds = 4.0
    /// After how many seconds without an answer of the register a node does not call itself current any more.
    package var currentSeconds = 3.0

    /// Makes the usual limits.
    package init() {}
}
