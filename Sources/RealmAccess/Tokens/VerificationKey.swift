// SPDX-License-Identifier: Apache-2.0

internal import RealmFormats
internal import RealmPlatform
internal import RealmStorage

/// A key of an issuer, checked by the rules of the house and ready to verify signatures.
package struct VerificationKey: Sendable {
    /// The material that verifies signatures.
    private enum Material {
        case published(PublicKey)
        /// A shared secret.
        case secret([UInt8])
    }

    /// The name by which tokens choose it; nil for a key without a name.
    let name: String?
    /// The only algorithm that it is used for.
    let algorithm: TokenAlgorithm
    /// A digest of the key with its name and algorithm, by which keys are compared.
    let fingerprint: [UInt8]
    private let material: Material

    /// The crypto library lacks an algorithm, so that nothing can be said of the key.
    struct MissingAlgorithm: Error {
        /// The library's name of the algorithm.
        let name: String
    }

    /// The shortest secret in bytes: that of the digest, as RFC 7518 demands.
    static let minimumSecretByteCount = 32
    /// The longest secret in bytes.
    static let maximumSecretByteCount = 4096

    /// Makes a key of a shared secret.
    ///
    /// - Parameter secret: The secret, at least `minimumSecretByteCount` bytes.
    /// - Throws: `MissingAlgorithm` when the crypto library cannot verify with it.
    init(secret: [UInt8]) throws(MissingAlgorithm) {
        name = nil
        algorithm = .hs256
        do throws(StorageError) {
            fingerprint = try FileDigest.sha256(Array("HS256\n".utf8) + secret)
            _ = try AuthenticationContext.sha256(of: [], by: secret)
        } catch {
            throw MissingAlgorithm(name: "HMAC with SHA-256")
        }
        material = .secret(secret)
    }

    /// Reads a member of a set of keys (RFC 7517); nil for keys that cannot be used here.
    ///
    /// Those are: keys of other types and for other uses, private and shared ones, which have no business in a set that
    /// is published, and such that are too short or malformed.
    ///
    /// - Parameters:
    ///   - json: The member.
    ///   - known: Keys that are taken instead of making the same one again, by their fingerprints.
    /// - Throws: `MissingAlgorithm` when the crypto library cannot verify with such keys.
    init?(_ json: JSONValue, knowing known: [[UInt8]: VerificationKey]) throws(MissingAlgorithm) {
        guard let key = json.object, VerificationKey.isForSignatures(key) else { return nil }
        let name = key.member(exactly: "kid")
        guard name == nil || name?.string != nil else { return nil }
        guard ["d", "dp", "dq", "k", "oth", "p", "q", "qi"].allSatisfy({ key.member(exactly: $0) == nil }) else { return nil }
        guard let (algorithm, numbers, texts) = VerificationKey.numbers(key) else { return nil }
        if let stated = key.member(exactly: "alg") {
            guard let text = stated.string, TokenAlgorithm(name: text) == algorithm else { return nil }
        }
        // No part can have a line break but the name, which comes last.
        let text = (["\(algorithm)"] + texts + [name?.string.map { "=" + $0 } ?? ""]).joined(separator: "\n")
        guard let fingerprint = try? FileDigest.sha256(Array(text.utf8)) else { throw MissingAlgorithm(name: "SHA-256") }
        if let same = known[fingerprint] {
            self = same
            return
        }
        guard let published = PublicKey(numbers) else {
            if let missing = PublicKey.missingAlgorithm(for: numbers) { throw MissingAlgorithm(name: missing) }
            return nil
        }
        self.name = name?.string
        self.algorithm = algorithm
        self.fingerprint = fingerprint
        material = .published(published)
    }

    /// Returns whether a token was signed with this key. The result takes no time from which the key could be learned.
    func verifies(_ token: CompactToken) -> Bool {
        guard token.algorithm == algorithm else { return false }
        switch material {
        case .published(let key): return key.verifies(token.signature, of: token.signedBytes)
        case .secret(let secret): return SecretDigest.isCode(token.signature, of: token.signedBytes, by: secret)
        }
    }

    // MARK: - Reading

    /// Whether a key does not say that it is for something other than verifying signatures.
    private static func isForSignatures(_ key: JSONObject) -> Bool {
        if let use = key.member(exactly: "use"), use != .string("sig") { return false }
        guard let operations = key.member(exactly: "key_ops") else { return true }
        return operations.array?.contains(.string("verify")) ?? false
    }

    /// Reads the numbers of a public key, and their texts; nil when it is of another type or malformed.
    private static func numbers(_ key: JSONObject) -> (algorithm: TokenAlgorithm, numbers: PublicKey.Numbers, texts: [String])? {
        func text(_ name: String) -> String? { key.member(exactly: name)?.string }
        switch text("kty") {
        case "RSA":
            guard let n = text("n"), let e = text("e"), let modulus = bytes(n, 4096), let exponent = bytes(e, 16) else {
                return nil
            }
            return (.rs256, .rsa(modulus: modulus, exponent: exponent), [n, e])
        case "EC":
            guard text("crv") == "P-256", let x = text("x"), let y = text("y"), let first = bytes(x, 43),
                let second = bytes(y, 43)
            else { return nil }
            return (.es256, .p256(x: first, y: second), [x, y])
        case "OKP":
            guard text("crv") == "Ed25519", let x = text("x"), let point = bytes(x, 43) else { return nil }
            return (.edDSA, .ed25519(point), [x])
        default: return nil
        }
    }

    /// Decodes a text of a greatest length.
    private static func bytes(_ text: String, _ limit: Int) -> [UInt8]? {
        text.utf8.count <= limit ? Base64.decode(text, .url) : nil
    }
}
