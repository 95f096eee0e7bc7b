// SPDX-License-Identifier: Apache-2.0

package import RealmPlatform

/// Compaction of a file while it is read and written.
extension FileStore {
    /// Copies the newest version to a new file without free space, next to the present one. Writes and reads continue.
    ///
    /// The copy is of use once `WriteTransaction.replaceFile` has brought it up to date and given it the
    /// name of the present file; dropped before, it leaves nothing behind.
    ///
    /// - Parameter control: Gets the progress, and can cancel the copy.
    /// - Throws: `.corrupt` for damage, `.io` when the disk has no room.
    package func makeCompactCopy(_ control: WorkControl? = nil) throws(StorageError) -> CompactCopy {
        let snapshot = current
        let data = openFile.committer.data
        guard let present = data.backend as? FileBackend else {
            return try FileStore.compactCopy(of: snapshot, in: MemoryBackend(), data.key, nil, control)
        }
        // The file of a private copy has no name.
        let file = try NewFile(nextTo: path.isEmpty ? System.temporaryFolder + "/realm" : path)
        if !path.isEmpty { System.copyPermissions(of: path, to: file.descriptor) }
        return try FileStore.compactCopy(of: snapshot, in: file.backend(loss: present.loss), data.key, file, control)
    }

    /// Copies a version to an empty backend.
    private static func compactCopy(
        of snapshot: Snapshot, in backend: any StorageBackend, _ key: EncryptionKey?, _ file: NewFile?,
        _ control: WorkControl?
    ) throws(StorageError) -> CompactCopy {
        try EmptyFile.write(backend, key)
        return try CompactCopy(of: snapshot, in: DataFile(backend, key: key), file: file, control)
    }

    /// Replaces the file in use; see `StoreWrite.Owner`.
    ///
    /// A crash leaves the old file or the new one under the name, and both have the same version.
    func replaceFile(by copy: CompactCopy, base: Snapshot) throws(StorageError) -> Snapshot {
        let old = openFile.committer.data
        guard !old.isUncertain else { throw .refused(.writesStopped) }
        try log?.requireReplaceable()
        try copy.follow(base)
        try copy.finish()
        let data = try DataFile(copy.data.backend, key: copy.data.key)
        let pins = VersionPins()
        let file = RealmFile(
            path: path, header: try data.plain.header(), plain: data.plain, fileByteCount: data.backend.byteCount)
        let snapshot = try Snapshot(
            file: file, clusterShift: base.clusterShift, previous: nil, pin: pins.pin(base.version))
        let committer = try Committer(data, snapshot, pins: pins, witness: witness, retention: options.retention)
        try takeName(copy.file, old, data)
        use(committer, pins, snapshot)
        log?.didReplaceFile()
        try syncName(of: data)
        return snapshot
    }

    /// Makes it durable that another file has the name.
    ///
    /// - Parameter data: That file, to which nothing is written any more if this fails: after a crash the old one may have the name
    ///   again, without what would be committed from now on.
    func syncName(of data: DataFile) throws(StorageError) {
        guard !path.isEmpty else { return }
        do throws(StorageError) {
            try System.syncFolder(of: path)
        } catch {
            data.markUncertain()
            throw error
        }
    }

    /// Gives another file the name of the file in use, unless neither has one.
    ///
    /// - Parameters:
    ///   - file: The other file; nil for one that has no name.
    ///   - old: The file in use.
    ///   - data: The other file as it is opened.
    func takeName(_ file: NewFile?, _ old: DataFile, _ data: DataFile) throws(StorageError) {
        guard !path.isEmpty, let file, let backend = data.backend as? FileBackend else { return }
        let facts = try backend.facts()
        let head = try data.mappedHead()
        try witness?.beginWriting()
        do throws(StorageError) {
            try file.takeName(path)
        } catch {
            try? witness?.abandonWriting(byteCount: old.backend.byteCount, old.mappedHead())
            throw error
        }
        witness?.endReplacing(facts, head)
    }
}
