// SPDX-License-Identifier: Apache-2.0

package import RealmPlatform

/// Copies of a version in which every node lies where it lies in the file, so that the records of later commits fit them.
///
/// Bytes that the version does not use are zero in the copy. Another copy of the same version, such as `SnapshotCopy` makes, is
/// shorter, but records do not fit it.
package enum BaseCopy {
    /// The number of bytes copied with one write.
    private static let pieceByteCount = 1 << 20

    /// Copies a version to an empty backend, and returns when the copy is durable.
    ///
    /// - Parameters:
    ///   - snapshot: The version, which is kept meanwhile.
    ///   - key: The key of an encrypted file, which is that of the copy, too; nil for a plain file.
    ///   - control: Can cancel the copy.
    /// - Throws: `.refused(.unsuitable)` for an encrypted file without a key; `.io` when the disk refuses.
    package static func write(
        _ snapshot: Snapshot, to backend: any StorageBackend, key: EncryptionKey? = nil, _ control: WorkControl? = nil
    ) throws(StorageError) {
        let file = snapshot.file
        if key == nil { try requireShippable(file) }
        let head = try header(of: file)
        let used = try usedRanges(of: snapshot)
        let end = max(used.last?.upperBound ?? 0, Int(clamping: snapshot.top.logicalSize), FileHeader.byteCount)
        let data = try makeFile(backend, byteCount: ReservedMemory.wholePages(end), key)
        try data.write(head, at: 0)
        for range in used {
            var start = range.lowerBound
            while start < range.upperBound {
                try control?.check()
                let count = min(pieceByteCount, range.upperBound - start)
                let bytes = try file.plain.view(at: start, byteCount: count)
                guard bytes.count == count else { throw .io(operation: "read", errno: 5) }
                try data.write(bytes, at: start)
                start += count
            }
        }
        try file.requireWhole()
        if key == nil { try backend.sync(.full) } else { try data.sync() }
    }

    /// Makes the file of a copy, in which everything is zero. The pages of an encrypted one are going to be encrypted with
    /// vectors that those of other copies do not have, so that comparing copies does not reveal which bytes have changed.
    private static func makeFile(
        _ backend: any StorageBackend, byteCount: Int, _ key: EncryptionKey?
    ) throws(StorageError) -> DataFile {
        guard let key else {
            try backend.extend(to: byteCount)
            return try DataFile(backend)
        }
        try EmptyFile.write(backend, key)
        var generator = SystemRandomNumberGenerator()
        let data = try DataFile(backend, key: key, skippingCounters: UInt32.random(in: 1...(.max / 2), using: &generator))
        try data.extend(to: byteCount)
        return data
    }

    /// Throws `.refused(.unsuitable)` for a file whose commits have no records that others could apply.
    package static func requireShippable(_ file: RealmFile) throws(StorageError) {
        guard !file.isEncrypted else {
            throw .refused(.unsuitable("the file is encrypted; commits of encrypted files are not shipped"))
        }
    }

    /// Returns the header of a version. The slot that is not selected belongs to no version, and is empty.
    private static func header(of file: RealmFile) throws(StorageError) -> [UInt8] {
        let present = try file.plain.view(at: 0, byteCount: FileHeader.byteCount).array
        var head = [UInt8](repeating: 0, count: FileHeader.byteCount)
        head.replaceSubrange(16..<20, with: FileHeader.signature)
        // A file in streaming form has its version in slot 1 from its first opening for writing on.
        let slot = file.header.isStreaming ? 1 : file.header.selectedSlot
        head.replaceSubrange(8 * slot..<8 * slot + 8, with: file.header.topRef.littleEndianBytes)
        head[20 + slot] = UInt8(file.header.fileFormat)
        head[22] = present[22]
        // A later commit may have flipped the lowest bit already.
        head[CommitRecord.Flip.offset] = present[CommitRecord.Flip.offset] & ~1 | UInt8(slot)
        return head
    }

    /// Returns the bytes that a version uses, in ascending order, without the header.
    package static func usedRanges(of snapshot: Snapshot) throws(StorageError) -> [Range<Int>] {
        guard !snapshot.top.ref.isNone else { return [] }
        let free = try FreeSpace(snapshot.top, snapshot.space)
        var ranges: [Range<Int>] = []
        var start = FileHeader.byteCount
        for block in FreeSpace.merged(free.usable, free.locked.map(\.block)) {
            if block.position > start { ranges.append(start..<block.position) }
            start = max(start, block.end)
        }
        if free.logicalSize > start { ranges.append(start..<free.logicalSize) }
        return ranges
    }
}
