// SPDX-License-Identifier: Apache-2.0

/// What the first bytes of a file tell, also of a file that cannot be read: no format is refused, and nothing behind the header is
/// looked at.
package struct FileGlance: Sendable {
    /// Whether a file is encrypted.
    package enum Encryption: Sendable, Equatable {
        /// It is a Realm file that is not.
        case plain
        /// It is: the key fits, or its first page is a table of encrypted pages.
        case encrypted
        /// It is encrypted or no Realm file; nothing tells which.
        case unknown
    }

    /// The size of the file in bytes.
    package let byteCount: Int
    /// Whether the file is encrypted.
    package let encryption: Encryption
    /// The format that the header names; nil when the header cannot be read, or has no signature.
    package let format: Int?
    /// Whether the file is in streaming form; nil when the header cannot be read.
    package let isStreaming: Bool?

    /// Looks at a file, which is opened for reading only.
    ///
    /// - Parameters:
    ///   - path: The path of the file.
    ///   - key: Its key. One that does not fit tells as much as none.
    ///   - isExact: Whether the path was resolved before, so that no symbolic link is followed.
    /// - Throws: `.refused` when there is no such file, or it is no regular one; `.io` when it cannot be mapped.
    package init(path: String, key: EncryptionKey? = nil, isExact: Bool = false) throws(StorageError) {
        let descriptor = try System.openRegular(path, isExact: isExact)
        defer { System.close(descriptor) }
        byteCount = try System.regularFileSize(descriptor)
        guard byteCount >= FileHeader.byteCount else {
            (encryption, format, isStreaming) = (.unknown, nil, nil)
            return
        }
        let mapping = try FileMapping(descriptor: descriptor, byteCount: byteCount)
        (encryption, format, isStreaming) = withExtendedLifetime(mapping) {
            if let header = FileGlance.header(mapping.bytes) { return (.plain, header.format, header.isStreaming) }
            if let key, let pages = try? LazyPlainPages(file: mapping, key: key),
                let header = FileGlance.header(pages.plain.slice(0, FileHeader.byteCount))
            {
                return (.encrypted, header.format, header.isStreaming)
            }
            return (FileGlance.hasPageTable(mapping.bytes) ? .encrypted : .unknown, nil, nil)
        }
    }

    /// Returns what a plain header tells; nil without the signature.
    private static func header(_ bytes: ByteView) -> (format: Int, isStreaming: Bool)? {
        guard bytes.slice(16, 20).array == FileHeader.signature else { return nil }
        let slot = Int(bytes[23] & 1)
        return (Int(bytes[20 + slot]), slot == 0 && bytes.slice(0, 8).array.allSatisfy { $0 == 0xff })
    }

    /// Returns whether a file begins with a table of encrypted pages, which anything else does with no more than chance: each of its
    /// 64 entries has a counter that is a little greater than the one of the write before, or zeros.
    private static func hasPageTable(_ bytes: ByteView) -> Bool {
        let pageByteCount = EncryptionLayout.pageByteCount
        guard bytes.count >= 2 * pageByteCount, bytes.count % pageByteCount == 0 else { return false }
        for index in 0..<EncryptionLayout.pagesPerGroup {
            let start = EncryptionLayout.entryOffset(index)
            let entry = PageEntry(bytes.slice(start, start + EncryptionLayout.entryByteCount))
            guard entry.newest.counter != 0 else {
                if index == 0 || entry != PageEntry(newest: .none, previous: .none) { return false }
                continue
            }
            let distance = Int64(entry.newest.counter) - Int64(entry.previous.counter)
            guard entry.newest.code != .zero, entry.previous == .none || (1..<1 << 16).contains(distance)
            else { return false }
        }
        return true
    }
}
