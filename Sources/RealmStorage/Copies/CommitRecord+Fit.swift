// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform

/// Whether a record belongs to a file as it is.
extension CommitRecord {
    /// The size in bytes that no file has: 256 TiB.
    private static let greatestFileByteCount = 1 << 48

    /// Throws `.corrupt` unless the record can be applied to a file.
    ///
    /// - Parameters:
    ///   - present: The number of the version that the file has.
    ///   - head: The first 24 bytes of the file.
    ///   - isUnshared: Whether what the present version uses may be overwritten.
    func requireFits(version present: UInt64, head: [UInt8], isUnshared: Bool = false) throws(StorageError) {
        guard previousVersion == present else {
            throw RecordReader.damaged("it follows version \(previousVersion), and the copy has \(present)")
        }
        guard !isWithoutBytes else { throw RecordReader.damaged("version \(version) is in a base only") }
        guard isUnshared || keepsPreviousVersion else {
            throw RecordReader.damaged("it would overwrite what version \(present) uses")
        }
        guard head[Flip.offset] == flip.old, flip.old ^ flip.new == 1, logicalSize <= physicalSize,
            physicalSize <= CommitRecord.greatestFileByteCount
        else {
            throw RecordReader.damaged("its header does not follow that of the copy")
        }
        for extent in extents { try requireInBounds(extent) }
    }

    /// Throws `.corrupt` for bytes outside of the file, and in the header unless they fill the slot that is to be selected.
    private func requireInBounds(_ extent: Extent) throws(StorageError) {
        let end = extent.offset.addingReportingOverflow(extent.bytes.count)
        guard extent.offset >= 0, !end.overflow, end.partialValue <= physicalSize else {
            throw RecordReader.damaged("it writes beyond the end of the file")
        }
        guard extent.offset < FileHeader.byteCount else { return }
        // The selected slot and the byte that selects it are never written to.
        let isSlot = extent.offset == 8 * flip.slot && extent.bytes == topRef.littleEndianBytes
        let isFormat = extent.offset == 20 + flip.slot && extent.bytes == [UInt8(FileHeader.writtenFormat)]
        guard isSlot || isFormat else { throw RecordReader.damaged("it writes to the header") }
    }
}
