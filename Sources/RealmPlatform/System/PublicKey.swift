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
        /// An encoded point on the curve Ed25519, 32 bytes, in its only form and not of small order.
        case ed25519([UInt8])
    }

    /// The algorithm of signatures.
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
        guard let parts = PublicKey.parts(numbers), let context = unsafe PublicKey.context(numbers) else { return nil }
        defer { unsafe EVP_PKEY_CTX_free(context) }
        guard let key = unsafe PublicKey.key(parts, context) else { return nil }
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

    /// Returns the name of the algorithm that keys of the kind of some numbers need and the library lacks, as under a configuration of
    /// the library without a provider of it; nil when it has it.
    package static func missingAlgorithm(for numbers: Numbers) -> String? {
        defer { ERR_clear_error() }
        guard let context = unsafe context(numbers) else { return algorithm(of: numbers) }
        unsafe EVP_PKEY_CTX_free(context)
        return nil
    }

    /// Returns whether a signature of some bytes was made with the private key of this one; false too when the library fails.
    ///
    /// - Parameters:
    ///   - signature: As many bytes as the modulus has for RSA; 64 for the curves, and for P-256 `r` and `s` of 32 bytes each
    ///     (RFC 7518, section 3.4). Signatures of other lengths and forms are false.
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

    /// A number or a text that a key is made of, as the library takes it.
    private struct Part {
        let name: StaticString
        let type: Int32
        let bytes: [UInt8]

        init(_ name: StaticString, _ type: Int32, _ bytes: [UInt8]) { (self.name, self.type, self.bytes) = (name, type, bytes) }
    }

    /// Returns what a key of some numbers is made of (`EVP_PKEY-RSA`, `-EC` and `-ED25519` in the manual of the library); nil for
    /// numbers that are out of bounds.
    private static func parts(_ numbers: Numbers) -> [Part]? {
        switch numbers {
        case .rsa(let modulus, let exponent):
            guard isOdd(modulus, bits: 2048...8192), isOdd(exponent, bits: 2...32) else { return nil }
            return [
                Part("n", OSSL_PARAM_UNSIGNED_INTEGER, native(modulus)), Part("e", OSSL_PARAM_UNSIGNED_INTEGER, native(exponent)),
            ]
        case .p256(let x, let y):
            guard x.count == 32, y.count == 32 else { return nil }
            // 4: the point is not compressed.
            return [
                Part("group", OSSL_PARAM_UTF8_STRING, Array("P-256".utf8)), Part("pub", OSSL_PARAM_OCTET_STRING, [4] + x + y),
            ]
        case .ed25519(let point):
            guard EdwardsPoint.isUsable(point) else { return nil }
            return [Part("pub", OSSL_PARAM_OCTET_STRING, point)]
        }
    }

    /// Returns a big-endian number in the byte order of the machine.
    private static func native(_ number: [UInt8]) -> [UInt8] { 1.littleEndian == 1 ? number.reversed() : number }

    /// Returns the library's name of the algorithm of a kind of keys.
    private static func algorithm(of numbers: Numbers) -> String {
        switch numbers {
        case .rsa: return "RSA"
        case .p256: return "EC"
        case .ed25519: return "ED25519"
        }
    }

    /// Returns what makes keys of the kind of some numbers, which the caller frees; nil when the library lacks memory or the
    /// algorithm.
    private static func context(_ numbers: Numbers) -> OpaquePointer? {
        guard let context = unsafe EVP_PKEY_CTX_new_from_name(nil, algorithm(of: numbers), nil) else { return nil }
        guard unsafe EVP_PKEY_fromdata_init(context) == 1 else {
            unsafe EVP_PKEY_CTX_free(context)
            return nil
        }
        return unsafe context
    }

    /// Makes a key of its parts, which the caller frees; nil when the library refuses them.
    private static func key(_ parts: [Part], _ context: OpaquePointer) -> OpaquePointer? {
        // The parts lie one after the other, each with a zero behind it: the library reads texts up to there.
        var bytes = Array(parts.map { $0.bytes + [0] }.joined())
        var key: OpaquePointer?
        unsafe bytes.withUnsafeMutableBytes { bytes in
            var start = 0
            var list = unsafe parts.map { part in
                defer { start += part.bytes.count + 1 }
                // In bounds: the bytes of the parts before and their zeros end at `start`.
                return unsafe OSSL_PARAM(
                    key: UnsafeRawPointer(part.name.utf8Start).assumingMemoryBound(to: CChar.self), data_type: UInt32(part.type),
                    data: bytes.baseAddress.map { unsafe $0 + start }, data_size: part.bytes.count, return_size: 0)
            }
            unsafe list.append(OSSL_PARAM_construct_end())
            // A failure leaves no key.
            _ = unsafe EVP_PKEY_fromdata(context, &key, Int32(realm_rest_public_key), &list)
        }
        return unsafe key
    }

    /// Whether a big-endian number is odd and has a number of bits in a range.
    private static func isOdd(_ number: [UInt8], bits: ClosedRange<Int>) -> Bool {
        let digits = number.drop { $0 == 0 }
        guard let first = digits.first, let last = digits.last else { return false }
        return last & 1 == 1 && bits.contains(8 * digits.count - first.leadingZeroBitCount)
    }

    /// Whether the point of a key is on its curve.
    ///
    /// On P-256 every such point but infinity has the order of the curve, so the quick check leaves out only a multiplication that
    /// shows this again. A point of Ed25519 is checked by newer versions of the library only, and an older one verifies nothing with a
    /// point off the curve. Keys of RSA are left out: the library would look whether the modulus is a prime, which takes a tenth of a
    /// second for a long one.
    private static func isSound(_ key: OpaquePointer, _ numbers: Numbers) -> Bool {
        if case .rsa = numbers { return true }
        guard let context = unsafe EVP_PKEY_CTX_new_from_pkey(nil, key, nil) else { return false }
        defer { unsafe EVP_PKEY_CTX_free(context) }
        if case .p256 = numbers { return unsafe EVP_PKEY_public_check_quick(context) == 1 }
        return unsafe EVP_PKEY_public_check(context) == 1
    }
}

