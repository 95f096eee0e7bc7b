// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform
internal import RealmStorage

/// What the log has to know of a record to store it: which version it makes, and the checksum that identifies it.
package struct LogEntry: Sendable, Hashable {
    /// The number of the version that the record makes.
    package let version: UInt64
    /// The checksum of the history that the record ends.
    package let checksum: LogChecksum

    package init(version: UInt64, checksum: LogChecksum) {
        self.version = version
        self.checksum = checksum
    }
}
