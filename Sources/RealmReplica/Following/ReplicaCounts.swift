// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform

/// The work of the follower of a realm since it was opened.
package struct ReplicaCounts: Sendable, Equatable {
    /// Records that were applied.
    package var records = 0
    package var bytes = 0
    /// Repeated requests for records that were damaged or missing.
    package var refetches = 0
    /// Times that the file was made anew from a base.
    package var rebuilds = 0
    /// Requests to readers to end.
    package var evictions = 0
    /// Copies of the file because readers did not end.
    package var renewals = 0
    /// Failed attempts.
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
