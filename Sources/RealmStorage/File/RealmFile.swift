// SPDX-License-Identifier: Apache-2.0

package import RealmPlatform

/// An open file in the state of one version: its plain bytes and its header.
///
/// Opening maps the file and reads the header; nothing else is loaded. An encrypted file is
/// decrypted page by page, when a page is first read.
package final class RealmFile: Sendable {
    /// The path of the file; empty for a realm in memory.
    package let path: String
    /// The header as it was when this version was made.
    package let header: FileHeader
    /// The size of the raw file in bytes.
    package let fileByteCount: Int
    let plain: PlainBytes
    /// Notices changes of the file by other programs; nil for a file that is open for writing, whose store does that.
    package let witness: FileWitness?

    /// The size of the plain file: the physical size, less the page tables when it is encrypted.
    package var plainByteCount: Int { plain.byteCount }
    /// The pages of an encrypted file; nil for a plain one.
    var pages: LazyPlainPages? { plain.pages }
    package var isEncrypted: Bool { plain.pages != nil }

    /// Opens a file for reading.
    ///
    /// - Parameters:
    ///   - key: Its 64-byte key, if it is encrypted.
    ///   - isExact: Whether the path was resolved before, so that no symbolic link is followed.
    ///   - formats: The formats that the caller reads.
    /// - Throws: `.refused` when there is no such file, it is not a Realm file, or the key does not
    ///   fit; `.io` when it cannot be mapped.
    package init(
        path: String, key: EncryptionKey? = nil, isExact: Bool = false,
        accepting formats: [Int] = FileHeader.supportedFormats
    ) throws(StorageError) {
        let descriptor = try System.openRegular(path, isExact: isExact)
        defer { System.close(descriptor) }
        self.path = path
        fileByteCount = try System.regularFileSize(descriptor)
        let facts = try System.facts(descriptor)
        guard fileByteCount >= FileHeader.byteCount else {
            throw .refused(.notARealm("a file of \(fileByteCount) bytes is too small to be a Realm file"))
        }
        let mapping = try FileMapping(descriptor: descriptor, byteCount: fileByteCount)
        var pages: LazyPlainPages?
        if let key { pages = try LazyPlainPages(file: mapping, key: key) }
        plain = PlainBytes(mapping: mapping, pages: pages)
        witness = FileWitness(path: path, facts, MappedHead(mapping, isEncrypted: key != nil), mapping.loss)
        header = try plain.header(accepting: formats)
    }

    /// Throws `.refused(.fileChanged)` when a part of the file was missing when it was read, so
    /// that the values that were read may be wrong.
    package func requireWhole() throws(StorageError) {
        if let witness, witness.loss.isSet { throw FileWitness.lost }
    }

    /// Makes the file of one version; one that is open for writing has no witness.
    init(path: String, header: FileHeader, plain: PlainBytes, fileByteCount: Int, witness: FileWitness? = nil) {
        self.path = path
        self.header = header
        self.plain = plain
        self.fileByteCount = fileByteCount
        self.witness = witness
    }

    /// Returns the same file, which is only read, with decrypted pages of its own: what one pass gives back, another one keeps.
    package func withOwnPages() throws(StorageError) -> RealmFile {
        RealmFile(path: path, header: header, plain: try plain.withOwnPages(), fileByteCount: fileByteCount, witness: witness)
    }

    /// Returns the bytes up to `limit` as a space of nodes; it is valid while this file and `joinedValues` are alive.
    package func space(limit: UInt64, joinedValues: JoinedValues) -> NodeSpace {
        plain.space(limit: limit, joinedValues: joinedValues)
    }
}
