// SPDX-License-Identifier: Apache-2.0

/// Brings a copy of a file from version to version by the records of its commits.
///
/// What a record has is written, synced, and only then selected, as the commit itself was: after a crash at any point the copy
/// has one version or the next. The copy itself states which; a `RecordChain` that was kept before may be behind it, and records
/// that the copy has already are then compared and passed over.
///
/// One thread uses it, and nobody else writes to the copy.
package final class RecordApplier {
    /// The copy.
    private let backend: any StorageBackend
    /// The place in the chain up to which records were seen.
    package private(set) var chain: RecordChain
    /// The number of the version that the copy has.
    package private(set) var version: UInt64
    /// Whether records are taken that overwrite what the version before uses: only when nobody reads the copy, and a copy that
    /// was not finished is thrown away.
    private let isUnshared: Bool

    /// Makes an applier.
    ///
    /// - Parameters:
    ///   - backend: The copy, which is not encrypted.
    ///   - chain: A place in the chain that the copy has reached, or has passed since.
    ///   - isUnshared: Whether records are taken that overwrite what the version before uses.
    /// - Throws: `.corrupt` when the copy has an earlier version than that.
    package init(_ backend: any StorageBackend, after chain: RecordChain, isUnshared: Bool = false) throws(StorageError) {
        self.backend = backend
        self.chain = chain
        self.isUnshared = isUnshared
        version = try RecordApplier.version(of: backend)
        guard version >= chain.version else {
            throw .corrupt(ref: .none, reason: "the copy has version \(version), and should have \(chain.version) at least")
        }
    }

    /// Reads the number of the version of a copy.
    package static func version(of backend: any StorageBackend) throws(StorageError) -> UInt64 {
        let plain = try DataFile(backend).plain
        let header = try plain.header()
        guard !header.isStreaming else { throw .corrupt(ref: .none, reason: "the copy is in streaming form") }
        let joinedValues = JoinedValues()
        return try withExtendedLifetime(joinedValues) { () throws(StorageError) -> UInt64 in
            let space = plain.space(limit: UInt64(plain.byteCount), joinedValues: joinedValues)
            return max(try TopNode.read(header.topRef, space).version, 1)
        }
    }

    /// Applies the next record of a sequence, and returns when its version is durable, unless the copy is thrown away when it is not
    /// finished.
    ///
    /// - Parameters:
    ///   - bytes: Sealed records, one after another.
    ///   - position: Where the record begins; that of the next one afterwards.
    /// - Returns: The record.
    /// - Throws: `.corrupt` for a record that is damaged, does not belong here, or cannot be applied; nothing was written then.
    ///   `.io` when the disk refuses.
    @discardableResult
    package func apply(_ bytes: [UInt8], at position: inout Int) throws(StorageError) -> CommitRecord {
        var next = chain
        var end = position
        let record = try next.open(bytes, at: &end)
        let head = try backend.memory().view(at: 0, byteCount: FileHeader.byteCount).array
        if record.version > version {
            try record.requireFits(version: version, head: head, isUnshared: isUnshared)
            try write(record)
            version = record.version
        } else if record.version == version {
            try requireSelected(record, head)
        }
        (chain, position) = (next, end)
        return record
    }

    /// Throws `.corrupt` unless the copy has the version of a record, which it is said to have.
    private func requireSelected(_ record: CommitRecord, _ head: [UInt8]) throws(StorageError) {
        let start = 8 * record.flip.slot
        guard head[CommitRecord.Flip.offset] == record.flip.new,
            Array(head[start..<start + 8]) == record.topRef.littleEndianBytes
        else { throw RecordReader.damaged("the copy has another version \(record.version)") }
    }

    /// Writes what a record has, and selects its version.
    private func write(_ record: CommitRecord) throws(StorageError) {
        let isGrowing = record.physicalSize > backend.byteCount
        try backend.extend(to: record.physicalSize)
        for extent in record.extents { try write(extent.bytes, at: extent.offset) }
        try sync(isGrowing ? .full : .data)
        try write([record.flip.new], at: CommitRecord.Flip.offset)
        try sync(.data)
    }

    /// Syncs a copy that somebody needs when it is not finished.
    private func sync(_ scope: SyncScope) throws(StorageError) {
        if !isUnshared { try backend.sync(scope) }
    }

    /// Writes the bytes of an array.
    private func write(_ bytes: [UInt8], at offset: Int) throws(StorageError) {
        try ByteView.withBytes(of: bytes) { view throws(StorageError) in try backend.write(view, at: offset) }
    }
}
