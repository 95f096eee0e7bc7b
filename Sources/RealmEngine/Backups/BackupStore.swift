// SPDX-License-Identifier: Apache-2.0

package import RealmStorage

/// A place for the backups of realms, outside of the folders that are served.
///
/// All functions wait for a disk or for a network, so they belong on threads that may wait, and are never
/// called under a lock.
package protocol BackupStore: Sendable {
    /// Stores a backup. Nobody sees a part of it: it is there when it is complete.
    ///
    /// - Parameters:
    ///   - name: The name of the backup, which no other one has.
    ///   - control: Ends the transfer to the store when it is cancelled; nil when nothing does.
    ///   - write: Writes the backup to an empty file.
    /// - Throws: The error of `write`, or of the store.
    func put(
        _ name: BackupName, _ control: WorkControl?, _ write: (FileBackend) throws(StorageError) -> Void
    ) throws(StorageError)

    /// The path or the URL of a backup, for people.
    func place(of name: BackupName) -> String

    /// Returns the backups of a realm, the newest first. Files that are none are left out.
    ///
    /// - Parameter realm: The name of the realm.
    /// - Throws: `StorageError.io` when the store cannot be read.
    func list(of realm: RealmName) throws(StorageError) -> [StoredBackup]

    /// Copies the bytes of a backup.
    ///
    /// - Parameters:
    ///   - name: The name of the backup.
    ///   - file: The empty file that gets them.
    /// - Throws: `StorageError`: `.refused(.fileNotFound)` when there is no such backup.
    func get(_ name: BackupName, into file: NewFile) throws(StorageError)

    /// Deletes a backup; a missing one is no error.
    ///
    /// - Parameter name: The name of the backup.
    /// - Throws: `StorageError.io` when the store refuses.
    func delete(_ name: BackupName) throws(StorageError)
}

extension BackupStore {
    /// Stores a backup that nothing cancels.
    ///
    /// - Parameters:
    ///   - name: The name of the backup, which no other one has.
    ///   - write: Writes the backup to an empty file.
    /// - Throws: The error of `write`, or of the store.
    package func put(
        _ name: BackupName, _ write: (FileBackend) throws(StorageError) -> Void
    ) throws(StorageError) { try put(name, nil, write) }

    /// Returns the names of the backups of a realm, the newest first.
    ///
    /// - Parameter realm: The name of the realm.
    /// - Throws: `StorageError.io` when the store cannot be read.
    package func names(of realm: RealmName) throws(StorageError) -> [BackupName] { try list(of: realm).map(\.name) }
}
