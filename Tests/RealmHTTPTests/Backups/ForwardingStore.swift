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
        of realm: RealmName, _ control: WorkControl?, _ write: (FileBackend) throws(StorageError) -> Void,
        naming: (_ digest: () throws(StorageError) -> [UInt8]) throws(StorageError) -> (any StoredName)?
    ) throws(StorageError) { try folder.put(of: realm, control, write, naming: naming) }
    func place(of name: any StoredName) -> String { folder.place(of: name) }
    func files<Name: StoredName>(of realm: RealmName) throws(StorageError) -> [(name: Name, byteCount: Int)] {
        try folder.files(of: realm)
    }
    func get(_ name: any StoredName, byteCount: Int, into target: Int32, _ control: WorkControl?) throws(StorageError) {
        try folder.get(name, byteCount: byteCount, into: target, control)
    }
    func digest(of name: any StoredName) throws(StorageError) -> [UInt8]? { try folder.digest(of: name) }
    func delete(_ name: any StoredName) throws(StorageError) { try folder.delete(name) }
}
