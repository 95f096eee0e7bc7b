// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform

/// Commits that another process has made, which are done again in a file that is being read.
extension Committer {
    /// Writes what a record has, and makes its version the newest one. `selectNewest` makes it that of the file, too, after any number
    /// of records: with one sync, before the header is written. Until then a crash leaves an earlier version, which is behind the log.
    ///
    /// - Parameters:
    ///   - record: The record of the next version.
    ///   - previous: The newest version.
    /// - Returns: The version of the record.
    /// - Throws: `.refused(.notWritable)` when the record would overwrite what is being read; `.corrupt` when it does not fit, or
    ///   its version cannot be read; what `commit` throws otherwise. The newest version is as it was then.
    func apply(_ record: CommitRecord, previous: Snapshot) throws(StorageError) -> Snapshot {
        guard !data.isUncertain else { throw .refused(.writesStopped) }
        var head = try data.plain.view(at: 0, byteCount: FileHeader.byteCount).array
        head[Committer.flagsOffset] = state.flags
        try record.requireFits(version: state.version, head: head)
        former.drop(upTo: record.horizon)
        if let oldest = pins.oldest, record.horizon >= oldest {
            throw .refused(.notWritable("version \(oldest) is still being read"))
        }
        try witness?.beginWriting()
        let snapshot: Snapshot
        do throws(StorageError) {
            snapshot = try write(record, previous)
        } catch {
            try? witness?.abandonWriting(byteCount: data.backend.byteCount, data.mappedHead())
            throw error
        }
        try witness?.endWriting(byteCount: data.backend.byteCount, bytes: data.head, data.mappedHead())
        return snapshot
    }

    /// Writes what a record has but for the header, and makes its version the newest one.
    private func write(_ record: CommitRecord, _ previous: Snapshot) throws(StorageError) -> Snapshot {
        let header = FileHeader(selectedSlot: record.flip.slot, topRef: record.topRef)
        // Which pages are unused is known to commits only.
        data.setDisposable { _ in false }
        // The version that survives a crash must be later than the versions that the record overwrites.
        if record.horizon >= durableVersion { try settle() }
        // After a failure from here on, the written bytes lie where no version reads. The pages of an encrypted file stay marked
        // as changed, because those that earlier records have changed are among them.
        try data.extend(to: record.physicalSize)
        for extent in record.extents where extent.offset >= FileHeader.byteCount {
            try data.write(extent.bytes, at: extent.offset)
        }
        let snapshot = try makeSnapshot(header, previous, version: record.version)
        guard snapshot.version == record.version else {
            throw RecordReader.damaged("its top node has version \(snapshot.version), and it makes \(record.version)")
        }
        former.add(state.top, byteCount: 0, snapshot.file)
        state = State(header: header, flags: record.flip.new, top: snapshot.top, free: nil)
        return snapshot
    }

    /// Makes the newest version that of the file, after records were applied.
    func finishApplying() throws(StorageError) {
        guard selectedVersion < state.version else { return }
        guard !data.isUncertain else { throw .refused(.writesStopped) }
        try witness?.beginWriting()
        do throws(StorageError) {
            // The header must not go into another program's file.
            try witness?.requireOwn(byteCount: data.backend.byteCount, bytes: data.head, data.mappedHead())
            try selectNewest()
        } catch {
            try? witness?.abandonWriting(byteCount: data.backend.byteCount, data.mappedHead())
            throw error
        }
        try witness?.endWriting(byteCount: data.backend.byteCount, bytes: data.head, data.mappedHead())
    }
}
