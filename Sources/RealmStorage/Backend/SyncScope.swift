// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform

/// The data that a sync has to make durable.
///
/// Not syncing the size saves a write to the file system's journal for each commit.
package enum SyncScope: Sendable, Equatable {
    /// The bytes and the size of the file.
    case full
    /// The bytes only, which is enough when the file did not grow.
    case data
}
