// SPDX-License-Identifier: Apache-2.0

import RealmPlatform
internal import RealmStorage

/// Puts the bytes of a plain file, damaged as they are, into an encrypted one.
enum SealedFile {
    static func bytes(of plain: [UInt8], _ key: EncryptionKey) throws -> [UInt8] {
        let size = EncryptionLayout.pageByteCount
        let pages = max((plain.count + size - 1) / size, 1)
        let padded = plain + [UInt8](repeating: 0, count: pages * size - plain.count)
        var file = [UInt8](repeating: 0, count: EncryptionLayout.fileByteCount(plainPageCount: pages))
        let cipher = try PageCipher(key)
        for page in 0..<pages {
            let stamp = try ByteView.withBytes(of: padded) { view throws(StorageError) in
                try cipher.seal(
                    page: page, counter: 1, from: view.slice(page * size, (page + 1) * size), to: &file,
                    at: EncryptionLayout.pageOffset(page))
            }
            let entry = PageEntry(newest: stamp, previous: .none).bytes
            file.replaceSubrange(
                EncryptionLayout.entryOffset(page)..<EncryptionLayout.entryOffset(page) + entry.count, with: entry)
        }
        return file
    }
}
