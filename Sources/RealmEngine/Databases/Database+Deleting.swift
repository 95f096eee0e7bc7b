// SPDX-License-Identifier: Apache-2.0

package import RealmPlatform
package import RealmStorage

/// Deletes the file of a realm with everything that belongs to it. All conditions are checked first, so a
/// failure changes nothing.
extension Database {
    /// Deletes the file while the realm is still served.
    ///
    /// After it, the copies and the files that SDKs leave next to it are deleted, except the lock file. From then on nothing can
    /// be written; requests that hold snapshots continue to read. The call waits for pending writes, and does nothing for a realm
    /// in memory, a private copy or a read-only file.
    ///
    /// - Throws: `StorageError`: `.refused(.fileInUse)` when another process has locked the file,
    ///   `.refused(.fileNotFound)` when it does not exist or was replaced, or the error of the system;
    ///   the realm is then served as before.
    package func deleteFiles() throws(StorageError) {
        guard mode == .readWrite, !path.isEmpty else { return }
        try requireDeletable()
        let known = copies?.list() ?? []
        setDiscarded()
        closeWriter()
        do throws(StorageError) {
            try System.delete(path)
        } catch {
            setDiscarded(false)
            startWriter()
            throw error
        }
        for copy in known { copies?.remove(copy.name) }
        RealmFiles.removeLeavings(of: path)
    }

    /// Throws the error that `deleteFiles` would throw, and changes nothing.
    package func requireDeletable() throws(StorageError) {
        guard let entry = System.entry(atPath: path, followsLink: false), entry.identity == identity else {
            throw .refused(.fileNotFound)
        }
        guard OwnershipLock.holders(ofFile: path) <= (store?.isOpen == true ? 1 : 0) else { throw RealmFiles.inUse }
        try RealmFiles.requireUnread(path)
        try System.requireWritableFolder(of: path)
    }
}

extension RealmFiles {
    /// The error for a file that another process has open.
    static var inUse: StorageError { .refused(.fileInUse("another program has the file open")) }

    /// Throws `.refused(.fileInUse)` when another server serves a file for reading only.
    ///
    /// Only what deletes a file asks for that. Writes, a compaction and a restore take no data away: a reader notices
    /// them, and opens the file again.
    static func requireUnread(_ path: String) throws(StorageError) {
        guard ReadingLock.holders(ofFile: path) == 0 else {
            throw .refused(.fileInUse("another server serves the file for reading"))
        }
    }

    /// Deletes a file that is not open in this process, whatever its contents, with everything that belongs to it.
    ///
    /// - Parameters:
    ///   - path: The file. A symbolic link is not followed.
    ///   - key: The key of an encrypted file, with which its copies are recognized.
    /// - Throws: `StorageError`: `.refused` when another process uses the file, when it does not exist or
    ///   is no regular file.
    package static func delete(_ path: String, key: EncryptionKey? = nil) throws(StorageError) {
        try requireDeletable(path)
        let copies = FileCopies(ofFile: path, key: key)
        let known = copies.list()
        try System.delete(path)
        for copy in known { copies.remove(copy.name) }
        removeLeavings(of: path)
    }

    /// Throws the error that `delete` would throw, and changes nothing.
    package static func requireDeletable(_ path: String) throws(StorageError) {
        guard let entry = System.entry(atPath: path, followsLink: false) else { throw .refused(.fileNotFound) }
        guard entry.isRegular else { throw .refused(.unsuitable("not a regular file")) }
        guard OwnershipLock.holders(ofFile: path) == 0 else { throw inUse }
        try requireUnread(path)
        try System.requireWritableFolder(of: path)
    }

    /// Deletes the files that SDKs leave next to a realm's file: `.note`, and those in `.management`.
    ///
    /// SDKs make pipes there and empty files. A copy of such a folder may have regular files in their place. Links are not
    /// followed and stay, as do files of other names.
    static func removeLeavings(of path: String) {
        for ending in [".note", ".logged"] { removeLeaving(path + ending) }
        let folder = path + ".management"
        guard System.isFolder(folder), System.linkTarget(folder) == nil else { return }
        let names = [
            "access_control.write.mx", "access_control.control.mx", "access_control.versions.mx", "access_control.new_commit.cv",
            "access_control.pick_writer.cv", "lock.fifo",
        ]
        for name in names { removeLeaving(folder + "/" + name) }
        // The folder remains if it contains anything else.
        System.removeEmptyFolder(folder)
    }

    /// Deletes a pipe or a regular file; anything else at the path stays.
    private static func removeLeaving(_ path: String) {
        guard let entry = System.entry(atPath: path, followsLink: false), entry.isPipe || entry.isRegular else { return }
        System.remove(path)
    }
}