/// Checks of an encoded point on Ed25519 (RFC 8032, section 5.1.2) without computing on the curve.
private enum EdwardsPoint {
    /// The prime of the field less one, big-endian.
    private static let last = [0x7F] + [UInt8](repeating: 0xFF, count: 30) + [0xEC]
    /// A coordinate y of points of order 8. That of the others is the prime less this one.
    private static let eighth: [UInt8] = [
        0x05, 0xFC, 0x53, 0x6D, 0x88, 0x02, 0x38, 0xB1, 0x39, 0x33, 0xC6, 0xD3, 0x05, 0xAC, 0xDF, 0xD5,
        0xF0, 0x98, 0xEF, 0xF2, 0x89, 0xF4, 0xC3, 0x45, 0xB0, 0x27, 0xB2, 0xC2, 0x8F, 0x95, 0xE8, 0x26,
    ]
    private static let otherEighth: [UInt8] = [
        0x7A, 0x03, 0xAC, 0x92, 0x77, 0xFD, 0xC7, 0x4E, 0xC6, 0xCC, 0x39, 0x2C, 0xFA, 0x53, 0x20, 0x2A,
        0x0F, 0x67, 0x10, 0x0D, 0x76, 0x0B, 0x3C, 0xBA, 0x4F, 0xD8, 0x4D, 0x3D, 0x70, 0x6A, 0x17, 0xC7,
    ]
    /// The coordinates y of the eight points of small order: of the orders 4, 1, 2, and 8 twice.
    private static let small = [
        [UInt8](repeating: 0, count: 32), [UInt8](repeating: 0, count: 31) + [1], last, eighth, otherEighth,
    ]

    /// Whether bytes may encode a point that a key can be: y is less than the prime, and the order of the point is not small. With a
    /// key of small order one signature is good for many messages. Whether the point is on the curve is not looked at.
    static func isUsable(_ bytes: [UInt8]) -> Bool {
        guard bytes.count == 32 else { return false }
        var y: [UInt8] = bytes.reversed()
        // The first bit is the sign of x.
        y[0] &= 0x7F
        return !last.lexicographicallyPrecedes(y) && !small.contains(y)
    }
}

/// The parts of DER (X.690) that signatures are written with.
private enum DER {
    static func sequence(_ contents: [UInt8]) -> [UInt8] { element(0x30, contents) }

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
