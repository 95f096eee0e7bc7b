// SPDX-License-Identifier: Apache-2.0

// Interface expected by NodeSpace and RealmFile; the owner of encryption replaces this file.
package struct EncryptionKey: Sendable {}
@usableFromInline final class LazyPlainPages: @unchecked Sendable {
    let address: UnsafeRawPointer
    let plainByteCount: Int
    init(file: FileMapping, key: EncryptionKey) throws(StorageError) {
        throw .refused(.encryptionKeyWrong("encryption is not available"))
    }
    @usableFromInline func ensure(offset: UInt64, byteCount: UInt64) throws(StorageError) {}
}
extension EncryptionKey {
    package init(contentsOfFile path: String) throws(StorageError) { throw .refused(.encryptionKeyWrong("")) }
}
