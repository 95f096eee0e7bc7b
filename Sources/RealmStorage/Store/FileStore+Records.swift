// SPDX-License-Identifier: Apache-2.0

package import RealmPlatform

/// A file that is brought from version to version by the records of another process, while it is read.
extension FileStore {
    /// Applies the next record, and makes its version the newest one for readers of this store. That of the file it becomes by
    /// `finishApplying`, with the versions of any number of records.
    ///
    /// - Returns: The version that it makes.
    /// - Throws: `.refused(.notWritable)` while anything else is written or a version is read that the record would overwrite;
    ///   `.corrupt` when it does not fit; `.io` when the disk refuses.
    @discardableResult
    package func apply(_ record: CommitRecord) throws(StorageError) -> Snapshot {
        guard log == nil else { throw .refused(.notWritable("the commits of the file are made here")) }
        try takeTurn()
        defer { endTurn() }
        let snapshot = try openFile.committer.apply(record, previous: current)
        publish(snapshot)
        return snapshot
    }

    /// Makes the newest version that of the file, after records were applied.
    ///
    /// - Throws: `.refused(.notWritable)` while anything is written; `.io` when the disk refuses. It may be tried again unless the
    ///   store accepts no writes any more.
    package func finishApplying() throws(StorageError) {
        try takeTurn()
        defer { endTurn() }
        try openFile.committer.finishApplying()
    }

    /// Moves the realm to a fresh file, free of pinned versions, with nodes at the same offsets, so that later records still
    /// apply. Older versions are read from the former file until the last of their readers ends.
    ///
    /// - Returns: The same version in the new file.
    package func renew() throws(StorageError) -> Snapshot {
        let file = try NewFile(nextTo: path.isEmpty ? System.temporaryFolder + "/realm" : path)
        try BaseCopy.write(current, to: file.backend(), key: openFile.committer.data.key)
        return try adopt(file)
    }

    /// Makes another file the one in use, and gives it the name of the former one.
    ///
    /// - Parameter file: A complete file that no other process can reach, with the key of the former one. It may have any version.
    /// - Returns: The version that it has, which is the newest one from then on.
    /// - Throws: `.refused(.notWritable)` while anything is written; `.corrupt` when the file cannot be read. Nothing has changed
    ///   then.
    package func adopt(_ file: NewFile) throws(StorageError) -> Snapshot {
        try takeTurn()
        defer { endTurn() }
        let old = openFile.committer.data
        let loss = (old.backend as? FileBackend)?.loss
        if !path.isEmpty { System.copyPermissions(of: path, to: file.descriptor) }
        let (data, _) = try FirstOpening.open(file.backend(loss: loss), key: old.key)
        let pins = VersionPins()
        let opened = RealmFile(
            path: path, header: try data.plain.header(), plain: data.plain, fileByteCount: data.backend.byteCount)
        let snapshot = try Snapshot(
            file: opened, clusterShift: options.clusterShift, previous: nil, pin: pins.pin(try Snapshot.version(of: opened)))
        let committer = try Committer(data, snapshot, pins: pins, witness: witness, retention: options.retention)
        try takeName(file, old, data)
        use(committer, pins, snapshot)
        try syncName(of: data)
        return snapshot
    }

    /// Notes that the file is going to be brought up to its log from where it is, although the log may have what it has not.
    ///
    /// - Returns: Whether that is possible. Otherwise another file has to take its place first.
    package func forgetBehind() -> Bool { openFile.committer.data.forgetBehind() }
}
