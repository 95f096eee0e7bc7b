// SPDX-License-Identifier: Apache-2.0

package import RealmPlatform

/// Brings a copy of a file from version to version by the records of its commits.
///
/// The bytes of a record are written, synced, and only then selected, as in the commit itself: after a crash at any point the
/// copy has one version or the next. The copy itself states which; a `RecordChain` that was kept before may be behind it, and
/// records that the copy has already are then compared and passed over.
///
/// One thread uses it, and is the only writer of the copy.
package final class RecordApplier {
    /// The copy.
    private let data: DataFile
    /// The key of the realm; nil for one that is not encrypted.
    private let key: EncryptionKey?
    /// The place in the chain up to which records were seen.
    package private(set) var chain: RecordChain
    /// The number of the version that the copy has.
    package private(set) var version: UInt64
    /// Whether records may overwrite bytes that the version before uses: only for a copy without readers that is discarded if not
    /// finished.
    private let isUnshared: Bool

    /// Makes an applier.
    ///
    /// - Parameters:
    ///   - backend: The copy.
    ///   - chain: A place in the chain that the copy has reached, or has passed since.
    ///   - key: The key of the realm; nil for one that is not encrypted.
    ///   - isUnshared: Whether records are taken that overwrite what the version before uses.
    /// - Throws: `.corrupt` when the copy has an earlier version than that; `.refused` when the key does not fit.
    package init(
        _ backend: any StorageBackend, after chain: RecordChain, key: EncryptionKey? = nil, isUnshared: Bool = false
    ) throws(StorageError) {
        data = try DataFile(backend, key: key)
        self.chain = chain
        self.key = key
        self.isUnshared = isUnshared
        version = try RecordApplier.version(of: data)
        guard version >= chain.version else {
            throw .corrupt(ref: .none, reason: "the copy has version \(version), and should have \(chain.version) at least")
        }
    }

    /// Reads the number of the version of a copy.
    package static func version(of backend: any StorageBackend, key: EncryptionKey? = nil) throws(StorageError) -> UInt64 {
        try version(of: DataFile(backend, key: key))
    }

    /// Reads the number of the version of an open copy.
    private static func version(of data: DataFile) throws(StorageError) -> UInt64 {
        let plain = data.plain
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
        let record = try next.open(bytes, at: &end, key)
        let head = try data.plain.view(at: 0, byteCount: FileHeader.byteCount).array
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
        guard !data.isUncertain else { throw .refused(.writesStopped) }
        do throws(StorageError) {
            try data.extend(to: record.physicalSize)
            for extent in record.extents { try data.write(extent.bytes, at: extent.offset) }
            if !isUnshared { try data.sync() }
        } catch {
            data.forgetChanges()
            throw error
        }
        guard !isUnshared else { return try data.write([record.flip.new], at: CommitRecord.Flip.offset) }
        try data.publish(record.flip.new, insteadOf: record.flip.old, at: CommitRecord.Flip.offset)
    }

    /// Brings what was applied to an encrypted copy that is thrown away when it is not finished; before, nothing of it is in the file.
    /// A plain copy has everything already.
    package func finish() throws(StorageError) { if isUnshared, key != nil { try data.sync() } }
}
