// SPDX-License-Identifier: Apache-2.0

package import RealmPlatform

/// Makes one record of what two states of a file differ in, where the commits in between were not recorded.
package enum RecordDifference {
    /// The number of bytes compared at a time; a piece that differs is in the record as a whole.
    private static let pieceByteCount = 64

    /// Returns the record that leads from one version to a later one.
    ///
    /// - Parameters:
    ///   - later: The later version.
    ///   - earlier: The file with the earlier version, in which nodes lie where they lay in the file.
    ///   - time: When the later version was read, in nanoseconds since 1970-01-01 UTC.
    ///   - limit: The greatest number of bytes of the record.
    /// - Returns: The record; nil when it would have more bytes than that, or when the two states have no such relation.
    /// - Throws: `StorageError` when a file cannot be read.
    package static func record(
        to later: Snapshot, from earlier: Snapshot, time: Int64, limit: Int
    ) throws(StorageError) -> CommitRecord? {
        guard later.version > earlier.version, !later.top.ref.isNone, !earlier.file.isEncrypted,
            later.fileFormat == FileHeader.writtenFormat
        else { return nil }
        try BaseCopy.requireShippable(later.file)
        // The selected slot has to be the other one, so that a copy can be cut off at any moment.
        let flags = try earlier.file.plain.view(at: 0, byteCount: FileHeader.byteCount)[CommitRecord.Flip.offset]
        let slot = 1 - earlier.file.header.selectedSlot
        var extents: [CommitRecord.Extent] = []
        var count = 0
        for range in try BaseCopy.usedRanges(of: later) {
            try addDifferences(in: range, later.file, earlier.file, to: &extents)
            count = extents.reduce(0) { $0 + $1.bytes.count }
            guard count <= limit else { return nil }
        }
        extents.append(CommitRecord.Extent(offset: 8 * slot, bytes: later.top.ref.littleEndianBytes))
        extents.append(CommitRecord.Extent(offset: 20 + slot, bytes: [UInt8(later.file.header.fileFormat)]))
        let logicalSize = Int(clamping: later.top.logicalSize)
        return CommitRecord(
            version: later.version, previousVersion: earlier.version, time: time, horizon: later.version - 1,
            logicalSize: logicalSize,
            physicalSize: max(ReservedMemory.wholePages(logicalSize), earlier.file.fileByteCount), topRef: later.top.ref,
            flip: CommitRecord.Flip(old: flags, new: flags & ~1 | UInt8(slot)), extents: extents, notes: nil)
    }

    /// Adds the pieces of a range that differ, joined where they follow each other.
    private static func addDifferences(
        in range: Range<Int>, _ later: RealmFile, _ earlier: RealmFile, to extents: inout [CommitRecord.Extent]
    ) throws(StorageError) {
        var pending: Range<Int>?
        var start = range.lowerBound
        while start < range.upperBound {
            let end = min(start + pieceByteCount, range.upperBound)
            let isEqual =
                try later.plain.view(at: start, byteCount: end - start)
                == earlier.plain.view(at: start, byteCount: end - start)
            if isEqual {
                if let pending { extents.append(try extent(pending, of: later)) }
                pending = nil
            } else {
                pending = (pending?.lowerBound ?? start)..<end
            }
            start = end
        }
        if let pending { extents.append(try extent(pending, of: later)) }
    }

    /// Returns the bytes of a range of a file.
    private static func extent(_ range: Range<Int>, of file: RealmFile) throws(StorageError) -> CommitRecord.Extent {
        CommitRecord.Extent(
            offset: range.lowerBound, bytes: try file.plain.view(at: range.lowerBound, byteCount: range.count).array)
    }

    /// Returns whether two files have the same bytes wherever a version uses any.
    ///
    /// - Parameters:
    ///   - snapshot: The version.
    ///   - other: The other file, with the same version.
    package static func isEqual(_ snapshot: Snapshot, _ other: Snapshot) throws(StorageError) -> Bool {
        guard snapshot.version == other.version, snapshot.top.ref == other.top.ref else { return false }
        for range in try BaseCopy.usedRanges(of: snapshot) {
            let bytes = try snapshot.file.plain.view(at: range.lowerBound, byteCount: range.count)
            guard try bytes == other.file.plain.view(at: range.lowerBound, byteCount: range.count) else { return false }
        }
        return true
    }
}
