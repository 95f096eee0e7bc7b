// SPDX-License-Identifier: Apache-2.0

@testable import RealmBackups
import RealmEngine
import RealmPlatform
import RealmStorage

/// A store that does what that of a folder does, except for what a test replaces.
protocol ForwardingStore: BackupStore {
    var folder: FolderBackupStore { get }
}

extension ForwardingStore {
    func put(
        _ name: BackupName, unlessLike other: BackupName?, _ control: WorkControl?,
        _ write: (FileBackend) throws(StorageError) -> Void
    ) throws(StorageError) -> Bool { try folder.put(name, unlessLike: other, control, write) }
    func place(of name: BackupName) -> String { folder.place(of: name) }
    func list(of realm: RealmName) throws(StorageError) -> [StoredBackup] { try folder.list(of: realm) }
    func get(_ backup: StoredBackup, into target: Int32, _ control: WorkControl?) throws(StorageError) {
        try folder.get(backup, into: target, control)
    }
    func digest(of name: BackupName) throws(StorageError) -> [UInt8]? { try folder.digest(of: name) }
    func delete(_ name: BackupName) throws(StorageError) { try folder.delete(name) }
}
