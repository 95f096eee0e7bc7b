// SPDX-License-Identifier: Apache-2.0

package import RealmEngine
package import RealmPlatform
package import RealmStorage
internal import SystemPackage

/// A place for the backups of realms, outside of the folders that are served.
///
/// All functions wait for a disk or for a network, so they belong on threads that may wait, and are never
/// called under a lock.
package protocol BackupStore: Sendable {
    /// Stores a backup, unless it has the bytes of another one. Nobody sees a part of it: it is there when
    /// it is complete.
    ///
    /// - Parameters:
    ///   - other: A backup in the store that may have the same bytes; nil for none.
    ///   - control: Ends the transfer to the store when it is cancelled; nil when nothing does.
    ///   - write: Writes the backup to an empty file.
    /// - Returns: Whether it was stored: not when `other` has the same bytes.
    /// - Throws: The error of `write`, or of the store.
    func put(
        _ name: BackupName, unlessLike other: BackupName?, _ control: WorkControl?,
        _ write: (FileBackend) throws(StorageError) -> Void
    ) throws(StorageError) -> Bool

    /// Returns this store with other folders for its temporary files.
    ///
    /// - Parameter folders: The folders to try, in order.
    func makingFiles(inOneOf folders: [String]) -> any BackupStore

    /// The path or the URL of a backup, for people.
    func place(of name: BackupName) -> String

    /// Returns the backups of a realm, the newest first. Files that are none are left out.
    ///
    /// - Throws: `StorageError.io` when the store cannot be read.
    func list(of realm: RealmName) throws(StorageError) -> [StoredBackup]

    /// Copies the bytes of a backup.
    ///
    /// - Parameters:
    ///   - backup: The backup as it was listed.
    ///   - target: The descriptor of the empty file that gets them.
    ///   - control: Ends the transfer when it is cancelled; nil when nothing does.
    /// - Throws: `StorageError`: `.refused(.fileNotFound)` when there is no such backup, or the error of the control.
    func get(_ backup: StoredBackup, into target: Int32, _ control: WorkControl?) throws(StorageError)

    /// Returns the SHA-256 of a backup; nil when the store does not know it.
    ///
    /// - Throws: `StorageError`: `.refused(.fileNotFound)` when there is no such backup.
    func digest(of name: BackupName) throws(StorageError) -> [UInt8]?

    /// Deletes a backup; a missing one is no error.
    ///
    /// - Throws: `StorageError.io` when the store refuses.
    func delete(_ name: BackupName) throws(StorageError)
}

extension BackupStore {
    /// Returns this store, which has no temporary files elsewhere.
    package func makingFiles(inOneOf folders: [String]) -> any BackupStore { self }

    /// Stores a backup that nothing cancels.
    ///
    /// - Parameters:
    ///   - write: Writes the backup to an empty file.
    /// - Throws: The error of `write`, or of the store.
    package func put(
        _ name: BackupName, _ write: (FileBackend) throws(StorageError) -> Void
    ) throws(StorageError) { _ = try put(name, unlessLike: nil, nil, write) }

    /// Stores a backup under a name that no other one has.
    ///
    /// Backups of the same second and version get numbers. In a folder a name is never taken twice; a bucket
    /// does not notice when two programs choose the same one in the same moment.
    ///
    /// - Parameters:
    ///   - name: The name of the backup, whose number may be taken.
    ///   - other: A backup in the store that may have the same bytes; nil for none.
    ///   - control: Ends the transfer to the store when it is cancelled; nil when nothing does.
    ///   - write: Writes the backup to an empty file.
    /// - Returns: The name that it got; nil when it was not stored, because `other` has the same bytes.
    /// - Throws: The error of `write`, or of the store.
    package func add(
        _ name: BackupName, unlessLike other: BackupName? = nil, _ control: WorkControl? = nil,
        _ write: (FileBackend) throws(StorageError) -> Void
    ) throws(StorageError) -> BackupName? {
        for _ in 1..<5 {
            let free = try freeName(name)
            do throws(StorageError) {
                return try put(free, unlessLike: other, control, write) ? free : nil
            } catch {
                // Another program has taken the name meanwhile.
                guard error.errno == .fileExists else { throw error }
            }
        }
        let last = try freeName(name)
        return try put(last, unlessLike: other, control, write) ? last : nil
    }

    /// Returns a name with the first number that is free in the store.
    private func freeName(_ name: BackupName) throws(StorageError) -> BackupName {
        let taken = try names(of: name.realm).first { $0.seconds == name.seconds && $0.version == name.version }
        return taken.map { name.following($0) } ?? name
    }

    /// Returns the names of the backups of a realm, the newest first.
    ///
    /// - Throws: `StorageError.io` when the store cannot be read.
    package func names(of realm: RealmName) throws(StorageError) -> [BackupName] { try list(of: realm).map(\.name) }

    /// Returns whether a file has the bytes of a backup, as far as the store knows.
    ///
    /// - Parameters:
    ///   - name: The backup; nil for none, which no file is like. One that is gone is none.
    ///   - digest: The SHA-256 of the file.
    /// - Throws: `StorageError.io` when the store cannot be read.
    package func has(_ name: BackupName?, with digest: [UInt8]) throws(StorageError) -> Bool {
        guard let name else { return false }
        do throws(StorageError) {
            return try self.digest(of: name) == digest
        } catch {
            if case .refused(.fileNotFound) = error { return false }
            throw error
        }
    }
}

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
