// SPDX-License-Identifier: Apache-2.0

package import RealmEngine
package import RealmPlatform
package import RealmStorage
internal import SystemPackage

/// The name of a file in a store: in the folder of its realm.
package protocol StoredName: Sendable {
    var realm: RealmName { get }
    /// The name of the file in the folder of the realm.
    var file: String { get }

    /// Reads the name of a file in the folder of a realm; nil for files of another kind.
    init?(file: String, realm: RealmName)
}

/// A place for files of realms, outside of the folders that are served: backups, and bases and records that are shipped.
///
/// All functions wait for a disk or for a network, so they belong on threads that may wait, and are never called under a lock.
package protocol BackupStore: Sendable {
    /// Stores a file. No client sees a part of it: it is there when it is complete.
    ///
    /// - Parameters:
    ///   - control: Ends the transfer to the store when it is cancelled; nil when nothing does.
    ///   - write: Writes the file to an empty one.
    ///   - naming: Returns the name from the SHA-256 of the content, which is computed when it is first asked for; nil when the
    ///     file need not be stored.
    /// - Throws: The error of `write` or `naming`, or of the store. A folder throws that a file of the name exists, and a bucket
    ///   replaces it.
    func put(
        of realm: RealmName, _ control: WorkControl?, _ write: (FileBackend) throws(StorageError) -> Void,
        naming: (_ digest: () throws(StorageError) -> [UInt8]) throws(StorageError) -> (any StoredName)?
    ) throws(StorageError)

    /// Returns this store with other folders for its temporary files.
    ///
    /// - Parameter folders: The folders to try, in order.
    func makingFiles(inOneOf folders: [String]) -> any BackupStore

    /// The path or the URL of a file, for people.
    func place(of name: any StoredName) -> String

    /// Returns the files of a realm that have names of a kind, with their lengths in bytes, in no particular order.
    ///
    /// - Throws: `StorageError.io` when the store cannot be read.
    func files<Name: StoredName>(of realm: RealmName) throws(StorageError) -> [(name: Name, byteCount: Int)]

    /// Copies the bytes of a file.
    ///
    /// - Parameters:
    ///   - byteCount: Its length as it was listed.
    ///   - target: The descriptor of the empty file that gets them.
    ///   - control: Ends the transfer when it is cancelled; nil when nothing does.
    /// - Throws: `StorageError`: `.refused(.fileNotFound)` when there is no such file, or the error of the control.
    func get(_ name: any StoredName, byteCount: Int, into target: Int32, _ control: WorkControl?) throws(StorageError)

    /// Returns the SHA-256 of a file; nil when the store does not know it.
    ///
    /// - Throws: `StorageError`: `.refused(.fileNotFound)` when there is no such file.
    func digest(of name: any StoredName) throws(StorageError) -> [UInt8]?

    /// Deletes a file; a missing one is no error.
    ///
    /// - Throws: `StorageError.io` when the store refuses.
    func delete(_ name: any StoredName) throws(StorageError)
}

extension BackupStore {
    /// Returns this store, which has no temporary files elsewhere.
    package func makingFiles(inOneOf folders: [String]) -> any BackupStore { self }

    /// Stores a backup, unless it has the bytes of another one.
    ///
    /// - Parameters:
    ///   - other: A backup in the store that may have the same bytes; nil for none.
    ///   - control: Ends the transfer to the store when it is cancelled; nil when nothing does.
    ///   - write: Writes the backup to an empty file.
    /// - Returns: Whether it was stored: not when `other` has the same bytes.
    /// - Throws: The error of `write`, or of the store.
    package func put(
        _ name: BackupName, unlessLike other: BackupName?, _ control: WorkControl?,
        _ write: (FileBackend) throws(StorageError) -> Void
    ) throws(StorageError) -> Bool {
        var isNew = true
        try put(of: name.realm, control, write) { digest throws(StorageError) in
            if let other, try has(other, with: try digest()) { isNew = false }
            return isNew ? name : nil
        }
        return isNew
    }

    /// Returns the backups of a realm, the newest first. Files that are none are left out.
    ///
    /// - Throws: `StorageError.io` when the store cannot be read.
    package func list(of realm: RealmName) throws(StorageError) -> [StoredBackup] {
        try files(of: realm).map { StoredBackup($0.name, byteCount: $0.byteCount) }.sorted { $0.name.isNewer(than: $1.name) }
    }

    /// Copies the bytes of a backup, as it was listed.
    package func get(_ backup: StoredBackup, into target: Int32, _ control: WorkControl?) throws(StorageError) {
        try get(backup.name, byteCount: backup.byteCount, into: target, control)
    }

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
                // Another program has taken the name in the meantime.
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
    ///   - name: The backup; one that is gone is like no file.
    ///   - digest: The SHA-256 of the file.
    /// - Throws: `StorageError.io` when the store cannot be read.
    private func has(_ name: BackupName, with digest: [UInt8]) throws(StorageError) -> Bool {
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
