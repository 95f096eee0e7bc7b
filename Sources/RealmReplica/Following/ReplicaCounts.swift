// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform

/// What the follower of a realm has done since it was opened.
package struct ReplicaCounts: Sendable, Equatable {
    /// Records that were applied.
    package var records = 0
    package var bytes = 0
    /// How often records that were damaged or missing were asked for again.
    package var refetches = 0
    /// How often the file was made anew from a base.
    package var rebuilds = 0
    /// How often readers were told to end.
    package var evictions = 0
    /// How often the file was copied because readers did not end.
    package var renewals = 0
    /// How many attempts have failed.
    package var failures = 0

    /// Makes counts of nothing.
    package init() {}

    /// Adds what was done for another realm.
    mutating func add(_ other: ReplicaCounts) {
        records += other.records
        bytes += other.bytes
        refetches += other.refetches
        rebuilds += other.rebuilds
        evictions += other.evictions
        renewals += other.renewals
        failures += other.failures
    }
}
