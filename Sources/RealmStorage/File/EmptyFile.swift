// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform

/// Makes files without any version.
enum EmptyFile {
    /// Writes a header without any version. It is one write, so that after a crash the file has either all of it or 0 bytes.
    static func write(_ backend: any StorageBackend, _ key: EncryptionKey?) throws(StorageError) {
        var page = [UInt8](repeating: 0, count: FileHeader.byteCount)
        page.replaceSubrange(16..<20, with: FileHeader.signature)
        if let key {
            try writeEncrypted(page, backend, key)
        } else {
            try backend.extend(to: page.count)
            try ByteView.withBytes(of: page) { view throws(StorageError) in try backend.write(view, at: 0) }
        }
        try backend.sync(.full)
    }

    /// Writes the first page of an encrypted file, with its entry.
    private static func writeEncrypted(
        _ header: [UInt8], _ backend: any StorageBackend, _ key: EncryptionKey
    ) throws(StorageError) {
        try backend.extend(to: EncryptionLayout.fileByteCount(plainPageCount: 1))
        let plain = header + [UInt8](repeating: 0, count: EncryptionLayout.pageByteCount - header.count)
        var sealed = [UInt8](repeating: 0, count: EncryptionLayout.pageByteCount)
        let stamp = try ByteView.withBytes(of: plain) { view throws(StorageError) in
            try PageCipher(key).seal(page: 0, counter: 1, from: view, to: &sealed)
        }
        for (bytes, offset) in [
            (PageEntry(newest: stamp, previous: .none).bytes, EncryptionLayout.entryOffset(0)),
            (sealed, EncryptionLayout.pageOffset(0)),
        ] {
            try ByteView.withBytes(of: bytes) { view throws(StorageError) in try backend.write(view, at: offset) }
        }
    }
}
