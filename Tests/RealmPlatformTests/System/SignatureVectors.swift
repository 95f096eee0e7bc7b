// SPDX-License-Identifier: Apache-2.0

import Foundation
import RealmPlatform
import RealmStorage
import RealmTestSupport

/// Signatures of others, good and hostile, with what has to be said of each. `Vectors/signatures.py` names the sources.
struct SignatureVectors {
    /// What a signature is verified with.
    enum Key {
        case published(PublicKey.Numbers)
        case secret([UInt8])

        /// Whether a signature is good; nil when there is no such key.
        func verifies(_ signature: [UInt8], of message: [UInt8]) -> Bool? {
            switch self {
            case .published(let numbers): return PublicKey(numbers)?.verifies(signature, of: message)
            case .secret(let secret): return SecretDigest.isCode(signature, of: message, by: secret)
            }
        }
    }

    /// A signature.
    struct Case {
        let key: Key
        let isGood: Bool
        let message: [UInt8]
        let signature: [UInt8]
        let comment: String
    }

    struct Failure: Error { let line: String }

    static let kept = Result { try read() }

    private static func read() throws -> [Case] {
        let path = Fixtures.packageRoot.appendingPathComponent("Tests/RealmPlatformTests/System/Vectors/signatures.txt")
        var key: Key?
        var cases: [Case] = []
        for line in try String(contentsOf: path, encoding: .utf8).split(separator: "\n") where !line.hasPrefix("#") {
            let words = line.split(separator: " ", maxSplits: 3, omittingEmptySubsequences: false).map(String.init)
            let bytes = words[1...].prefix(2).map { $0 == "." ? [] : Base64.decode($0, .url) }
            switch (words[0], bytes.first ?? nil, bytes.last ?? nil) {
            case ("rsa", let modulus?, let exponent?): key = .published(.rsa(modulus: modulus, exponent: exponent))
            case ("p256", let x?, let y?): key = .published(.p256(x: x, y: y))
            case ("ed25519", let point?, _): key = .published(.ed25519(point))
            case ("hmac", let secret?, _): key = .secret(secret)
            case (let outcome, let message?, let signature?):
                guard let key, outcome == "valid" || outcome == "invalid" else { throw Failure(line: String(line)) }
                cases.append(
                    Case(key: key, isGood: outcome == "valid", message: message, signature: signature, comment: words[3]))
            default: throw Failure(line: String(line))
            }
        }
        return cases
    }

    /// The numbers of the key of the first signature whose comment begins with a text.
    static func numbers(_ comment: String) throws -> PublicKey.Numbers {
        for one in try kept.get() {
            if one.comment.hasPrefix(comment), case .published(let numbers) = one.key { return numbers }
        }
        throw Failure(line: comment)
    }
}
