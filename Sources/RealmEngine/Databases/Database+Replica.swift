// SPDX-License-Identifier: Apache-2.0

package import RealmPlatform
package import RealmStorage

/// A realm that applies the commits of another node as records. It is the same object before and after this node becomes the
/// writer, so readers and observers do not notice.
extension Database {
    /// The node that writes the realm, while this one only follows; nil when this one writes. The name is empty while the realm
    /// has no writer.
    package var writerElsewhere: String? { replicationStatus.isFollowed ? writingNode.withLock { $0 } : nil }

    /// Records which node writes the realm.
    ///
    /// - Parameter node: Its name; empty without a writer.
    package func noteWriter(_ node: String) { writingNode.withLock { if $0 != nil { $0 = node } } }

    /// Ends the writes of this node: those that wait are carried out, later ones are refused with `.notOwner`. Records are
    /// taken over from then on. Blocks meanwhile.
    ///
    /// - Parameter node: The node that writes the realm from now on; empty when that is not known yet.
    /// - Returns: Whether records can be applied to the file. Otherwise another file has to take its place first.
    /// - Throws: `.refused(.notWritable)` for a realm that is not a file open for writing.
    package func stopWriting(for node: String) throws(StorageError) -> Bool {
        guard let store, mode == .readWrite else { throw .refused(.notWritable("the realm is not open for writing")) }
        writingNode.withLock { $0 = node }
        replicationStatus.note(isFollowed: true)
        closeWriter()
        try store.setLog(nil)
        keptVersions.withLock { $0 }?.stop()
        return store.forgetBehind()
    }

    /// Begins the writes of this node, which follow the newest version.
    ///
    /// - Parameter log: Keeps the record of every commit.
    package func beginWriting(in log: any CommitLog) throws(StorageError) {
        guard let store, writerElsewhere != nil else { throw .refused(.notWritable("the realm is written here already")) }
        try store.setLog(log)
        writingNode.withLock { $0 = nil }
        replicationStatus.note(isFollowed: false)
        startWriter()
    }

    /// Applies the record of the next version, makes that the newest one, and publishes it as the writer has done.
    ///
    /// One thread at a time may call it. The file has the version when `finishTaking` was called, or records were taken that need room.
    ///
    /// - Parameters:
    ///   - mark: The action after observers were notified.
    /// - Throws: The errors of `FileStore.apply`; nothing has changed then, unless the file takes no more records.
    package func take(_ record: CommitRecord, mark: CommitMark? = nil) throws(StorageError) {
        guard let store, writerElsewhere != nil else { throw .refused(.notWritable("the realm is written here")) }
        let changes = shown(record.notes.changes)
        let snapshot = try store.apply(record)
        advance(to: snapshot, epoch, record.hasNotes ? changes : nil, mark)
    }

    /// Brings the file to the version of the last record that was taken.
    ///
    /// - Throws: The errors of `FileStore.finishApplying`.
    package func finishTaking() throws(StorageError) { try store?.finishApplying() }

    /// Makes a version of the file the newest one, and publishes it; changes that are not known are found by observers.
    private func advance(to snapshot: Snapshot, _ epoch: Epoch, _ changes: [ObjectChange]?, _ mark: CommitMark?) {
        let version = Version(shown(snapshot), VersionToken(epoch: epoch, version: snapshot.version))
        let previous = newest.withLock { newest in
            defer { newest = version }
            return newest
        }
        var commit = Commit(previous: previous, version: version, changes: changes ?? [], mark: mark)
        commit.hasUnknownChanges = changes == nil
        commits.publish(commit)
    }

    /// Moves the realm to a fresh file, because the next record would overwrite versions that are being read. Their readers
    /// continue with the former file, which disappears with the last of them.
    package func renewFile() throws(StorageError) {
        guard let store, writerElsewhere != nil else { throw .refused(.notWritable("the realm is written here")) }
        _ = use(try store.renew(), nil)
    }

    /// Makes another file the one of the realm, because records do not lead there.
    ///
    /// A later version is published like a commit of which observers find out the changes, under a new epoch if its history is
    /// another one. The same version is only read from another file from now on.
    ///
    /// - Parameters:
    ///   - file: A complete file, with the key of the realm.
    ///   - version: The number of the version that it has, which is not lower than the present one.
    package func adopt(_ file: NewFile, version: UInt64, epoch: Epoch) throws(StorageError) {
        guard let store, writerElsewhere != nil else { throw .refused(.notWritable("the realm is written here")) }
        let present = current.token
        guard version > present.version || version == present.version && epoch == self.epoch else {
            throw .refused(.fileChanged("the log has gone back to version \(version)"))
        }
        let snapshot = try store.adopt(file)
        guard snapshot.version > present.version else {
            _ = use(snapshot, nil)
            return
        }
        epochInForce.withLock { $0 = epoch }
        advance(to: snapshot, epoch, nil, nil)
    }

    /// The number of former files of the realm that are still being read.
    package var formerFileCount: Int { store?.formerFileCount ?? 0 }

    // MARK: - The writer's side

    /// Keeps versions for some time after newer ones took their place, for readers on other nodes, from the next commit on.
    ///
    /// - Parameters:
    ///   - seconds: The retention; 0 keeps none.
    ///   - maximumCommits: The maximum number of commits that the oldest may lag behind. Every record lists the space they use:
    ///     128 make one of 10 KB a fifth longer, 1000 twice as long.
    package func keepVersions(seconds: Double, maximumCommits: Int = 128) {
        let kept = seconds > 0 ? KeptVersions(seconds: seconds, maximumCommits: maximumCommits) : nil
        let before = keptVersions.withLock { versions in
            defer { versions = kept }
            return versions
        }
        before?.stop()
    }

    /// The number of versions kept for readers on other nodes.
    package var keptVersionCount: Int { keptVersions.withLock { $0 }?.count ?? 0 }
}

extension Database {
    /// Sets the log that keeps the record of every commit from here on. The opener of the realm calls it before anything else can
    /// write.
    ///
    /// - Throws: `.refused(.unsuitable)` for a file whose commits have no records, `.refused(.notWritable)` for a realm that
    ///   is not written to.
    package func keepRecords(in log: any CommitLog) throws(StorageError) {
        guard let store, mode == .readWrite, writerElsewhere == nil else {
            throw .refused(.notWritable("the realm is not open for writing"))
        }
        try store.setLog(log)
    }

    /// The oldest version of the file with readers, also after the realm was closed; nil without readers.
    package var oldestLiveVersion: UInt64? { store?.oldestLiveVersion }

    /// The pinned versions of the file, also available after the realm was closed and released; nil for a realm that is not
    /// written to. While the realm is referenced, its newest version is among them.
    package var livePins: VersionPins? { store?.livePins }
}
