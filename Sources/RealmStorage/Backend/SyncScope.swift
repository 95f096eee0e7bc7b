// SPDX-License-Identifier: Apache-2.0

/// What a sync has to bring to the disk.
package enum SyncScope: Sendable, Equatable {
    /// Bytes and size.
    case full
    /// Bytes; enough when the file did not grow.
    case data
}
