// SPDX-License-Identifier: Apache-2.0

internal import COpenSSL

/// The crypto library's HMAC with one key, by SHA-224 or SHA-256.
///
/// The algorithm is looked up and the key is scheduled once, when the context is made. Each code
/// changes the context, so it belongs to one thread at a time.
@safe package struct AuthenticationContext: ~Copyable {
    /// A digest that codes are computed with.
    package enum Digest: String {
        /// SHA-224, whose codes have 28 bytes.
        case sha224 = "SHA224"
        /// SHA-256, whose codes have 32 bytes.
        case sha256 = "SHA256"

        var codeByteCount: Int {
            switch self {
            case .sha224: return 28
            case .sha256: return 32
            }
        }
    }

    private let codeByteCount: Int

    /// The library's context, which this value owns.
    private let context: OpaquePointer

    /// Makes a context for a key; throws `.io` when the crypto library lacks memory or the algorithm.
    package init(key: [UInt8], _ digest: Digest = .sha224) throws(StorageError) {
        codeByteCount = digest.codeByteCount
        let algorithm = unsafe EVP_MAC_fetch(nil, "HMAC", nil)
        defer { unsafe EVP_MAC_free(algorithm) }
        guard let algorithm = unsafe algorithm, let context = unsafe EVP_MAC_CTX_new(algorithm) else {
            throw .cryptography("EVP_MAC_CTX_new")
        }
        // A parameter refers to its name and its value, so both have to stay where they are until the call ends.
        let name = Array("digest".utf8CString)
        var digest = Array(digest.rawValue.utf8CString)
        let result = unsafe name.withUnsafeBufferPointer { name in
            unsafe digest.withUnsafeMutableBufferPointer { digest in
                let parameters = unsafe [
                    OSSL_PARAM_construct_utf8_string(name.baseAddress, digest.baseAddress, 0), OSSL_PARAM_construct_end(),
                ]
                return unsafe EVP_MAC_init(context, key, key.count, parameters)
            }
        }
        guard result == 1 else {
            let error = StorageError.cryptography("EVP_MAC_init")
            unsafe EVP_MAC_CTX_free(context)
            throw error
        }
        unsafe self.context = unsafe context
    }

    deinit { unsafe EVP_MAC_CTX_free(context) }

    /// Returns the code of `bytes`, which has `codeByteCount` bytes; throws `.io` when the crypto library fails.
    package func code(of bytes: ByteView) throws(StorageError) -> [UInt8] {
        var code = [UInt8](repeating: 0, count: codeByteCount)
        var byteCount = 0
        // Without a key the library begins a new code with the one that it has.
        let isDone = unsafe bytes.withBuffer { buffer in
            unsafe EVP_MAC_init(context, nil, 0, nil) == 1
                && EVP_MAC_update(context, buffer.baseAddress, buffer.count) == 1
                && EVP_MAC_final(context, &code, &byteCount, code.count) == 1
        }
        guard isDone, byteCount == code.count else { throw .cryptography("HMAC") }
        return code
    }

    /// Returns the HMAC-SHA-256 of bytes by a key; throws `.io` when the crypto library fails.
    package static func sha256(of bytes: [UInt8], by key: [UInt8]) throws(StorageError) -> [UInt8] {
        let context = try AuthenticationContext(key: key, .sha256)
        return try ByteView.withBytes(of: bytes) { view throws(StorageError) in try context.code(of: view) }
    }
}
