// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform
internal import RealmStorage

/// A backup in a store, as its list has it.
package struct StoredBackup: Sendable, Hashable {
    /// The name of the backup.
    package let name: BackupName
    /// The length of the file in bytes.
    package let byteCount: Int

    /// Makes the description of a backup.
    package init(_ name: BackupName, byteCount: Int) {
        self.name = name
        self.byteCount = byteCount
    }
}
