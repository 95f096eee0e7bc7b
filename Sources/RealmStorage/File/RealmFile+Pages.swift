// SPDX-License-Identifier: Apache-2.0

package import RealmPlatform

/// Access to the plain file page by page, whether it is encrypted or not, for whole-file checks and copies.
extension RealmFile {
    /// How many pages there are; the last one may be short in a file that is not encrypted.
    package var pageCount: Int {
        (plainByteCount + EncryptionLayout.pageByteCount - 1) / EncryptionLayout.pageByteCount
    }

    /// Returns whether a page holds data, was never written or is damaged; it is decrypted if that was not tried before.
    ///
    /// - Parameter page: A page in `0..<pageCount`; any other number traps.
    package func state(ofPage page: Int) throws(StorageError) -> LazyPlainPages.PageState {
        precondition(page >= 0 && page < pageCount, "page \(page) of \(pageCount)")
        return try pages?.state(ofPage: page) ?? .present
    }

    /// Returns the bytes of a page, or zeros if it is not present. The view is valid while this file is alive.
    package func bytes(ofPage page: Int) throws(StorageError) -> ByteView {
        try plain.view(at: page * EncryptionLayout.pageByteCount, byteCount: EncryptionLayout.pageByteCount)
    }
}
