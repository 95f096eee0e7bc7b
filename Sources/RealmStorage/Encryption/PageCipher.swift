// SPDX-License-Identifier: Apache-2.0

internal import COpenSSL
internal import SystemPackage

/// Authenticates, decrypts and encrypts single pages with one key: AES-256-CBC without padding,
/// HMAC-SHA-224 over the encrypted bytes.
///
/// It holds two contexts of the crypto library that every call uses again, so a cipher belongs to
/// one thread at a time.
/// Source: docs/format.md, "Encryption".
@safe package final class PageCipher {
    /// The outcome of reading a page.
    package enum Outcome: Equatable, Sendable {
        /// The page was decrypted; the stamp is the one that fits it, which the next write has to keep.
        case plain(PageEntry.Stamp)
        /// There is no such page, or its first write was interrupted.
        case neverWritten
        /// Neither stamp of the entry fits the bytes.
        case corrupt
    }

    /// The crypto library's context that encrypts and decrypts.
    private let cipher: OpaquePointer
    /// The crypto library's context that computes authentication codes.
    private let authenticator: OpaquePointer
    /// The 32 bytes of the key for AES-256.
    private let cipherKey: [UInt8]
    /// The 32 bytes of the key for HMAC-SHA-224.
    private let authenticationKey: [UInt8]

    /// Makes a cipher for one key; throws `.io` when the crypto library lacks memory or an
    /// algorithm.
    package init(_ key: EncryptionKey) throws(StorageError) {
        guard let algorithm = unsafe EVP_MAC_fetch(nil, "HMAC", nil) else { throw PageCipher.failure("EVP_MAC_fetch") }
        defer { unsafe EVP_MAC_free(algorithm) }
        guard let cipher = unsafe EVP_CIPHER_CTX_new() else { throw PageCipher.failure("EVP_CIPHER_CTX_new") }
        guard let authenticator = unsafe EVP_MAC_CTX_new(algorithm) else {
            unsafe EVP_CIPHER_CTX_free(cipher)
            throw PageCipher.failure("EVP_MAC_CTX_new")
        }
        unsafe self.cipher = unsafe cipher
        unsafe self.authenticator = unsafe authenticator
        cipherKey = Array(key.cipherKey)
        authenticationKey = Array(key.authenticationKey)
    }

    deinit {
        unsafe EVP_CIPHER_CTX_free(cipher)
        unsafe EVP_MAC_CTX_free(authenticator)
    }

    /// Decrypts a page if one of the stamps of its entry fits it.
    ///
    /// The code of the encrypted bytes is compared with both stamps before anything is decrypted.
    ///
    /// - Parameters:
    ///   - page: The number of the plain page, which is part of the initialization vector.
    ///   - entry: The entry of the page.
    ///   - source: The 4096 encrypted bytes.
    ///   - target: Room for the 4096 plain bytes.
    /// - Throws: `.io` only when the crypto library fails; a damaged page is an outcome.
    package func open(
        page: Int, entry: PageEntry, from source: UnsafeRawPointer, to target: UnsafeMutableRawPointer
    ) throws(StorageError) -> Outcome {
        guard entry.newest.counter != 0 else { return .neverWritten }
        let code = try unsafe authenticationCode(of: source)
        let stamp: PageEntry.Stamp
        if code == entry.newest.code {
            stamp = entry.newest
        } else if entry.previous.counter != 0, code == entry.previous.code {
            stamp = entry.previous
        } else {
            return unsafe entry.previous.counter == 0 || PageCipher.isZero(source) ? .neverWritten : .corrupt
        }
        try unsafe run(encrypts: false, page: page, counter: stamp.counter, from: source, to: target)
        return .plain(stamp)
    }

    /// Returns the stamp of `entry` that fits the encrypted page at `source`, or `.none`.
    func stamp(of source: UnsafeRawPointer, entry: PageEntry) throws(StorageError) -> PageEntry.Stamp {
        let code = try unsafe authenticationCode(of: source)
        return [entry.newest, entry.previous].first { $0.counter != 0 && $0.code == code } ?? .none
    }

    /// Encrypts a page, and returns the stamp for its entry.
    ///
    /// Each counter results in another initialization vector, so writing the same bytes again gives
    /// other encrypted bytes.
    ///
    /// - Parameters:
    ///   - page: The number of the plain page.
    ///   - counter: The counter of this write, which must not be 0.
    ///   - source: The 4096 plain bytes.
    ///   - target: Room for the 4096 encrypted bytes.
    package func seal(
        page: Int, counter: UInt32, from source: UnsafeRawPointer, to target: UnsafeMutableRawPointer
    ) throws(StorageError) -> PageEntry.Stamp {
        precondition(counter != 0, "counter 0 means that a page was never written")
        try unsafe run(encrypts: true, page: page, counter: counter, from: source, to: target)
        return unsafe PageEntry.Stamp(counter: counter, code: try authenticationCode(of: target))
    }

    /// Returns the HMAC-SHA-224 of the 4096 bytes at `source`.
    private func authenticationCode(of source: UnsafeRawPointer) throws(StorageError) -> AuthenticationCode {
        guard startAuthentication() == 1,
            unsafe EVP_MAC_update(authenticator, source.assumingMemoryBound(to: UInt8.self), EncryptionLayout.pageByteCount) == 1
        else { throw PageCipher.failure("HMAC") }
        var code = [UInt8](repeating: 0, count: AuthenticationCode.byteCount)
        var byteCount = 0
        guard unsafe EVP_MAC_final(authenticator, &code, &byteCount, code.count) == 1, byteCount == code.count else {
            throw PageCipher.failure("EVP_MAC_final")
        }
        return AuthenticationCode(code)
    }

    /// Begins a new code with the key; returns 1 when the library succeeds.
    private func startAuthentication() -> Int32 {
        var digest = Array("SHA224".utf8CString)
        return unsafe digest.withUnsafeMutableBufferPointer { name in
            let parameters = unsafe [OSSL_PARAM_construct_utf8_string("digest", name.baseAddress, 0), OSSL_PARAM_construct_end()]
            return unsafe EVP_MAC_init(authenticator, authenticationKey, authenticationKey.count, parameters)
        }
    }

    /// Encrypts or decrypts a page. The initialization vector is the counter, then the plain offset
    /// of the page, both little endian, then zeros.
    private func run(
        encrypts: Bool, page: Int, counter: UInt32, from source: UnsafeRawPointer, to target: UnsafeMutableRawPointer
    ) throws(StorageError) {
        var vector = [UInt8](repeating: 0, count: 16)
        let offset = UInt64(page) * UInt64(EncryptionLayout.pageByteCount)
        for index in 0..<4 { vector[index] = UInt8(truncatingIfNeeded: counter >> UInt32(8 * index)) }
        for index in 0..<8 { vector[4 + index] = UInt8(truncatingIfNeeded: offset >> UInt64(8 * index)) }
        let byteCount = Int32(EncryptionLayout.pageByteCount)
        var written: Int32 = 0
        guard unsafe EVP_CipherInit_ex(cipher, EVP_aes_256_cbc(), nil, cipherKey, vector, encrypts ? 1 : 0) == 1,
            unsafe EVP_CIPHER_CTX_set_padding(cipher, 0) == 1,
            // Whole blocks without padding: exactly as many bytes come out as go in.
            unsafe EVP_CipherUpdate(
                cipher, target.assumingMemoryBound(to: UInt8.self), &written,
                source.assumingMemoryBound(to: UInt8.self), byteCount) == 1,
            written == byteCount
        else { throw PageCipher.failure("AES-256-CBC") }
    }

    /// Returns whether all 4096 bytes are zero.
    private static func isZero(_ source: UnsafeRawPointer) -> Bool {
        unsafe UnsafeRawBufferPointer(start: source, count: EncryptionLayout.pageByteCount).allSatisfy { $0 == 0 }
    }

    /// Makes the error for a failure of the crypto library, which happens only for lack of memory
    /// or when an algorithm is disabled.
    private static func failure(_ call: String) -> StorageError { .io(operation: call, errno: Errno.ioError.rawValue) }
}
