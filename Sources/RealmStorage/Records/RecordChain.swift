// SPDX-License-Identifier: Apache-2.0

package import RealmPlatform

/// A place in a chain of records: after a base, or after one of the records that follow it.
///
/// Each record is sealed with a checksum over the one before and its own bytes, so a record fits only where it belongs. One
/// that is damaged, missing, repeated or in another order, and one of another history, is not opened.
///
/// A sealed record is `RRCR`, the number of the format, the length of the rest in eight bytes, the name of the realm and that
/// of the chain with their lengths, the checksum before, the record, and the SHA-256 of all that.
///
/// The record of an encrypted realm is encrypted, after its version in eight bytes. The checksums are those of what is stored, so they
/// say nothing of what is in it, and everything before the record is authenticated with it.
package struct RecordChain: Sendable, Equatable {
    package let realm: String
    /// The name of the chain, which no other chain of the realm has.
    package let epoch: String
    /// The number of the version at this place.
    package private(set) var version: UInt64
    /// The checksum of everything up to this place.
    package private(set) var checksum: [UInt8]

    /// The numbers of the formats of sealed records.
    private enum Format {
        static let plain: UInt8 = 1
        static let encrypted: UInt8 = 2
    }
    /// The first bytes of every sealed record.
    private static let magic = Array("RRCR".utf8)
    /// The number of bytes before those that the length counts.
    private static let headByteCount = 13

    /// Begins a chain.
    ///
    /// - Throws: `.io` when the crypto library fails.
    package init(realm: String, epoch: String, base version: UInt64) throws(StorageError) {
        var writer = RecordWriter(reserving: 64)
        for text in [realm, epoch] { writer.text(text) }
        writer.long(version)
        self.init(realm: realm, epoch: epoch, version: version, checksum: try DigestContext.digest(of: writer.bytes))
    }

    /// Makes a place that was kept before.
    package init(realm: String, epoch: String, version: UInt64, checksum: [UInt8]) {
        self.realm = realm
        self.epoch = epoch
        self.version = version
        self.checksum = checksum
    }

    /// Seals the record that follows, and moves to the place after it.
    ///
    /// - Parameters:
    ///   - key: The key of the realm, with which the record is encrypted; nil for a realm that is not encrypted.
    /// - Returns: The bytes.
    /// - Throws: `.io` when the crypto library fails.
    package mutating func seal(_ record: CommitRecord, _ key: EncryptionKey? = nil) throws(StorageError) -> [UInt8] {
        precondition(record.previousVersion == version, "the record does not follow version \(version)")
        var body = RecordWriter(reserving: record.byteCount + 16 * record.extents.count + 256)
        body.text(realm)
        body.text(epoch)
        body.raw(checksum)
        if let key {
            body.long(record.version)
            var plain = RecordWriter(reserving: record.byteCount + 16 * record.extents.count + 256)
            record.write(to: &plain)
            body.raw(try RecordCipher.seal(plain.bytes, after: body.bytes, key))
        } else {
            record.write(to: &body)
        }
        var sealed = RecordWriter(reserving: body.bytes.count + RecordChain.headByteCount + checksum.count)
        sealed.raw(RecordChain.magic)
        sealed.byte(key == nil ? Format.plain : Format.encrypted)
        sealed.long(UInt64(body.bytes.count + DigestContext.digestByteCount))
        sealed.raw(body.bytes)
        let digest = try DigestContext.digest(of: sealed.bytes)
        sealed.raw(digest)
        (version, checksum) = (record.version, digest)
        return sealed.bytes
    }

    /// Opens the next record of a sequence of sealed ones, and moves to the place after it.
    ///
    /// - Parameters:
    ///   - bytes: The sequence.
    ///   - position: Where the record begins; that of the next one afterwards.
    ///   - key: The key of the realm; nil for a realm that is not encrypted.
    /// - Throws: `.corrupt` for a record that is damaged, or does not belong here; `.refused(.encryptionKeyRequired)` or
    ///   `.refused(.encryptionKeyWrong)` for a sound one that is not encrypted as the key says. Nothing has changed then.
    package mutating func open(
        _ bytes: [UInt8], at position: inout Int, _ key: EncryptionKey? = nil
    ) throws(StorageError) -> CommitRecord {
        guard bytes.indices.contains(position) else { throw RecordReader.cut }
        var reader = RecordReader(bytes[position...])
        guard try reader.raw(4).elementsEqual(RecordChain.magic) else { throw RecordReader.damaged("it does not begin as one") }
        let format = try reader.byte()
        guard RecordChain.isKnown(format) else { throw RecordReader.damaged("format \(format) is unknown") }
        let count = try reader.size()
        guard count >= DigestContext.digestByteCount, count <= reader.rest else { throw RecordReader.cut }
        let end = reader.position + count
        let bodyEnd = end - DigestContext.digestByteCount
        let digest = try DigestContext.digest(of: Array(bytes[position..<bodyEnd]))
        guard bytes[bodyEnd..<end].elementsEqual(digest) else { throw RecordReader.damaged("its checksum is wrong") }
        var body = RecordReader(bytes[reader.position..<bodyEnd])
        guard try body.text() == realm, try body.text() == epoch else {
            throw RecordReader.damaged("it belongs to another chain")
        }
        guard try body.raw(checksum.count).elementsEqual(checksum) else {
            throw RecordReader.damaged("it does not follow the one before, with version \(version)")
        }
        let record = try RecordChain.record(in: &body, of: bytes[reader.position..<bodyEnd], format, key)
        guard record.previousVersion == version, record.version > version else {
            throw RecordReader.damaged("it does not follow version \(version)")
        }
        position = end
        (version, checksum) = (record.version, digest)
        return record
    }

    /// Whether sealed records of a format are read.
    private static func isKnown(_ format: UInt8) -> Bool { format == Format.plain || format == Format.encrypted }

    /// Reads the record itself.
    ///
    /// - Parameters:
    ///   - body: The bytes after the checksum of the record before.
    ///   - bytes: All that the digest covers but for the beginning.
    ///   - key: The key of the realm.
    private static func record(
        in body: inout RecordReader, of bytes: ArraySlice<UInt8>, _ format: UInt8, _ key: EncryptionKey?
    ) throws(StorageError) -> CommitRecord {
        switch (format == Format.encrypted, key) {
        case (false, nil): return try whole(&body)
        case (false, _?):
            throw .refused(.encryptionKeyWrong("a key is given for the realm, and the records of its log are not encrypted"))
        case (true, nil): throw .refused(.encryptionKeyRequired("the records of the log are encrypted"))
        case (true, let key?):
            let version = try body.long()
            let header = Array(bytes.dropLast(body.rest))
            var plain = RecordReader(try RecordCipher.open(try body.raw(body.rest), after: header, key)[...])
            let record = try whole(&plain)
            guard record.version == version else { throw RecordReader.damaged("it does not make version \(version)") }
            return record
        }
    }

    /// Reads a record that nothing follows.
    private static func whole(_ reader: inout RecordReader) throws(StorageError) -> CommitRecord {
        let record = try CommitRecord(from: &reader)
        guard reader.rest == 0 else { throw RecordReader.damaged("something follows it") }
        return record
    }

    /// Returns the version of a sealed record without opening it, for a sequence of which a part was opened before; nil when the
    /// bytes are none.
    ///
    /// - Parameters:
    ///   - bytes: The sequence.
    ///   - position: Where the record begins.
    /// - Returns: The version, and where the next record begins.
    package static func peek(_ bytes: [UInt8], at position: Int) -> (version: UInt64, end: Int)? {
        guard bytes.indices.contains(position) else { return nil }
        var reader = RecordReader(bytes[position...])
        do throws(StorageError) {
            guard try reader.raw(4).elementsEqual(magic), isKnown(try reader.byte()) else { return nil }
            let count = try reader.size()
            guard count <= reader.rest else { return nil }
            let end = reader.position + count
            for _ in 0..<2 { _ = try reader.text() }
            _ = try reader.raw(DigestContext.digestByteCount)
            return (try reader.long(), end)
        } catch {
            return nil
        }
    }
}
