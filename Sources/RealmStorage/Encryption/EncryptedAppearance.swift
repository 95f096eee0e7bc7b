// SPDX-License-Identifier: Apache-2.0

package import RealmPlatform

/// Distinguishes encrypted files from others without their key.
///
/// Encrypted files have no marker. They have whole pages, the entry of their first page is never empty,
/// and the rest looks random; a plain file that lost its beginning still has the headers of nodes.
/// `hasPageTable` is true for what is surely encrypted, `mayBeEncrypted` for what might be, its table damaged or not.
package enum EncryptedAppearance {
    /// The number of bytes at the beginning of a file that are examined: more than the first 64 pages.
    private static let examinedByteCount = 1 << 20
    /// The first four bytes of the header of each node in a plain file.
    private static let nodeHeader: [UInt8] = [0x41, 0x41, 0x41, 0x41]
    /// The number of node headers that no encrypted file has by chance.
    private static let sufficientHeaderCount = 2

    /// Returns whether a file begins with a table of encrypted pages, which anything else does with no more than chance: each of its
    /// 64 entries has a counter that is a little greater than the one of the write before, or zeros.
    ///
    /// - Parameter bytes: All bytes of the file.
    static func hasPageTable(_ bytes: ByteView) -> Bool {
        guard EncryptionLayout.fits(fileByteCount: bytes.count) else { return false }
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

    /// Returns whether a file that cannot be opened may be a sound one under another key.
    ///
    /// - Parameters:
    ///   - path: The path of the file; symbolic links are followed.
    ///   - key: The key under which it cannot be opened; nil for none. A file of which other pages than the
    ///     first are under this key is damaged.
    /// - Throws: `StorageError` when the file cannot be read.
    package static func mayBeEncrypted(_ path: String, unlikeThoseOf key: EncryptionKey?) throws(StorageError) -> Bool {
        let descriptor = try System.openForReading(path)
        defer { System.close(descriptor) }
        let byteCount = try System.regularFileSize(descriptor)
        guard EncryptionLayout.fits(fileByteCount: byteCount) else { return false }
        let bytes = try System.read(descriptor, at: 0, byteCount: min(byteCount, examinedByteCount))
        guard bytes.count >= 2 * EncryptionLayout.pageByteCount,
            bytes.prefix(EncryptionLayout.entryByteCount).contains(where: { $0 != 0 }), !hasNodeHeaders(bytes)
        else { return false }
        guard let key else { return true }
        return try !hasPage(in: bytes, under: key)
    }

    /// Returns whether there are headers of nodes at the places of nodes.
    private static func hasNodeHeaders(_ bytes: [UInt8]) -> Bool {
        var count = 0
        for offset in stride(from: 0, to: bytes.count - 7, by: 8) where bytes[offset..<offset + 4].elementsEqual(nodeHeader) {
            count += 1
            if count == sufficientHeaderCount { return true }
        }
        return false
    }

    /// Returns whether one of the first 64 pages was written under a key.
    private static func hasPage(in bytes: [UInt8], under key: EncryptionKey) throws(StorageError) -> Bool {
        let cipher = try PageCipher(key)
        return try ByteView.withBytes(of: bytes) { view throws(StorageError) in
            for page in 0..<EncryptionLayout.pagesPerGroup {
                let (entry, place) = (EncryptionLayout.entryOffset(page), EncryptionLayout.pageOffset(page))
                guard place + EncryptionLayout.pageByteCount <= view.count else { break }
                let stamp = try cipher.stamp(
                    of: view.slice(place, place + EncryptionLayout.pageByteCount),
                    entry: PageEntry(view.slice(entry, entry + EncryptionLayout.entryByteCount)))
                if stamp.counter != 0 { return true }
            }
            return false
        }
    }
}
