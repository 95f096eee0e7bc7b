// SPDX-License-Identifier: Apache-2.0

internal import RealmFormats
internal import RealmPlatform
internal import RealmStorage

/// The algorithms by which tokens may be signed. There is none for unsigned tokens.
package enum TokenAlgorithm: Sendable, Equatable {
    /// RSA of PKCS #1 with SHA-256.
    case rs256
    /// ECDSA on the curve P-256 with SHA-256.
    case es256
    /// EdDSA on the curve Ed25519.
    case edDSA
    /// HMAC with SHA-256 and a shared secret.
    case hs256

    /// Reads the member `alg` of a header or of a key; nil for all other names. Capitals count.
    init?(name: String) {
        switch Array(name.utf8) {
        case Array("RS256".utf8): self = .rs256
        case Array("ES256".utf8): self = .es256
        // RFC 9864 adds a separate name for the algorithm.
        case Array("EdDSA".utf8), Array("Ed25519".utf8): self = .edDSA
        case Array("HS256".utf8): self = .hs256
        default: return nil
        }
    }
}
