// SPDX-License-Identifier: Apache-2.0

/// An open file: its mapping, its plain bytes, and what its header says.
///
/// Opening maps the file and reads header and top node; nothing else is loaded. An encrypted file is decrypted
/// page by page on first touch.
package final class RealmFile: Sendable {
    package let path: String
    package let header: FileHeader
    package let isEncrypted: Bool
    /// The physical size in bytes.
    package let fileByteCount: Int
    /// The size of the plain file: the physical size, less the page tables when it is encrypted.
    package let plainByteCount: Int
    let mapping: FileMapping
    let pages: LazyPlainPages?

    /// Opens `path` for reading, with the 64-byte `key` if it is encrypted.
    package init(path: String, key: EncryptionKey? = nil) throws(StorageError) {
        let descriptor = try System.openForReading(path)
        defer { System.close(descriptor) }
        self.path = path
        fileByteCount = try System.regularFileSize(descriptor)
        guard fileByteCount >= FileHeader.byteCount else {
            throw .refused(.notARealm("a file of \(fileByteCount) bytes is too small to be a Realm file"))
        }
        mapping = try FileMapping(descriptor: descriptor, byteCount: fileByteCount)
        if let key {
            let pages = try LazyPlainPages(file: mapping, key: key)
            self.pages = pages
            plainByteCount = pages.plainByteCount
        } else {
            pages = nil
            plainByteCount = fileByteCount
        }
        isEncrypted = key != nil
        let plain = PlainBytes(mapping: mapping, pages: pages, byteCount: plainByteCount)
        header = try FileHeader(
            prefix: plain.view(at: 0, byteCount: FileHeader.byteCount),
            footer: plain.view(at: plainByteCount - FileHeader.footerByteCount, byteCount: FileHeader.footerByteCount),
            fileSize: UInt64(plainByteCount), isEncrypted: isEncrypted)
    }

    /// The bytes up to `limit` as a space of nodes; valid while this file and `joinedValues` are alive.
    func space(limit: UInt64, joinedValues: JoinedValues) -> NodeSpace {
        NodeSpace(
            base: PlainBytes(mapping: mapping, pages: pages, byteCount: plainByteCount).base,
            limit: min(limit, UInt64(plainByteCount)), pages: pages, joinedValues: joinedValues)
    }
}
