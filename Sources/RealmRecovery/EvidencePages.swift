// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform
internal import RealmStorage

/// The pages of an encrypted file, decrypted into memory as far as they can be.
struct EvidencePages {
    /// Owns the decrypted bytes.
    let memory: ReservedMemory
    /// The decrypted bytes; a page that cannot be read has zeros.
    let plain: ByteView
    /// The pages that cannot be read, ascending.
    private(set) var unreadable: [Int] = []
    /// The pages that fit the older of their two stamps.
    private(set) var older: [Int] = []

    /// Decrypts the pages of a file.
    ///
    /// - Throws: `.refused` when the file is too small to be encrypted, or its first page does not fit the key.
    init(_ bytes: ByteView, key: EncryptionKey) throws(StorageError) {
        let pageByteCount = EncryptionLayout.pageByteCount
        guard bytes.count >= 2 * pageByteCount else {
            throw .refused(.notARealm("a file of \(bytes.count) bytes is too small to be an encrypted Realm file"))
        }
        let count = EncryptionLayout.plainPageCount(fileByteCount: bytes.count)
        memory = try ReservedMemory(capacity: count * pageByteCount)
        try memory.fill(byteCount: count * pageByteCount)
        plain = memory.view(at: 0, byteCount: count * pageByteCount)
        let cipher = try PageCipher(key)
        for page in 0..<count {
            let entryStart = EncryptionLayout.entryOffset(page)
            let entry = PageEntry(bytes.slice(entryStart, entryStart + EncryptionLayout.entryByteCount))
            let start = EncryptionLayout.pageOffset(page)
            let outcome = try cipher.open(
                page: page, entry: entry, from: bytes.slice(start, start + pageByteCount), to: memory, at: page * pageByteCount)
            switch outcome {
            case .plain(let stamp): if stamp != entry.newest { older.append(page) }
            case .neverWritten, .corrupt:
                guard page > 0 else {
                    throw .refused(
                        .encryptionKeyWrong(
                            "the first page does not fit the key: wrong encryption key, or not an encrypted Realm file"))
                }
                unreadable.append(page)
            }
        }
    }
}
