// SPDX-License-Identifier: Apache-2.0

internal import COpenSSL

/// The crypto library's AES-256-CBC with one key in one direction, without padding.
///
/// The algorithm is looked up and the key is scheduled once, when the context is made; each run only
/// sets its initialization vector. A run changes the context, so it belongs to one thread at a time.
@safe package struct CipherContext: ~Copyable {
    package enum Direction {
        /// Turns plain bytes into encrypted ones.
        case encrypts
        /// Turns encrypted bytes into plain ones.
        case decrypts
    }

    /// The number of bytes of an initialization vector.
    package static let vectorByteCount = 16

    /// The library's context, which this value owns.
    package let context: OpaquePointer

    /// Makes a context for a key of 32 bytes; throws `.io` when the crypto library lacks memory or the algorithm.
    package init(_ direction: Direction, key: [UInt8]) throws(StorageError) {
        precondition(key.count == 32, "\(key.count) bytes are not a key of AES-256")
        guard let context = unsafe EVP_CIPHER_CTX_new() else { throw .cryptography("EVP_CIPHER_CTX_new") }
        // The context keeps what it needs of the algorithm.
        let algorithm = unsafe EVP_CIPHER_fetch(nil, "AES-256-CBC", nil)
        defer { unsafe EVP_CIPHER_free(algorithm) }
        guard let algorithm = unsafe algorithm,
            unsafe EVP_CipherInit_ex(context, algorithm, nil, key, nil, direction == .encrypts ? 1 : 0) == 1,
            unsafe EVP_CIPHER_CTX_set_padding(context, 0) == 1
        else {
            let error = StorageError.cryptography("EVP_CipherInit_ex")
            unsafe EVP_CIPHER_CTX_free(context)
            throw error
        }
        unsafe self.context = unsafe context
    }

    deinit { unsafe EVP_CIPHER_CTX_free(context) }

    /// Encrypts or decrypts whole blocks of 16 bytes. Without padding, exactly as many bytes come out as go in.
    ///
    /// - Parameters:
    ///   - vector: The initialization vector, of `vectorByteCount` bytes.
    ///   - source: The bytes to encrypt or decrypt.
    /// - Throws: `.io` when the crypto library fails.
    package func run(vector: [UInt8], from source: ByteView, to target: WritableBytes) throws(StorageError) {
        precondition(vector.count == CipherContext.vectorByteCount, "\(vector.count) bytes are no vector")
        precondition(source.count % 16 == 0 && target.count == source.count, "\(source.count) bytes into \(target.count)")
        var written: Int32 = 0
        let isDone = unsafe source.withBuffer { bytes in
            unsafe target.withUnsafeMutableBytes { room in
                // -1 keeps the direction.
                unsafe EVP_CipherInit_ex(context, nil, nil, nil, vector, -1) == 1
                    && EVP_CipherUpdate(context, room.baseAddress, &written, bytes.baseAddress, Int32(bytes.count)) == 1
            }
        }
        guard isDone, Int(written) == source.count else { throw .cryptography("AES-256-CBC") }
    }
}
