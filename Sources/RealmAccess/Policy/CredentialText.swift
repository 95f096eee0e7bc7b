// SPDX-License-Identifier: Apache-2.0

internal import RealmFormats
internal import RealmPlatform
internal import RealmStorage

/// The credential in the header field `Authorization` of a request.
enum CredentialText: Sendable {
    case key(APIKeyText)
    /// A token of another kind, which a `BearerVerifier` knows.
    case token(String)
    /// An API key with a mistake.
    case mistyped
    /// Nothing that this server understands.
    case malformed

    /// Reads the value of the header field: `Bearer TOKEN`, or `Basic` with the user `key` and an API key as the password.
    init(_ value: String) {
        let bytes = Array(value.utf8)
        guard let blank = bytes.firstIndex(of: 0x20), let start = bytes[blank...].firstIndex(where: { $0 != 0x20 }) else {
            self = .malformed
            return
        }
        let rest = bytes[start...]
        if CredentialText.isWord(bytes[..<blank], "bearer") {
            self.init(token: rest)
        } else if CredentialText.isWord(bytes[..<blank], "basic") {
            self.init(basic: rest)
        } else {
            self = .malformed
        }
    }

    /// Reads the text behind `Bearer`.
    private init(token bytes: ArraySlice<UInt8>) {
        switch APIKeyText.read(bytes) {
        case .key(let key): self = .key(key)
        case .mistyped: self = .mistyped
        case .other:
            self = bytes.allSatisfy { (0x21...0x7e).contains($0) } ? .token(String(decoding: bytes, as: UTF8.self)) : .malformed
        }
    }

    /// Reads the text behind `Basic`. Only API keys are accepted there.
    private init(basic bytes: ArraySlice<UInt8>) {
        let user = Array("key:".utf8)
        guard let plain = Base64.decode(String(decoding: bytes, as: UTF8.self)), plain.starts(with: user) else {
            self = .malformed
            return
        }
        switch APIKeyText.read(plain[user.count...]) {
        case .key(let key): self = .key(key)
        case .mistyped: self = .mistyped
        case .other: self = .malformed
        }
    }

    /// Returns whether bytes are a word, without regard to case.
    private static func isWord(_ bytes: ArraySlice<UInt8>, _ word: String) -> Bool {
        bytes.elementsEqual(word.utf8) { ($0 | 0x20) == $1 }
    }
}
