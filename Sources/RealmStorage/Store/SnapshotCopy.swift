// SPDX-License-Identifier: Apache-2.0

package import RealmPlatform

/// Writes one version as a file of its own: for backups, compaction, another key, and private copies to work on.
///
/// The copy has the version number of the original and hardly any free space. It is a local file
/// without history, whatever the original was. Source: docs/format.md, "Copies".
package enum SnapshotCopy {
    /// Writes a snapshot to an empty backend, and returns when it is durable.
    ///
    /// - Parameters:
    ///   - snapshot: The version to copy.
    ///   - backend: The new file.
    ///   - key: The key of the copy; nil writes a plain file.
    ///   - control: Gets the progress, and can cancel the copy.
    /// - Throws: `.refused(.formatNotWritable)` when the nodes are those of an older format, `.io`
    ///   when the disk rejects a write.
    package static func write(
        _ snapshot: Snapshot, to backend: any StorageBackend, key: EncryptionKey?, _ control: WorkControl? = nil
    ) throws(StorageError) {
        try EmptyFile.write(backend, key)
        try CompactCopy(of: snapshot, in: DataFile(backend, key: key), control).finish()
    }

    /// Writes a snapshot to the file `path`. No reader ever sees a part of it, because it gets its name when it is complete.
    ///
    /// - Parameters:
    ///   - snapshot: The version to copy.
    ///   - key: The key of the copy; nil writes a plain file.
    ///   - replacing: Whether an existing file may be replaced; otherwise there must be none.
    ///   - control: Gets the progress, and can cancel the copy.
    package static func write(
        _ snapshot: Snapshot, toFile path: String, key: EncryptionKey?, replacing: Bool = false, _ control: WorkControl? = nil
    ) throws(StorageError) {
        let path = try System.resolved(path)
        guard replacing else { return try write(snapshot, toNewFile: path, key: key, control) }
        let file = try NewFile(nextTo: path)
        System.copyPermissions(of: path, to: file.descriptor)
        try write(snapshot, to: file.backend(), key: key, control)
        try file.replace(path)
    }
}

/// Copies to files that must not exist yet.
extension SnapshotCopy {
    /// Writes a snapshot to a file without a name, and gives it the name `path` when it is durable.
    private static func write(
        _ snapshot: Snapshot, toNewFile path: String, key: EncryptionKey?, _ control: WorkControl?
    ) throws(StorageError) {
        guard System.entry(atPath: path, followsLink: false) == nil else {
            throw .refused(.unsuitable("a file of that name exists"))
        }
        let file = try NewFile(nextTo: path)
        try write(snapshot, to: file.backend(), key: key, control)
        try file.publish(as: path)
    }
}

/// Compaction of the file of a store.
extension FileStore {
    /// Replaces a file that no process has open by a copy without free space.
    ///
    /// - Parameters:
    ///   - path: The file.
    ///   - key: Its present key; nil for a plain file.
    ///   - newKey: The key of the new file; nil writes a plain one.
    ///   - options: How the file is opened.
    /// - Returns: The sizes before and after, in bytes.
    /// - Throws: `.refused` in the cases in which `open` does.
    package static func rewrite(
        path: String, key: EncryptionKey?, newKey: EncryptionKey?, _ options: Options = Options()
    ) throws(StorageError) -> (before: Int, after: Int) {
        let store = try open(path: path, key: key, options)
        let before = store.current.file.fileByteCount
        try SnapshotCopy.write(store.current, toFile: store.path, key: newKey, replacing: true, options.control)
        let after = try RealmFile(path: store.path, key: newKey).fileByteCount
        // The lock is on another file, so it was kept while this one was replaced.
        try store.close()
        return (before, after)
    }
}
