// SPDX-License-Identifier: Apache-2.0

/// The plain file page by page, whether it is encrypted or not: for whole-file checks and copies.
extension RealmFile {
    /// How many pages there are; the last one may be short in a file that is not encrypted.
    package var pageCount: Int {
        (plainByteCount + EncryptionLayout.pageByteCount - 1) / EncryptionLayout.pageByteCount
    }

    /// Whether a page holds data, was never written or is damaged; decrypts it if it has to.
    package func state(ofPage page: Int) throws(StorageError) -> PageState {
        precondition(page >= 0 && page < pageCount, "page \(page) of \(pageCount)")
        return try pages?.state(ofPage: page) ?? .present
    }

    /// The bytes of a page, zeros where it is not present; valid while this file is alive.
    package func bytes(ofPage page: Int) throws(StorageError) -> ByteView {
        try plain.view(at: page * EncryptionLayout.pageByteCount, byteCount: EncryptionLayout.pageByteCount)
    }
}
