// SPDX-License-Identifier: Apache-2.0

internal import COpenSSL
internal import SystemPackage

/// Authenticates, decrypts and encrypts single pages with one key: AES-256-CBC without padding,
/// HMAC-SHA-224 over the encrypted bytes.
///
/// This is the bridge to the crypto library, and the only file that calls its ciphers. Algorithms
/// are looked up and keys are scheduled once, when a cipher is made; a page only sets its
/// initialization vector and begins a new code. The contexts are used again by every call, so a
/// cipher belongs to one thread at a time.
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

    /// The crypto library's context that encrypts, with the key.
    private let encryptor: OpaquePointer
    /// The crypto library's context that decrypts, with the key.
    private let decryptor: OpaquePointer
    /// The crypto library's context that computes authentication codes, with the key.
    private let authenticator: OpaquePointer

    /// Makes a cipher for one key; throws `.io` when the crypto library lacks memory or an
    /// algorithm.
    package init(_ key: EncryptionKey) throws(StorageError) {
        unsafe encryptor = try unsafe PageCipher.makeCipher(key, encrypts: true)
        do throws(StorageError) {
            unsafe decryptor = try unsafe PageCipher.makeCipher(key, encrypts: false)
        } catch {
            unsafe EVP_CIPHER_CTX_free(encryptor)
            throw error
        }
        do throws(StorageError) {
            unsafe authenticator = try unsafe PageCipher.makeAuthenticator(key)
        } catch {
            unsafe EVP_CIPHER_CTX_free(encryptor)
            unsafe EVP_CIPHER_CTX_free(decryptor)
            throw error
        }
    }

    deinit {
        unsafe EVP_CIPHER_CTX_free(encryptor)
        unsafe EVP_CIPHER_CTX_free(decryptor)
        unsafe EVP_MAC_CTX_free(authenticator)
    }

    /// Makes a context for AES-256-CBC in one direction, without padding.
    private static func makeCipher(_ key: EncryptionKey, encrypts: Bool) throws(StorageError) -> OpaquePointer {
        guard let context = unsafe EVP_CIPHER_CTX_new() else { throw failure("EVP_CIPHER_CTX_new") }
        // The context keeps what it needs of the algorithm.
        let algorithm = unsafe EVP_CIPHER_fetch(nil, "AES-256-CBC", nil)
        defer { unsafe EVP_CIPHER_free(algorithm) }
        guard let algorithm = unsafe algorithm,
            unsafe EVP_CipherInit_ex(context, algorithm, nil, Array(key.cipherKey), nil, encrypts ? 1 : 0) == 1,
            unsafe EVP_CIPHER_CTX_set_padding(context, 0) == 1
        else {
            let error = failure("EVP_CipherInit_ex")
            unsafe EVP_CIPHER_CTX_free(context)
            throw error
        }
        return unsafe context
    }

    /// Makes a context for HMAC-SHA-224.
    private static func makeAuthenticator(_ key: EncryptionKey) throws(StorageError) -> OpaquePointer {
        let algorithm = unsafe EVP_MAC_fetch(nil, "HMAC", nil)
        defer { unsafe EVP_MAC_free(algorithm) }
        guard let algorithm = unsafe algorithm, let context = unsafe EVP_MAC_CTX_new(algorithm) else {
            throw failure("EVP_MAC_CTX_new")
        }
        var digest = Array("SHA224".utf8CString)
        let key = Array(key.authenticationKey)
        let result = unsafe digest.withUnsafeMutableBufferPointer { name in
            let parameters = unsafe [OSSL_PARAM_construct_utf8_string("digest", name.baseAddress, 0), OSSL_PARAM_construct_end()]
            return unsafe EVP_MAC_init(context, key, key.count, parameters)
        }
        guard result == 1 else {
            let error = failure("EVP_MAC_init")
            unsafe EVP_MAC_CTX_free(context)
            throw error
        }
        return unsafe context
    }

    // MARK: - Pages

    /// Decrypts a page if one of the stamps of its entry fits it.
    ///
    /// The code of the encrypted bytes is compared with both stamps before anything is decrypted.
    ///
    /// - Parameters:
    ///   - page: The number of the plain page, which is part of the initialization vector.
    ///   - entry: The entry of the page.
    ///   - source: The 4096 encrypted bytes.
    ///   - memory: Where the 4096 plain bytes are stored.
    ///   - offset: The place in `memory` of the first plain byte.
    /// - Throws: `.io` only when the crypto library fails; a damaged page is an outcome.
    package func open(
        page: Int, entry: PageEntry, from source: ByteView, to memory: ReservedMemory, at offset: Int
    ) throws(StorageError) -> Outcome {
        guard entry.newest.counter != 0 else { return .neverWritten }
        let code = try authenticationCode(of: source)
        let stamp: PageEntry.Stamp
        if code == entry.newest.code {
            stamp = entry.newest
        } else if entry.previous.counter != 0, code == entry.previous.code {
            stamp = entry.previous
        } else {
            return entry.previous.counter == 0 || source.isZero ? .neverWritten : .corrupt
        }
        let target = unsafe memory.room(at: offset, byteCount: EncryptionLayout.pageByteCount)
        try unsafe run(decryptor, page: page, counter: stamp.counter, from: source, to: target)
        return .plain(stamp)
    }

    /// Returns the stamp of `entry` that fits the encrypted page in `source`, or `.none`.
    func stamp(of source: ByteView, entry: PageEntry) throws(StorageError) -> PageEntry.Stamp {
        let code = try authenticationCode(of: source)
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
    ///   - target: The array that receives the 4096 encrypted bytes, and must have room for them.
    ///   - offset: The place in `target` of the first encrypted byte.
    package func seal(
        page: Int, counter: UInt32, from source: ByteView, to target: inout [UInt8], at offset: Int = 0
    ) throws(StorageError) -> PageEntry.Stamp {
        precondition(counter != 0, "counter 0 means that a page was never written")
        let size = EncryptionLayout.pageByteCount
        precondition(offset >= 0 && target.count - offset >= size, "no room for a page at \(offset) of \(target.count)")
        var result: Result<PageEntry.Stamp, StorageError> = .success(.none)
        unsafe target.withUnsafeMutableBufferPointer { buffer in
            result = Result { () throws(StorageError) in
                // In bounds by the check above, which an empty array does not pass.
                let start = unsafe buffer.baseAddress.unsafelyUnwrapped + offset
                try unsafe run(encryptor, page: page, counter: counter, from: source, to: UnsafeMutableRawPointer(start))
                return PageEntry.Stamp(
                    counter: counter, code: try unsafe authenticationCode(of: ByteView(start: start, count: size)))
            }
        }
        return try result.get()
    }

    // MARK: - Calls of the library

    /// Returns the HMAC-SHA-224 of a page.
    private func authenticationCode(of page: ByteView) throws(StorageError) -> AuthenticationCode {
        var code = [UInt8](repeating: 0, count: AuthenticationCode.byteCount)
        var byteCount = 0
        // Without a key the library begins a new code with the one that it has.
        let isDone = unsafe page.withBuffer { bytes in
            unsafe EVP_MAC_init(authenticator, nil, 0, nil) == 1
                && EVP_MAC_update(authenticator, bytes.baseAddress, bytes.count) == 1
                && EVP_MAC_final(authenticator, &code, &byteCount, code.count) == 1
        }
        guard isDone, byteCount == code.count else { throw PageCipher.failure("HMAC") }
        return AuthenticationCode(code)
    }

    /// Encrypts or decrypts a page. The initialization vector is the counter, then the plain offset
    /// of the page, both little endian, then zeros.
    ///
    /// - Parameters:
    ///   - cipher: The context for the direction.
    ///   - page: The number of the plain page.
    ///   - counter: The counter of the write.
    ///   - source: The 4096 bytes to encrypt or decrypt.
    ///   - target: Room for 4096 bytes.
    private func run(
        _ cipher: OpaquePointer, page: Int, counter: UInt32, from source: ByteView, to target: UnsafeMutableRawPointer
    ) throws(StorageError) {
        precondition(source.count == EncryptionLayout.pageByteCount, "\(source.count) bytes are no page")
        var vector = [UInt8](repeating: 0, count: 16)
        let offset = UInt64(page) * UInt64(EncryptionLayout.pageByteCount)
        for index in 0..<4 { vector[index] = UInt8(truncatingIfNeeded: counter >> UInt32(8 * index)) }
        for index in 0..<8 { vector[4 + index] = UInt8(truncatingIfNeeded: offset >> UInt64(8 * index)) }
        var written: Int32 = 0
        let isDone = unsafe source.withBuffer { bytes in
            // Whole blocks without padding: exactly as many bytes come out as go in. -1 keeps the direction.
            unsafe EVP_CipherInit_ex(cipher, nil, nil, nil, vector, -1) == 1
                && EVP_CipherUpdate(
                    cipher, target.assumingMemoryBound(to: UInt8.self), &written, bytes.baseAddress, Int32(bytes.count)) == 1
        }
        guard isDone, Int(written) == source.count else { throw PageCipher.failure("AES-256-CBC") }
    }

    /// Makes the error for a failure of the crypto library, which happens only for lack of memory
    /// or when an algorithm is disabled. It has the reason that the library recorded on this thread.
    private static func failure(_ call: String) -> StorageError {
        let code = ERR_peek_last_error()
        ERR_clear_error()
        let reason = unsafe ERR_reason_error_string(code).map { unsafe " (" + String(cString: $0) + ")" } ?? ""
        return .io(operation: call + reason, errno: Errno.ioError.rawValue)
    }
}
