// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform
internal import RealmStorage

package struct StoredBackup: Sendable, Hashable {
    package let name: BackupName
    /// The length of the file in bytes.
    package let byteCount: Int

    /// Makes the description of a backup.
    package init(_ name: BackupName, byteCount: Int) {
        self.name = name
        self.byteCount = byteCount
    }
}
