// SPDX-License-Identifier: Apache-2.0

internal import COpenSSL

/// Digests of secrets, and their comparison, by the crypto library.
package enum SecretDigest {
    /// Returns the SHA-256 of bytes, which has 32 bytes; none when the crypto library fails, so that it equals no stored digest.
    ///
    /// The secrets of this server are random, so they need no slow digest.
    package static func sha256(_ bytes: [UInt8]) -> [UInt8] { (try? DigestContext.digest(of: bytes)) ?? [] }

    /// Returns whether two texts have equal bytes, in a time that depends on their lengths alone.
    package static func areEqual(_ one: String, _ other: String) -> Bool {
        var (one, other) = (one, other)
        guard one.utf8.count == other.utf8.count else { return false }
        return one.withUTF8 { left in
            other.withUTF8 { right in unsafe CRYPTO_memcmp(left.baseAddress, right.baseAddress, left.count) == 0 }
        }
    }

    /// Returns whether two byte strings are equal and not empty, in a time that depends on their lengths alone.
    package static func areEqual(_ one: [UInt8], _ other: [UInt8]) -> Bool {
        guard one.count == other.count, !one.isEmpty else { return false }
        return unsafe one.withUnsafeBytes { left in
            unsafe other.withUnsafeBytes { right in unsafe CRYPTO_memcmp(left.baseAddress, right.baseAddress, left.count) == 0 }
        }
    }

    /// Returns whether a code is the HMAC-SHA-256 of bytes by a secret, in a time that depends on lengths alone; false too when the
    /// crypto library fails.
    package static func isCode(_ code: [UInt8], of bytes: [UInt8], by secret: [UInt8]) -> Bool {
        guard let expected = try? AuthenticationContext.sha256(of: bytes, by: secret) else { return false }
        return areEqual(code, expected)
    }
}
