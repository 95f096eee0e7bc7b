// SPDX-License-Identifier: Apache-2.0

/// An open file as one version sees it: its plain bytes, and what its header says.
///
/// Opening maps the file and reads header and top node; nothing else is loaded. An encrypted file is decrypted
/// page by page on first touch.
package final class RealmFile: Sendable {
    /// Empty for a realm in memory.
    package let path: String
    /// What the header says.
    package let header: FileHeader
    /// Whether the file is encrypted.
    package let isEncrypted: Bool
    /// The physical size in bytes.
    package let fileByteCount: Int
    /// The plain bytes.
    let plain: PlainBytes
    /// Notices when the file is no longer what was opened; nil where the file is open for writing, whose store does.
    package let witness: FileWitness?

    /// The size of the plain file: the physical size, less the page tables when it is encrypted.
    package var plainByteCount: Int { plain.byteCount }
    /// The pages of an encrypted file; nil for a plain one.
    var pages: LazyPlainPages? { plain.pages }

    /// Opens `path` for reading, with the 64-byte `key` if it is encrypted.
    ///
    /// In an `isExact` path no link is followed.
    package init(path: String, key: EncryptionKey? = nil, isExact: Bool = false) throws(StorageError) {
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
        isEncrypted = key != nil
        witness = FileWitness(path: path, facts, MappedHead(mapping, isEncrypted: key != nil), mapping.loss)
        header = try plain.header()
    }

    /// Throws when a part of the file was gone when it was read, so that what was read of it cannot be believed.
    package func requireWhole() throws(StorageError) {
        if let witness, witness.loss.isSet { throw FileWitness.lost }
    }

    /// One version of a file that is open for writing.
    init(path: String, header: FileHeader, plain: PlainBytes, fileByteCount: Int) {
        self.path = path
        self.header = header
        self.plain = plain
        self.fileByteCount = fileByteCount
        isEncrypted = plain.pages != nil
        witness = nil
    }

    /// The bytes up to `limit` as a space of nodes; valid while this file and `joinedValues` are alive.
    func space(limit: UInt64, joinedValues: JoinedValues) -> NodeSpace {
        plain.space(limit: limit, joinedValues: joinedValues)
    }
}
