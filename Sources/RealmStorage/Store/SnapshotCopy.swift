// SPDX-License-Identifier: Apache-2.0

/// Writes one version as a file of its own: for backups, compaction, another key, and private
/// copies to work on.
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
        try FirstOpening.writeEmpty(backend, key)
        guard !snapshot.top.tables.isNone else { return }
        guard snapshot.fileFormat == FileHeader.writtenFormat else {
            throw .refused(.formatNotWritable(found: snapshot.fileFormat))
        }
        let data = try DataFile(backend, key: key)
        let copy = try writeNodes(snapshot, data, control)
        try data.write(copy.top.littleEndianBytes, at: 0)
        try data.write([UInt8(FileHeader.writtenFormat)], at: 20)
        try data.sync()
        try backend.truncate(to: data.physicalByteCount(for: copy.size))
        try backend.sync(.full)
    }

    /// Copies all nodes of a version to a new file; returns the ref of the top node and the logical
    /// size.
    private static func writeNodes(
        _ snapshot: Snapshot, _ data: DataFile, _ control: WorkControl?
    ) throws(StorageError) -> (top: Ref, size: Int) {
        let names = snapshot.top.names
        let tables = snapshot.top.tables
        let lists = TopWriter(version: snapshot.version, slotCount: 11)
        let expected = try NodeWriter.expectedByteCount(
            [names, tables], in: snapshot.space, .allNodes, limit: Int(clamping: snapshot.space.limit))
        let free = FreeSpace(logicalSize: FileHeader.byteCount)
        let allocator = SpaceAllocator(free, expected: expected, atEnd: lists.reserve(free, added: 64))
        data.setDisposable(free.isUnused)
        var writer = NodeWriter(snapshot.space, .allNodes, allocator: allocator, output: NodeOutput(data))
        writer.control = control
        let newNames = try writer.write(names)
        let newTables = try writer.write(tables)
        writer.allocator.trim(keeping: lists.reserve(writer.allocator.free))
        let top = try lists.write(&writer, names: newNames, tables: newTables)
        try writer.output.flush()
        return (top, writer.allocator.free.logicalSize)
    }

    /// Writes a snapshot to the file `path`. No reader ever sees a part of it, because it gets its
    /// name when it is complete.
    ///
    /// - Parameters:
    ///   - snapshot: The version to copy.
    ///   - path: The path of the copy.
    ///   - key: The key of the copy; nil writes a plain file.
    ///   - replacing: Whether an existing file may be replaced; otherwise there must be none.
    ///   - control: Gets the progress, and can cancel the copy.
    package static func write(
        _ snapshot: Snapshot, toFile path: String, key: EncryptionKey?, replacing: Bool = false, _ control: WorkControl? = nil
    ) throws(StorageError) {
        let path = try System.resolved(path)
        guard replacing else { return try write(snapshot, toNewFile: path, key: key, control) }
        let temporary = NewFile.temporaryPath(beside: path)
        let backend = try FileBackend(creating: temporary, permissionsOf: path)
        do throws(StorageError) {
            try write(snapshot, to: backend, key: key, control)
            backend.close()
            try System.rename(temporary, to: path)
        } catch {
            System.remove(temporary)
            throw error
        }
        try System.syncFolder(of: path)
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
        let file = try NewFile(beside: path)
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
