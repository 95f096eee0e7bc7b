// SPDX-License-Identifier: Apache-2.0

package import RealmPlatform
package import RealmStorage

/// A file that is examined: its bytes as they were found, and the plain bytes that are searched.
///
/// The file is opened for reading only and mapped; no lock file is made and nothing is written next to it. An encrypted file is
/// decrypted into memory page by page, and pages that do not decrypt are remembered.
///
/// `@unchecked Sendable`: all fields are set once, and the bytes never change.
@safe package final class EvidenceFile: @unchecked Sendable {
    package let path: String
    /// The size of the file in bytes.
    package let byteCount: Int
    package let isEncrypted: Bool
    /// The SHA-256 of the whole file as it was found.
    package let digest: [UInt8]
    /// The plain bytes; they are valid while this object is alive.
    let plain: ByteView
    /// The pages that cannot be read, ascending. Their plain bytes are zeros.
    let unreadablePages: [Int]
    /// The pages that fit the older of their two stamps, because a write of them was cut short.
    let pagesOfOlderWrite: [Int]

    /// Keeps the bytes of the file mapped.
    private let mapping: FileMapping
    /// Keeps the decrypted bytes; nil for a plain file.
    private let decrypted: ReservedMemory?

    /// Opens a file.
    ///
    /// - Throws: `.refused` when there is no such file, it is no Realm file, or the key does not fit; `.io` when it cannot be
    ///   read.
    package init(path: String, key: EncryptionKey?) throws(StorageError) {
        let descriptor = try System.openRegular(path, keepsAccessTime: true)
        defer { System.close(descriptor) }
        self.path = path
        byteCount = try System.regularFileSize(descriptor)
        guard byteCount >= FileHeader.byteCount else {
            throw .refused(.notARealm("a file of \(byteCount) bytes is too small to be a Realm file"))
        }
        mapping = try FileMapping(descriptor: descriptor, byteCount: byteCount)
        digest = try EvidenceFile.digest(of: mapping.bytes)
        isEncrypted = key != nil
        guard let key else {
            (plain, decrypted, unreadablePages, pagesOfOlderWrite) = (mapping.bytes, nil, [], [])
            return
        }
        let pages = try EvidencePages(mapping.bytes, key: key)
        (plain, decrypted) = (pages.plain, pages.memory)
        (unreadablePages, pagesOfOlderWrite) = (pages.unreadable, pages.older)
    }

    /// Reads the file again and returns its SHA-256 as it is now.
    package func digestNow() throws(StorageError) -> [UInt8] {
        let descriptor = try System.openRegular(path, keepsAccessTime: true)
        defer { System.close(descriptor) }
        return try FileDigest.sha256(descriptor)
    }

    /// Whether the file lost a part while it was read, so that zeros were read in its place.
    var hasLostBytes: Bool { mapping.loss.isSet }

    /// Returns the SHA-256 of bytes in memory.
    private static func digest(of bytes: ByteView) throws(StorageError) -> [UInt8] {
        var context = try DigestContext()
        try context.add(bytes)
        return try context.finish()
    }
}
