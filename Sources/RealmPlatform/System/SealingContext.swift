// SPDX-License-Identifier: Apache-2.0

internal import COpenSSL

/// The crypto library's AES-256-GCM for one message under one key: it encrypts the message, and authenticates it together with
/// bytes that stay plain.
///
/// The initialization vector is zero, so no key may be used for a second message.
@safe package struct SealingContext: ~Copyable {
    /// The number of bytes of the tag that follows an encrypted message.
    static let tagByteCount = 16

    /// The library's context, which this value owns.
    private let context: OpaquePointer

    /// Makes a context for a key of 32 bytes; throws `.io` when the crypto library lacks memory or the algorithm.
    package init(_ direction: CipherContext.Direction, key: [UInt8]) throws(StorageError) {
        precondition(key.count == 32, "\(key.count) bytes are not a key of AES-256")
        guard let context = unsafe EVP_CIPHER_CTX_new() else { throw .cryptography("EVP_CIPHER_CTX_new") }
        // The context keeps what it needs of the algorithm. Its vector has 12 bytes by default.
        let algorithm = unsafe EVP_CIPHER_fetch(nil, "AES-256-GCM", nil)
        defer { unsafe EVP_CIPHER_free(algorithm) }
        let vector = [UInt8](repeating: 0, count: 12)
        guard let algorithm = unsafe algorithm,
            unsafe EVP_CipherInit_ex(context, algorithm, nil, key, vector, direction == .encrypts ? 1 : 0) == 1
        else {
            let error = StorageError.cryptography("EVP_CipherInit_ex")
            unsafe EVP_CIPHER_CTX_free(context)
            throw error
        }
        unsafe self.context = unsafe context
    }

    deinit { unsafe EVP_CIPHER_CTX_free(context) }

    /// Encrypts a message.
    ///
    /// - Parameters:
    ///   - message: The plain bytes.
    ///   - header: The bytes that are authenticated with it.
    /// - Returns: The encrypted bytes, which are as many, and the tag.
    /// - Throws: `.io` when the crypto library fails; `.limit` for a message of 2 GiB.
    package consuming func seal(_ message: [UInt8], with header: [UInt8]) throws(StorageError) -> [UInt8] {
        var sealed = try run(message, header)
        var tag = [UInt8](repeating: 0, count: SealingContext.tagByteCount)
        var count: Int32 = 0
        guard unsafe EVP_CipherFinal_ex(context, &tag, &count) == 1, count == 0,
            unsafe EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_AEAD_GET_TAG, Int32(tag.count), &tag) == 1
        else { throw .cryptography("AES-256-GCM") }
        sealed += tag
        return sealed
    }

    /// Decrypts a message.
    ///
    /// - Parameters:
    ///   - sealed: The encrypted bytes and the tag.
    ///   - header: The bytes that were authenticated with it.
    /// - Returns: The plain bytes; nil when either was changed, or the key is another one.
    /// - Throws: `.io` when the crypto library fails.
    package consuming func open(_ sealed: [UInt8], with header: [UInt8]) throws(StorageError) -> [UInt8]? {
        guard sealed.count >= SealingContext.tagByteCount else { return nil }
        let plain = try run(Array(sealed.dropLast(SealingContext.tagByteCount)), header)
        var tag = Array(sealed.suffix(SealingContext.tagByteCount))
        guard unsafe EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_AEAD_SET_TAG, Int32(tag.count), &tag) == 1 else {
            throw .cryptography("AES-256-GCM")
        }
        var rest = [UInt8](repeating: 0, count: SealingContext.tagByteCount)
        var count: Int32 = 0
        return unsafe EVP_CipherFinal_ex(context, &rest, &count) == 1 ? plain : nil
    }

    /// Encrypts or decrypts bytes after a header; as many come out as go in.
    private func run(_ bytes: [UInt8], _ header: [UInt8]) throws(StorageError) -> [UInt8] {
        guard max(bytes.count, header.count) < Int(Int32.max) else { throw .limit("a message of 2 GiB is not encrypted") }
        var target = [UInt8](repeating: 0, count: bytes.count)
        var count: Int32 = 0
        let isDone =
            unsafe EVP_CipherUpdate(context, nil, &count, header, Int32(header.count)) == 1
            && EVP_CipherUpdate(context, &target, &count, bytes, Int32(bytes.count)) == 1
        guard isDone, Int(count) == bytes.count else { throw .cryptography("AES-256-GCM") }
        return target
    }
}
