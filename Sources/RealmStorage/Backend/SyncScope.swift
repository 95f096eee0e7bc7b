// SPDX-License-Identifier: Apache-2.0

/// What a sync has to bring to the disk.
///
/// Not syncing the size saves a write to the file system's journal for each commit.
package enum SyncScope: Sendable, Equatable {
    /// Bytes and size.
    case full
    /// Bytes; enough when the file did not grow.
    case data
}
