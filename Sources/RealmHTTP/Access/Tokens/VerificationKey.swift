// SPDX-License-Identifier: Apache-2.0

internal import JWTKit
internal import RealmStorage

/// A key of an issuer, ready to verify signatures.
struct VerificationKey: Sendable {
    /// The name by which tokens choose it; nil for a key without a name.
    let name: String?
    /// The only algorithm that it is used for.
    let algorithm: TokenAlgorithm
    /// A digest of the key with its name and algorithm, by which keys are compared.
    let fingerprint: [UInt8]
    /// The key in the words of the library.
    let signer: any JWTAlgorithm

    /// Returns whether a signature was made with this key. The result takes no time from which the key could be learned.
    func verifies(_ token: CompactToken) -> Bool {
        // An error of the library means that it could not read the signature.
        (try? signer.verify(token.signature, signs: token.signedBytes)) ?? false
    }
}
