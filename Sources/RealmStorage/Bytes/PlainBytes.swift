// SPDX-License-Identifier: Apache-2.0

/// The plain bytes of a mapped file, decrypted first where that is needed.
struct PlainBytes {
    let base: UnsafeRawPointer
    let byteCount: Int
    private let pages: LazyPlainPages?

    init(mapping: FileMapping, pages: LazyPlainPages?, byteCount: Int) {
        base = pages?.address ?? mapping.address
        self.byteCount = byteCount
        self.pages = pages
    }

    /// The `byteCount` bytes at `offset`, or fewer where the file ends. In an encrypted file bytes of a page that was
    /// never written read as zeros: the last page, where a footer may stand, often is such a page.
    func view(at offset: Int, byteCount wanted: Int) throws(StorageError) -> ByteView {
        let first = min(max(offset, 0), byteCount)
        let count = min(max(wanted, 0), byteCount - first)
        try pages?.attempt(offset: UInt64(first), byteCount: UInt64(count))
        return ByteView(start: (base + first).assumingMemoryBound(to: UInt8.self), count: count)
    }
}
