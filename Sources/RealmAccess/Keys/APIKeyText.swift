// SPDX-License-Identifier: Apache-2.0

internal import RealmFormats
internal import RealmPlatform
internal import RealmStorage

/// An API key as its holder has it: `rr_<id>_<secret>`.
///
/// | digits | |
/// |---|---|
/// | `rr_` | by which tools that search for secrets recognise it |
/// | 8 | the id, which is no secret |
/// | `_` | |
/// | 43 | the secret: random digits to the base 62, which have 256 bits |
/// | 1 | the check digit over id and secret (ISO 7064, hybrid system, modulus 63,62) |
package struct APIKeyText: Sendable {
    /// The result of parsing text.
    package enum Reading: Sendable {
        /// A key whose check digit fits.
        case key(APIKeyText)
        /// A key with a mistake.
        case mistyped
        case other
    }

    /// The whole text.
    private let bytes: [UInt8]

    /// The digits in the order of their values.
    private static let digits = Array("0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz".utf8)
    /// The beginning of every key.
    private static let prefix = Array("rr_".utf8)
    /// The number of digits of an id.
    private static let idCount = 8
    /// The number of random digits of a secret.
    private static let secretCount = 43
    private static let secretStart = prefix.count + idCount + 1
    /// The length of every key.
    package static let byteCount = secretStart + secretCount + 1

    /// Makes a new key.
    ///
    /// - Parameter id: The id; nil for a new one.
    package init(id: String? = nil) {
        // The generator of the system is made for secrets.
        var generator = SystemRandomNumberGenerator()
        func random(_ count: Int) -> [UInt8] {
            (0..<count).map { _ in APIKeyText.digits[Int.random(in: 0..<62, using: &generator)] }
        }
        let name = id.map { Array($0.utf8) } ?? random(APIKeyText.idCount)
        let secret = random(APIKeyText.secretCount)
        bytes = APIKeyText.prefix + name + [UInt8(ascii: "_")] + secret + [APIKeyText.checkDigit(name[...], secret[...])]
    }

    /// Takes over a text that was checked.
    private init(checked bytes: [UInt8]) { self.bytes = bytes }

    /// Parses text.
    ///
    /// - Parameter bytes: Text that may be a key.
    /// - Returns: The key, or the error in the text.
    package static func read(_ bytes: ArraySlice<UInt8>) -> Reading {
        guard bytes.starts(with: prefix) else { return .other }
        let bytes = Array(bytes)
        guard bytes.count == byteCount, bytes[secretStart - 1] == UInt8(ascii: "_") else { return .mistyped }
        let digit = checkDigit(bytes[prefix.count..<secretStart - 1], bytes[secretStart..<byteCount - 1])
        guard digit == bytes[byteCount - 1] else { return .mistyped }
        return .key(APIKeyText(checked: bytes))
    }

    /// Parses text in an array.
    package static func read(_ bytes: [UInt8]) -> Reading { read(bytes[...]) }

    /// Returns the check digit of the digits of an id and a secret; 0, which is no digit, when one of them is none.
    private static func checkDigit(_ id: ArraySlice<UInt8>, _ secret: ArraySlice<UInt8>) -> UInt8 {
        guard let product = product(secret, after: product(id, after: 62)) else { return 0 }
        return digits[(63 - product) % 62]
    }

    /// Continues the product of the check digit over more digits; nil when one of the bytes is not a digit.
    private static func product(_ bytes: ArraySlice<UInt8>, after first: Int?) -> Int? {
        guard var product = first else { return nil }
        for byte in bytes {
            guard let value = value(of: byte) else { return nil }
            let sum = (product + value) % 62
            product = (sum == 0 ? 62 : sum) * 2 % 63
        }
        return product
    }

    /// Returns the value of a digit; nil for any other character.
    private static func value(of byte: UInt8) -> Int? {
        switch byte {
        case 0x30...0x39: return Int(byte) - 0x30
        case 0x41...0x5a: return Int(byte) - 0x41 + 10
        case 0x61...0x7a: return Int(byte) - 0x61 + 36
        default: return nil
        }
    }

    /// Returns whether a text has the form of an id.
    package static func isID(_ text: String) -> Bool {
        text.utf8.count == idCount && text.utf8.allSatisfy { value(of: $0) != nil }
    }

    /// The key as text, which is shown once.
    package var text: String { String(decoding: bytes, as: UTF8.self) }
    package var id: String { String(decoding: bytes[APIKeyText.prefix.count..<APIKeyText.secretStart - 1], as: UTF8.self) }

    /// The bytes of the id as one number, by which keys are looked up.
    var idWord: UInt64 { APIKeyText.word(bytes[APIKeyText.prefix.count..<APIKeyText.secretStart - 1]) }

    /// Returns the bytes of an id as one number.
    static func word(_ bytes: some Sequence<UInt8>) -> UInt64 { bytes.reduce(0) { $0 << 8 | UInt64($1) } }

    /// The SHA-256 of the secret with its check digit, which is all that is stored of it.
    package var digest: [UInt8] { SecretDigest.sha256(Array(bytes[APIKeyText.secretStart...])) }
}
