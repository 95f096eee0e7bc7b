// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform
internal import RealmStorage

/// The state of a migration that its steps share.
struct MigrationWork {
    /// The file as it was before the migration; nil outside migrations.
    var past: Snapshot?
    /// The number of rounds that all loops have made so far.
    var rounds = 0
    /// The estimated memory in bytes of the values that were computed for the present object.
    var computedBytes = 0
}
