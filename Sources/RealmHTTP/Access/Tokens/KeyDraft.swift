// SPDX-License-Identifier: Apache-2.0

internal import JWTKit
internal import RealmStorage

/// A key as its source states it, checked by the rules of the house, before the library has seen it.
struct KeyDraft: Sendable {
    /// The numbers of a key.
    private enum Material {
        /// A public key.
        case published(JWK)
        /// A shared secret.
        case secret([UInt8])
    }

    /// The name by which tokens choose it; nil for a key without a name.
    private let name: String?
    /// The only algorithm that it may be used for.
    private let algorithm: TokenAlgorithm
    /// A digest of all of it.
    private let fingerprint: [UInt8]
    private let material: Material

    /// The shortest secret in bytes: that of the digest, as RFC 7518 demands.
    static let minimumSecretByteCount = 32
    /// The longest secret in bytes.
    static let maximumSecretByteCount = 4096
    /// The lengths of RSA keys in bits that are used. Longer ones would take long to verify with.
    private static let modulusBits = 2048...8192
    /// The name of a key while the library holds it.
    private static let label = JWKIdentifier(string: "key")

    /// Makes a key of a shared secret.
    ///
    /// - Parameter secret: The secret, at least `minimumSecretByteCount` bytes.
    init(secret: [UInt8]) throws(StorageError) {
        name = nil
        algorithm = .hs256
        fingerprint = try FileDigest.sha256(Array("HS256\n".utf8) + secret)
        material = .secret(secret)
    }

    /// Reads a member of a set of keys (RFC 7517); nil for keys that cannot be used here.
    ///
    /// Those are: keys of other types and for other uses, private and shared ones, which have no business in a set that
    /// is published, and such that are too short or malformed.
    init?(_ json: JSONValue) {
        guard let key = json.object, KeyDraft.isForSignatures(key) else { return nil }
        let name = key.member(exactly: "kid")
        guard name == nil || name?.string != nil else { return nil }
        guard ["d", "k", "p", "q", "oth"].allSatisfy({ key.member(exactly: $0) == nil }) else { return nil }
        guard let (algorithm, jwk, numbers) = KeyDraft.publicKey(key) else { return nil }
        if let stated = key.member(exactly: "alg") {
            guard let text = stated.string, TokenAlgorithm(name: text) == algorithm else { return nil }
        }
        // No part can have a line break but the name, which comes last.
        let text = (["\(algorithm)"] + numbers + [name?.string.map { "=" + $0 } ?? ""]).joined(separator: "\n")
        guard let fingerprint = try? FileDigest.sha256(Array(text.utf8)) else { return nil }
        self.name = name?.string
        self.algorithm = algorithm
        self.fingerprint = fingerprint
        material = .published(jwk)
    }

    /// Whether a key does not say that it is for something other than verifying signatures.
    private static func isForSignatures(_ key: JSONObject) -> Bool {
        if let use = key.member(exactly: "use"), use != .string("sig") { return false }
        guard let operations = key.member(exactly: "key_ops") else { return true }
        return operations.array?.contains(.string("verify")) ?? false
    }

    /// Reads the numbers of a public key; nil when it is of another type, too short or malformed.
    private static func publicKey(_ key: JSONObject) -> (algorithm: TokenAlgorithm, jwk: JWK, numbers: [String])? {
        func text(_ name: String) -> String? { key.member(exactly: name)?.string }
        switch text("kty") {
        case "RSA":
            guard let modulus = text("n"), let exponent = text("e"), isModulus(modulus), isExponent(exponent) else { return nil }
            return (.rs256, .rsa(.rs256, identifier: label, modulus: modulus, exponent: exponent), [modulus, exponent])
        case "EC":
            guard text("crv") == "P-256", let x = text("x"), let y = text("y"), byteCount(x) == 32, byteCount(y) == 32 else {
                return nil
            }
            return (.es256, .ecdsa(.es256, identifier: label, x: x, y: y, curve: .p256), [x, y])
        case "OKP":
            guard text("crv") == "Ed25519", let x = text("x"), byteCount(x) == 32 else { return nil }
            return (.edDSA, .octetKeyPair(.eddsa, identifier: label, x: x, y: nil, curve: .ed25519), [x])
        default: return nil
        }
    }

    /// The number of bytes that a text is the base64 of; nil for other texts.
    private static func byteCount(_ text: String) -> Int? { Base64.decode(text, .url)?.count }

    /// Whether a text is a number of as many bits as an RSA key has to have.
    private static func isModulus(_ text: String) -> Bool {
        guard text.utf8.count <= 4096, let bytes = Base64.decode(text, .url)?.drop(while: { $0 == 0 }), let first = bytes.first
        else { return false }
        return modulusBits.contains(8 * bytes.count - first.leadingZeroBitCount)
    }

    /// Whether a text is an odd number from 3 on with at most 32 bits.
    private static func isExponent(_ text: String) -> Bool {
        guard text.utf8.count <= 16, let bytes = Base64.decode(text, .url)?.drop(while: { $0 == 0 }), bytes.count <= 4 else {
            return false
        }
        let number = bytes.reduce(0) { $0 << 8 | UInt64($1) }
        return number >= 3 && number & 1 == 1
    }

    /// Has the library make keys of drafts; those that it refuses are left out.
    static func keys(_ drafts: [KeyDraft]) -> [VerificationKey] {
        WaitingExecutor.run {
            var keys: [VerificationKey] = []
            for draft in drafts {
                if let key = await draft.key() { keys.append(key) }
            }
            return keys
        }
    }

    /// Has the library make the key; nil when it refuses, for example a point that is not on its curve.
    private func key() async -> VerificationKey? {
        let collection = JWTKeyCollection()
        switch material {
        case .published(let jwk): guard (try? await collection.add(jwk: jwk)) != nil else { return nil }
        case .secret(let bytes):
            await collection.add(hmac: HMACKey(from: bytes), digestAlgorithm: .sha256, kid: KeyDraft.label)
        }
        guard let signer = try? await collection.getKey(for: KeyDraft.label) else { return nil }
        return VerificationKey(name: name, algorithm: algorithm, fingerprint: fingerprint, signer: signer)
    }
}
