// SPDX-License-Identifier: Apache-2.0

internal import COpenSSL

/// A public key of the crypto library that verifies signatures in the forms of JOSE: RSASSA-PKCS1-v1_5 and ECDSA on P-256, each
/// with SHA-256, and Ed25519.
///
/// It is `@unchecked` because the library does not change a key that was made, and counts its uses with atomic operations. Each
/// verification has a context of its own.
@safe package final class PublicKey: @unchecked Sendable {
    /// The numbers of a key, big-endian.
    package enum Numbers {
        /// RSA: an odd modulus of 2048 to 8192 bits and an odd exponent from 3 on with at most 32 bits. Longer ones would take long
        /// to verify with. Zeros in front do not count.
        case rsa(modulus: [UInt8], exponent: [UInt8])
        /// A point on the curve P-256, 32 bytes each.
        case p256(x: [UInt8], y: [UInt8])
        /// An encoded point on the curve Ed25519, 32 bytes.
        case ed25519([UInt8])
    }

    /// How signatures are made.
    private enum Scheme {
        case rsa, p256, ed25519
    }

    private let scheme: Scheme
    /// The number of bytes of every signature.
    private let signatureByteCount: Int
    /// The library's key, which this object owns.
    private let key: OpaquePointer

    /// Makes a key; nil for numbers that are no such key, and when the library lacks memory or the algorithm.
    package init?(_ numbers: Numbers) {
        defer { ERR_clear_error() }
        guard let info = PublicKey.info(numbers) else { return nil }
        var key: OpaquePointer?
        unsafe info.withUnsafeBufferPointer { buffer in
            var start = buffer.baseAddress
            unsafe key = d2i_PUBKEY(nil, &start, buffer.count)
        }
        guard let key = unsafe key else { return nil }
        guard unsafe PublicKey.isSound(key, numbers) else {
            unsafe EVP_PKEY_free(key)
            return nil
        }
        unsafe self.key = unsafe key
        switch numbers {
        case .rsa(let modulus, _): (scheme, signatureByteCount) = (.rsa, modulus.drop { $0 == 0 }.count)
        case .p256: (scheme, signatureByteCount) = (.p256, 64)
        case .ed25519: (scheme, signatureByteCount) = (.ed25519, 64)
        }
    }

    deinit { unsafe EVP_PKEY_free(key) }

    /// Returns whether a signature of some bytes was made with the private key of this one; false too when the library fails.
    ///
    /// - Parameters:
    ///   - signature: As many bytes as the modulus has for RSA; 64 for the curves, and for P-256 `r` and `s` of 32 bytes each
    ///     (RFC 7518, section 3.4). Signatures of other lengths and forms are false.
    ///   - bytes: What was signed.
    package func verifies(_ signature: [UInt8], of bytes: [UInt8]) -> Bool {
        guard signature.count == signatureByteCount else { return false }
        defer { ERR_clear_error() }
        guard let context = unsafe EVP_MD_CTX_new() else { return false }
        defer { unsafe EVP_MD_CTX_free(context) }
        // The library takes ECDSA signatures as DER alone. It refuses numbers of zero and from the order of the curve on.
        let signature =
            scheme == .p256 ? DER.sequence(DER.integer(signature[..<32]) + DER.integer(signature[32...])) : signature
        // Ed25519 has a digest of its own. The padding of RSA is that of PKCS #1 unless another one is asked for.
        let digest: String? = scheme == .ed25519 ? nil : "SHA-256"
        return unsafe EVP_DigestVerifyInit_ex(context, nil, digest, nil, nil, key, nil) == 1
            && EVP_DigestVerify(context, signature, signature.count, bytes, bytes.count) == 1
    }

    // MARK: - Making keys

    /// Returns numbers as a `SubjectPublicKeyInfo` (RFC 5280, 8017, 5480 and 8410); nil for those that are out of bounds.
    private static func info(_ numbers: Numbers) -> [UInt8]? {
        switch numbers {
        case .rsa(let modulus, let exponent):
            guard isOdd(modulus, bits: 2048...8192), isOdd(exponent, bits: 2...32) else { return nil }
            let key = DER.sequence(DER.integer(modulus[...]) + DER.integer(exponent[...]))
            return DER.sequence(DER.sequence(DER.rsaEncryption + DER.null) + DER.bits(key))
        case .p256(let x, let y):
            guard x.count == 32, y.count == 32 else { return nil }
            // 4: the point is not compressed.
            return DER.sequence(DER.sequence(DER.ecPublicKey + DER.prime256v1) + DER.bits([4] + x + y))
        case .ed25519(let point):
            guard point.count == 32 else { return nil }
            return DER.sequence(DER.sequence(DER.ed25519) + DER.bits(point))
        }
    }

    /// Whether a big-endian number is odd and has a number of bits in a range.
    private static func isOdd(_ number: [UInt8], bits: ClosedRange<Int>) -> Bool {
        let digits = number.drop { $0 == 0 }
        guard let first = digits.first, let last = digits.last else { return false }
        return last & 1 == 1 && bits.contains(8 * digits.count - first.leadingZeroBitCount)
    }

    /// Whether the point of a key is on its curve.
    ///
    /// The import has checked one of P-256 already. One of Ed25519 is checked by newer versions of the library only, and an older
    /// one verifies nothing with a point off the curve. Keys of RSA are left out: the library would look whether the modulus is a
    /// prime, which takes a tenth of a second for a long one.
    private static func isSound(_ key: OpaquePointer, _ numbers: Numbers) -> Bool {
        if case .rsa = numbers { return true }
        guard let context = unsafe EVP_PKEY_CTX_new_from_pkey(nil, key, nil) else { return false }
        defer { unsafe EVP_PKEY_CTX_free(context) }
        return unsafe EVP_PKEY_public_check(context) == 1
    }
}

/// The parts of DER (X.690) that keys and signatures are written with.
private enum DER {
    static let rsaEncryption: [UInt8] = [0x06, 0x09, 0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 0x01, 0x01, 0x01]
    static let ecPublicKey: [UInt8] = [0x06, 0x07, 0x2a, 0x86, 0x48, 0xce, 0x3d, 0x02, 0x01]
    static let prime256v1: [UInt8] = [0x06, 0x08, 0x2a, 0x86, 0x48, 0xce, 0x3d, 0x03, 0x01, 0x07]
    static let ed25519: [UInt8] = [0x06, 0x03, 0x2b, 0x65, 0x70]
    static let null: [UInt8] = [0x05, 0x00]

    static func sequence(_ contents: [UInt8]) -> [UInt8] { element(0x30, contents) }

    /// A bit string of whole bytes.
    static func bits(_ bytes: [UInt8]) -> [UInt8] { element(0x03, [0] + bytes) }

    /// A big-endian number without a sign: no zeros in front but one where the first bit would be a sign.
    static func integer(_ number: ArraySlice<UInt8>) -> [UInt8] {
        let digits = number.drop { $0 == 0 }
        return element(0x02, (digits.first ?? 0x80) < 0x80 ? Array(digits) : [0] + digits)
    }

    private static func element(_ tag: UInt8, _ contents: [UInt8]) -> [UInt8] {
        guard contents.count >= 0x80 else { return [tag, UInt8(contents.count)] + contents }
        let length = (0..<8).reversed().map { UInt8(truncatingIfNeeded: contents.count >> (8 * $0)) }.drop { $0 == 0 }
        return [tag, 0x80 | UInt8(length.count)] + length + contents
    }
}
