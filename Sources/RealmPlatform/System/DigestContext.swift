// SPDX-License-Identifier: Apache-2.0

internal import COpenSSL

/// The crypto library's SHA-256 over bytes that are passed piece by piece.
///
/// Each piece changes the context, so it belongs to one thread at a time.
@safe package struct DigestContext: ~Copyable {
    package static let digestByteCount = 32

    /// The library's context, which this value owns.
    private let context: OpaquePointer

    /// Makes a context that has seen no bytes yet; throws `.io` when the crypto library lacks memory or the algorithm.
    package init() throws(StorageError) {
        guard let context = unsafe EVP_MD_CTX_new() else { throw .cryptography("EVP_MD_CTX_new") }
        guard let algorithm = unsafe DigestAlgorithm.sha256.method, unsafe EVP_DigestInit_ex(context, algorithm, nil) == 1 else {
            let error = StorageError.cryptography("EVP_DigestInit_ex")
            unsafe EVP_MD_CTX_free(context)
            throw error
        }
        unsafe self.context = unsafe context
    }

    deinit { unsafe EVP_MD_CTX_free(context) }

    /// Adds the next bytes; throws `.io` when the crypto library fails.
    package mutating func add(_ bytes: ByteView) throws(StorageError) {
        let isDone = unsafe bytes.withBuffer { buffer in
            unsafe EVP_DigestUpdate(context, buffer.baseAddress, buffer.count) == 1
        }
        guard isDone else { throw .cryptography("EVP_DigestUpdate") }
    }

    /// Returns the digest of all bytes that were added, which has `digestByteCount` bytes; throws `.io`
    /// when the crypto library fails.
    package consuming func finish() throws(StorageError) -> [UInt8] {
        var digest = [UInt8](repeating: 0, count: DigestContext.digestByteCount)
        guard unsafe EVP_DigestFinal_ex(context, &digest, nil) == 1 else { throw .cryptography("EVP_DigestFinal_ex") }
        return digest
    }

    /// Returns the digest of bytes in memory, which has `digestByteCount` bytes; throws `.io` when the crypto library fails.
    package static func digest(of bytes: [UInt8]) throws(StorageError) -> [UInt8] {
        var digest = [UInt8](repeating: 0, count: digestByteCount)
        let isDone = unsafe bytes.withUnsafeBytes { source in
            unsafe EVP_Digest(source.baseAddress, source.count, &digest, nil, DigestAlgorithm.sha256.method, nil) == 1
        }
        guard isDone else { throw .cryptography("EVP_Digest") }
        return digest
    }
}

/// An algorithm of the crypto library, which is looked up once: that takes longer than the digest of a short text.
///
/// It is `@unchecked` because the library does not change an algorithm that it has handed out, and counts its uses with atomic
/// operations.
@safe private struct DigestAlgorithm: @unchecked Sendable {
    /// The library's description of the algorithm; nil when the library lacks it. It stays for the life of the process.
    let method: OpaquePointer?

    /// SHA-256.
    static let sha256 = unsafe DigestAlgorithm(method: EVP_MD_fetch(nil, "SHA-256", nil))
}
