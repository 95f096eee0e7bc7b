// SPDX-License-Identifier: Apache-2.0

/// Commits that another process has made, which are done again in a file that is being read.
extension Committer {
    /// Writes what a record has and selects its version, and returns when that is durable.
    ///
    /// The steps are those of a commit: bytes, sync, one bit, sync. The version is read before anything is final.
    ///
    /// - Parameters:
    ///   - record: The record of the next version.
    ///   - previous: The newest version.
    /// - Returns: The version of the record.
    /// - Throws: `.refused(.notWritable)` when the record would overwrite what is being read; `.corrupt` when it does not fit, or
    ///   its version cannot be read; what `commit` throws otherwise. The newest version is as it was then.
    func apply(_ record: CommitRecord, previous: Snapshot) throws(StorageError) -> Snapshot {
        guard !data.isUncertain else { throw .refused(.writesStopped) }
        let head = try data.plain.view(at: 0, byteCount: FileHeader.byteCount).array
        try record.requireFits(version: state.version, head: head)
        if let oldest = pins.oldest, record.horizon >= oldest {
            throw .refused(.notWritable("version \(oldest) is still being read"))
        }
        try witness?.beginWriting()
        let snapshot: Snapshot
        do throws(StorageError) {
            snapshot = try select(record, previous)
        } catch {
            try? witness?.abandonWriting(byteCount: data.backend.byteCount, data.mappedHead())
            throw error
        }
        try witness?.endWriting(byteCount: data.backend.byteCount, bytes: data.head, data.mappedHead())
        return snapshot
    }

    /// Writes what a record has, and selects its version.
    private func select(_ record: CommitRecord, _ previous: Snapshot) throws(StorageError) -> Snapshot {
        let header = FileHeader(selectedSlot: record.flip.slot, topRef: record.topRef)
        let snapshot: Snapshot
        do throws(StorageError) {
            try data.extend(to: record.physicalSize)
            for extent in record.extents { try data.write(extent.bytes, at: extent.offset) }
            snapshot = try makeSnapshot(header, previous, version: record.version)
            guard snapshot.version == record.version else {
                throw RecordReader.damaged("its top node has version \(snapshot.version), and it makes \(record.version)")
            }
            try data.sync()
            // The next byte must not go into another program's file.
            try witness?.requireOwn(byteCount: data.backend.byteCount, bytes: data.head, data.mappedHead())
        } catch {
            data.forgetChanges()
            throw error
        }
        try data.publish(record.flip.new, insteadOf: record.flip.old, at: Committer.flagsOffset)
        state = State(header: header, flags: record.flip.new, top: snapshot.top, free: nil)
        return snapshot
    }
}
