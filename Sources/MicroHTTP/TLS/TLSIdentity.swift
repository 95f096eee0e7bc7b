// SPDX-License-Identifier: Apache-2.0

internal import CTLS
internal import RealmFormats
internal import RealmPlatform
internal import RealmStorage

/// A certificate of the server with its chain and its private key.
///
/// `@unchecked Sendable`: the object of the library that `pointer` leads to never changes.
@safe package final class TLSIdentity: @unchecked Sendable {
    /// The object of the library, which this one owns.
    let pointer: OpaquePointer
    /// The names and addresses that the certificate is for, in lower case.
    let names: [String]
    /// The earliest end of validity in the chain of certificates, in seconds since 1970.
    let expiry: Int64
    /// The beginning of the certificate's validity, in seconds since 1970.
    let beginning: Int64

    /// The number of characters that the reason of a failure may have.
    static let failureRoom = 256
    /// The number of names of a certificate that count.
    private static let nameLimit: UInt32 = 1000

    /// Reads a certificate and its key.
    ///
    /// - Parameters:
    ///   - chain: The certificate and those that lead to its authority, PEM.
    ///   - key: The private key, PEM.
    ///   - path: The file of the certificate, for the failure.
    /// - Throws: `TLSFailure` when they cannot be read or do not belong together.
    init(chain: [UInt8], key: [UInt8], from path: String) throws(TLSFailure) {
        var failure = [CChar](repeating: 0, count: TLSIdentity.failureRoom)
        guard let pointer = unsafe realm_rest_identity_new(chain, chain.count, key, key.count, &failure, failure.count) else {
            throw TLSFailure(description: "\(path): \(TLSIdentity.text(failure))")
        }
        unsafe self.pointer = unsafe pointer
        names = unsafe TLSIdentity.names(of: pointer)
        expiry = unsafe realm_rest_identity_expiry(pointer)
        beginning = unsafe realm_rest_identity_beginning(pointer)
    }

    deinit { unsafe realm_rest_identity_free(pointer) }

    /// Makes a certificate for trials, which is its own authority and holds for 90 days.
    ///
    /// - Parameter names: The host names and addresses that it is for.
    /// - Throws: `TLSFailure` when the library cannot make it.
    static func selfSigned(for names: [String]) throws(TLSFailure) -> TLSIdentity {
        let list = names.map { $0.hasPrefix("[") ? String($0.dropFirst().dropLast()) : $0 }.joined(separator: "\n")
        var text = [CChar](repeating: 0, count: 64 << 10)
        let now = WallClock.now().nanoseconds / 1_000_000_000
        let count = unsafe realm_rest_make_certificate(list, now, 90 * 86_400, &text, text.count)
        guard count > 0 else { throw TLSFailure(description: "no certificate can be made for trials") }
        let bytes = text[0..<count].map { UInt8(bitPattern: $0) }
        return try TLSIdentity(chain: bytes, key: bytes, from: "the certificate for trials")
    }

    /// The SHA-256 digest of the certificate, as tools show it: pairs of digits with colons between them.
    var fingerprint: String {
        var digest = [UInt8](repeating: 0, count: 32)
        guard unsafe realm_rest_identity_digest(pointer, &digest) != 0 else { return "" }
        return digest.map { ($0 < 16 ? "0" : "") + String($0, radix: 16, uppercase: true) }.joined(separator: ":")
    }

    /// Reads the names of a certificate.
    private static func names(of pointer: OpaquePointer) -> [String] {
        var room = [CChar](repeating: 0, count: 1040)
        var names: [String] = []
        for number in 0..<nameLimit {
            guard unsafe realm_rest_identity_name(pointer, number, &room, room.count) > 0 else { break }
            names.append(text(room).lowercasedASCII)
        }
        return names
    }

    /// Returns the text in an array of characters, which ends with NUL.
    static func text(_ characters: [CChar]) -> String {
        String(decoding: characters.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }
}
