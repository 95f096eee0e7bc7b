// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform

/// The plain bytes of a file in memory, decrypted when they are first needed, and the owner of that memory.
///
/// The owner keeps the memory; bytes of a committed version never change.
struct PlainBytes: Sendable {
    /// The plain bytes, with room for growth; only the first `byteCount` may be read.
    private let bytes: ByteView
    let byteCount: Int
    /// The pages of an encrypted file; nil for a plain one.
    let pages: LazyPlainPages?
    /// The object that keeps the bytes in memory.
    private let owner: any AnyObject & Sendable

    init(mapping: FileMapping, pages: LazyPlainPages?) {
        bytes = pages?.plain ?? mapping.bytes
        byteCount = pages?.plainByteCount ?? mapping.byteCount
        self.pages = pages
        owner = mapping
    }

    /// Makes the bytes of a file that is only read, with other decrypted pages.
    private init(_ other: PlainBytes, pages: LazyPlainPages) {
        bytes = pages.plain
        byteCount = other.byteCount
        self.pages = pages
        owner = other.owner
    }

    /// Returns the same bytes with decrypted pages of their own, if the file is encrypted. It is only read.
    func withOwnPages() throws(StorageError) -> PlainBytes {
        guard let pages else { return self }
        return PlainBytes(self, pages: try LazyPlainPages(apartFrom: pages))
    }

    /// Makes the first `byteCount` bytes of a file that may grow.
    init(memory: ReservedMemory, pages: LazyPlainPages?, byteCount: Int) {
        bytes = pages?.plain ?? memory.range
        self.byteCount = byteCount
        self.pages = pages
        owner = memory
    }

    /// Returns whether these bytes, or the encrypted ones they are decrypted from, lie in `memory`.
    func isIn(_ memory: ReservedMemory) -> Bool { owner === memory }

    /// Returns the `byteCount` bytes at `offset`, or fewer where the file ends.
    ///
    /// In an encrypted file bytes of a page that was never written read as zeros: the last page,
    /// where a footer may be, often is such a page.
    ///
    /// - Throws: `.io` when the crypto library fails.
    func view(at offset: Int, byteCount wanted: Int) throws(StorageError) -> ByteView {
        let first = min(max(offset, 0), byteCount)
        let count = min(max(wanted, 0), byteCount - first)
        try pages?.attempt(offset: UInt64(first), byteCount: UInt64(count))
        return bytes.slice(first, first + count)
    }

    /// Reads and checks the header and the footer of the file, whose format must be one of those accepted.
    func header(accepting formats: [Int] = FileHeader.supportedFormats) throws(StorageError) -> FileHeader {
        try FileHeader(
            prefix: view(at: 0, byteCount: FileHeader.byteCount),
            footer: view(at: byteCount - FileHeader.footerByteCount, byteCount: FileHeader.footerByteCount),
            fileSize: UInt64(byteCount), isEncrypted: pages != nil, accepting: formats)
    }

    /// Returns the bytes up to `limit` as a space of nodes; it is valid while these bytes and `joinedValues` are kept.
    func space(limit: UInt64, joinedValues: JoinedValues) -> NodeSpace {
        NodeSpace(bytes, limit: min(limit, UInt64(byteCount)), pages: pages, joinedValues: joinedValues)
    }
}
