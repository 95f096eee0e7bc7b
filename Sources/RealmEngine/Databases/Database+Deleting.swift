// SPDX-License-Identifier: Apache-2.0

internal import Glibc
package import RealmStorage

/// Deleting a realm's file with what belongs to it: everything is looked at first, and what cannot be done changes nothing.
extension Database {
    /// Deletes the file while the realm is still served, then what this program and SDKs have left beside it, except the
    /// lock file. From then on nothing can be written; who holds snapshots reads on.
    ///
    /// Throws `.refused(.fileInUse)` when another process has a lock on it, `.refused(.fileNotFound)` when it is gone or
    /// another file has its place; then everything goes on as before.
    package func deleteFiles() throws(StorageError) {
        guard mode == .readWrite, !path.isEmpty else { return }
        try requireDeletable()
        let known = copies?.list() ?? []
        closeWriter()
        guard unsafe unlink(path) == 0 else {
            let code = errno
            startWriter()
            throw .io(operation: "unlink", errno: code)
        }
        for copy in known { copies?.remove(copy.name) }
        RealmFiles.removeLeavings(of: path)
    }

    /// Throws what `deleteFiles` would throw, and changes nothing.
    package func requireDeletable() throws(StorageError) {
        guard let entry = System.entry(atPath: path, followsLink: false), entry.identity == identity else {
            throw .refused(.fileNotFound)
        }
        guard OwnershipLock.holders(ofFile: path) <= (store?.isOpen == true ? 1 : 0) else { throw RealmFiles.inUse }
        try System.requireWritableFolder(of: path)
    }
}

extension RealmFiles {
    /// The refusal of a file that another process has open.
    static var inUse: StorageError { .refused(.fileInUse("another program has the file open")) }

    /// Deletes a file that is not open here, whatever is in it, with what belongs to it. Throws `.refused` when another process
    /// uses it, when it is gone, or is no regular file.
    package static func delete(_ path: String, key: EncryptionKey? = nil) throws(StorageError) {
        try requireDeletable(path)
        let copies = FileCopies(ofFile: path, key: key)
        let known = copies.list()
        guard unsafe unlink(path) == 0 else { throw .io(operation: "unlink", errno: errno) }
        for copy in known { copies.remove(copy.name) }
        removeLeavings(of: path)
    }

    /// Throws what `delete` would throw, and changes nothing.
    package static func requireDeletable(_ path: String) throws(StorageError) {
        guard let entry = System.entry(atPath: path, followsLink: false) else { throw .refused(.fileNotFound) }
        guard entry.isRegular else { throw .refused(.unsuitable("not a regular file")) }
        guard OwnershipLock.holders(ofFile: path) == 0 else { throw inUse }
        try System.requireWritableFolder(of: path)
    }

    /// What SDKs leave beside a file, when it is what they leave: other files of such names may belong to the user.
    static func removeLeavings(of path: String) {
        if System.entry(atPath: path + ".note", followsLink: false)?.isPipe == true { unsafe unlink(path + ".note") }
        let folder = path + ".management"
        guard System.entry(atPath: folder, followsLink: false) != nil, System.linkTarget(folder) == nil else { return }
        for name in ["access_control.write.mx", "access_control.control.mx", "access_control.versions.mx"] {
            if System.entry(atPath: folder + "/" + name, followsLink: false)?.byteCount == 0 {
                unsafe unlink(folder + "/" + name)
            }
        }
        for name in ["access_control.new_commit.cv", "access_control.pick_writer.cv", "lock.fifo"] {
            if System.entry(atPath: folder + "/" + name, followsLink: false)?.isPipe == true {
                unsafe unlink(folder + "/" + name)
            }
        }
        // Stays when anything else is in it.
        unsafe rmdir(folder)
    }
}
