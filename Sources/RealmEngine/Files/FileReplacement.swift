// SPDX-License-Identifier: Apache-2.0

package import RealmPlatform
package import RealmStorage

/// Replaces the file of a realm by another one, such as a backup that is restored. The old file is kept as a copy next to it.
///
/// The new file is written without a name. The old file then gets the name of a copy in addition to its own, and the new one
/// takes its own from it. The path leads to the old or the new file at every moment. A process that ends in between leaves a
/// file with both names; `FileCopies.removeSecondName` removes the second one when the file is opened again.
package final class FileReplacement: Sendable {
    /// The path of the file that is replaced, without symbolic links.
    private let path: String
    /// The copies next to the file; the old file becomes one of them.
    private let copies: FileCopies
    /// The new file, which has no name yet.
    package let file: NewFile

    /// Makes an empty file in the folder of `path`. The caller fills it.
    ///
    /// - Parameters:
    ///   - path: The path of the file that is replaced, without symbolic links.
    ///   - copies: The copies next to the file.
    /// - Throws: `StorageError.io` when the folder takes no file.
    package init(of path: String, _ copies: FileCopies) throws(StorageError) {
        self.path = path
        self.copies = copies
        file = try NewFile(nextTo: path)
    }

    /// Puts the new file in the place of the old one, and keeps the old one as a copy.
    ///
    /// No process may have the file open. The lock of the file is held meanwhile.
    ///
    /// - Parameter version: The number of the version in the old file; nil when it cannot be read.
    /// - Returns: The name of the copy; nil when there was no file at the path.
    /// - Throws: `StorageError`: `.refused(.fileInUse)` when another program has the file open, or the
    ///   error of the system. The old file is in its place then.
    package func swap(keeping version: UInt64?) throws(StorageError) -> String? {
        let lock = try OwnershipLock(ofFile: path)
        defer { lock.release() }
        guard System.entry(atPath: path, followsLink: false) != nil else {
            try file.publish(as: path)
            return nil
        }
        System.copyPermissions(of: path, to: file.descriptor)
        let name = try copies.named(.replaced(version: version)) { name throws(StorageError) in
            try System.link(path, as: copies.path(of: name))
        }
        do throws(StorageError) {
            try System.syncFolder(of: path)
            try file.replace(path)
        } catch {
            // Either file may have the name when the sync of the folder failed.
            if isSameFile(name) { copies.remove(name) } else { try? System.rename(copies.path(of: name), to: path) }
            throw error
        }
        return name
    }

    /// Returns whether the file of a copy is still the one at the path.
    private func isSameFile(_ name: String) -> Bool {
        System.entry(atPath: copies.path(of: name), followsLink: false)?.identity
            == System.entry(atPath: path, followsLink: false)?.identity
    }

    /// Puts the old file back in its place, because the new one cannot be served. The new one is gone.
    ///
    /// - Parameter name: The name of the copy that `swap` returned; nil when there was no file.
    /// - Throws: `StorageError` when the system refuses; the new file is in its place then.
    package func undo(_ name: String?) throws(StorageError) {
        guard let name else { return try System.delete(path) }
        try System.rename(copies.path(of: name), to: path)
        try System.syncFolder(of: path)
    }
}
