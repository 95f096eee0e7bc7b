// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform

/// The places of the pages in an encrypted file.
///
/// The plain file is divided into pages of 4096 bytes. The encrypted file is a sequence of groups: one table page with 64
/// entries of 64 bytes, then the up to 64 encrypted pages that they describe. Only the last group may be shorter. Source:
/// docs/format.md, "Encryption".
package enum EncryptionLayout {
    /// The size of a page in bytes, plain and encrypted alike.
    package static let pageByteCount = 4096
    /// How many pages one table page describes.
    package static let pagesPerGroup = 64
    /// The size of an entry in a table page in bytes.
    package static let entryByteCount = 64
    /// The size in bytes of a table page with the 64 pages that it describes.
    private static let groupByteCount = (pagesPerGroup + 1) * pageByteCount

    /// Returns whether an encrypted file can have a size: it has whole pages, and at least one after its first table.
    package static func fits(fileByteCount: Int) -> Bool {
        fileByteCount >= 2 * pageByteCount && fileByteCount % pageByteCount == 0
    }

    /// Returns how many plain pages an encrypted file of `fileByteCount` bytes has, a size for which `fits` is true.
    package static func plainPageCount(fileByteCount: Int) -> Int {
        let pages = fileByteCount / pageByteCount
        return pages - (pages + pagesPerGroup) / (pagesPerGroup + 1)
    }

    /// Returns the size in bytes of an encrypted file with `plainPageCount` plain pages.
    package static func fileByteCount(plainPageCount: Int) -> Int {
        (plainPageCount + (plainPageCount + pagesPerGroup - 1) / pagesPerGroup) * pageByteCount
    }

    /// Returns the offset in the file of the entry of plain page `page`.
    package static func entryOffset(_ page: Int) -> Int {
        page / pagesPerGroup * groupByteCount + page % pagesPerGroup * entryByteCount
    }

    /// Returns the offset in the file of the encrypted bytes of plain page `page`.
    package static func pageOffset(_ page: Int) -> Int {
        (page + page / pagesPerGroup + 1) * pageByteCount
    }
}
