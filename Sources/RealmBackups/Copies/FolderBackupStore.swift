// SPDX-License-Identifier: Apache-2.0

internal import Glibc
package import RealmEngine
package import RealmPlatform
package import RealmStorage

/// Backups in a folder: one folder in it per realm, which is made when it is needed.
package struct FolderBackupStore: BackupStore {
    /// The path of the folder.
    private let folder: String

    /// Makes a store; nothing is read or made yet.
    ///
    /// - Parameter folder: The path of the folder.
    package init(_ folder: String) { self.folder = folder.hasSuffix("/") ? folder : folder + "/" }

    /// The path of the file of a backup.
    package func place(of name: BackupName) -> String { path(of: name) }

    /// Returns the path of the file of a backup.
    package func path(of name: BackupName) -> String { path(of: name.realm) + "/" + name.file }

    package func path(of realm: RealmName) -> String { folder + realm.text }

    /// Makes the folder of a realm if there is none, removes what ended processes left in it, and returns its path.
    package func makeFolder(of realm: RealmName) throws(StorageError) -> String {
        let place = path(of: realm)
        for path in [folder, place] where !System.isFolder(path) {
            guard System.makeFolder(path) || System.isFolder(path) else { throw .io(operation: "mkdir", errno: errno) }
        }
        if let names = try? RealmFiles.names(in: place) { NewFile.removeLeftovers(inFolder: place, names: names) }
        return place
    }

    /// Stores a backup, as the protocol says. A leftover of a process that ended is removed before.
    package func put(
        _ name: BackupName, unlessLike other: BackupName?, _ control: WorkControl?,
        _ write: (FileBackend) throws(StorageError) -> Void
    ) throws(StorageError) -> Bool {
        _ = try makeFolder(of: name.realm)
        let file = try NewFile(beside: path(of: name))
        try write(file.backend())
        if other != nil, try has(other, with: try FileDigest.sha256(file.descriptor)) { return false }
        try file.publish(as: path(of: name))
        return true
    }

    /// Returns the backups of a realm, as the protocol says.
    package func list(of realm: RealmName) throws(StorageError) -> [StoredBackup] {
        let place = path(of: realm)
        guard System.isFolder(place) else { return [] }
        guard let names = try? RealmFiles.names(in: place) else { throw .io(operation: "opendir", errno: EIO) }
        let backups = names.compactMap { BackupName(file: $0, realm: realm) }
        return backups.sorted { $0.isNewer(than: $1) }.compactMap { name in
            guard let entry = System.entry(atPath: path(of: name), followsLink: false), entry.isRegular else { return nil }
            return StoredBackup(name, byteCount: entry.byteCount)
        }
    }

    /// Copies the bytes of a backup, as the protocol says.
    package func get(_ backup: StoredBackup, into target: Int32, _ control: WorkControl?) throws(StorageError) {
        guard RealmFiles.exists(path(of: backup.name)) else { throw .refused(.fileNotFound) }
        try FileCopy.copyQuietMoment(of: path(of: backup.name), to: target, control)
    }

    /// Returns the SHA-256 of a backup, for which its whole file is read.
    package func digest(of name: BackupName) throws(StorageError) -> [UInt8]? {
        guard RealmFiles.exists(path(of: name)) else { throw .refused(.fileNotFound) }
        let descriptor = try System.openForReading(path(of: name))
        defer { System.close(descriptor) }
        return try FileDigest.sha256(descriptor)
    }

    /// Deletes a backup, as the protocol says.
    package func delete(_ name: BackupName) throws(StorageError) {
        guard RealmFiles.exists(path(of: name)) else { return }
        try System.delete(path(of: name))
    }
}
