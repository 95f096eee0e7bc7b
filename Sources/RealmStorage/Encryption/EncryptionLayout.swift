// SPDX-License-Identifier: Apache-2.0

/// Where the pages of an encrypted file lie.
///
/// The plain file is cut into pages of 4096 bytes. The encrypted file is a row of groups: one table page with 64 entries
/// of 64 bytes, then the up to 64 encrypted pages that they describe. Only the last group may be shorter.
/// Source: docs/format.md, "Encryption".
package enum EncryptionLayout {
    /// The size of a page in bytes, plain and encrypted alike.
    package static let pageByteCount = 4096
    /// How many pages one table page describes.
    package static let pagesPerGroup = 64
    /// The size of an entry in a table page in bytes.
    package static let entryByteCount = 64
    /// The size of a table page with the pages that it describes.
    private static let groupByteCount = (pagesPerGroup + 1) * pageByteCount

    /// How many plain pages an encrypted file of `fileByteCount` bytes holds.
    ///
    /// Throws `.refused(.encryptionKeyWrong)` for a size that no encrypted file has: the usual reason is a key for a plain file.
    package static func plainPageCount(fileByteCount: Int) throws(StorageError) -> Int {
        guard fileByteCount >= 2 * pageByteCount, fileByteCount % pageByteCount == 0 else {
            throw .refused(
                .encryptionKeyWrong(
                    "a file of \(fileByteCount) bytes cannot be an encrypted Realm file: wrong key for a plain file?"))
        }
        let pages = fileByteCount / pageByteCount
        return pages - (pages + pagesPerGroup) / (pagesPerGroup + 1)
    }

    /// The size in bytes of an encrypted file with `plainPageCount` plain pages.
    package static func fileByteCount(plainPageCount: Int) -> Int {
        (plainPageCount + (plainPageCount + pagesPerGroup - 1) / pagesPerGroup) * pageByteCount
    }

    /// File offset of the entry of plain page `page`.
    package static func entryOffset(_ page: Int) -> Int {
        page / pagesPerGroup * groupByteCount + page % pagesPerGroup * entryByteCount
    }

    /// File offset of the encrypted bytes of plain page `page`.
    package static func pageOffset(_ page: Int) -> Int {
        (page + page / pagesPerGroup + 1) * pageByteCount
    }
}
