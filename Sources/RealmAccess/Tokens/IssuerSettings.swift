// SPDX-License-Identifier: Apache-2.0

internal import RealmFormats
internal import RealmPlatform
internal import RealmStorage

/// An issuer of tokens: the requirements for its tokens, the source of its keys, and the rights of its tokens.
package struct IssuerSettings: Sendable, Equatable {
    /// The source of the keys of an issuer.
    package enum Source: Sendable, Equatable {
        /// A file with a set of public keys, which is read again when it has changed.
        case file(String)
        /// The address of a set of public keys, which is read again from time to time.
        case url(KeyAddress)
        /// A file with a shared secret.
        case secretFile(String)
    }

    /// The exact text of the claim `iss`.
    package let issuer: String
    /// The audiences of which a token has to name one.
    package let audiences: [String]
    /// The source of the keys.
    package let source: Source
    /// The path of a file with the only authorities whose certificates are trusted for the address of the keys; nil
    /// for those of the system.
    package var certificateAuthority: String?
    /// The roles that all tokens of the issuer hold.
    package var roles: [String] = []
    /// The path to the claim with additional roles, of names with dots between them; nil for none.
    package var rolesPath: String?
    /// The path to the claim with the subject.
    package var subjectPath = "sub"

    package static let countLimit = 32

    /// Makes the settings of an issuer.
    ///
    /// - Parameters:
    ///   - issuer: The exact text of the claim `iss`.
    ///   - audiences: The audiences of which a token has to name one.
    ///   - source: The source of the keys.
    package init(issuer: String, audiences: [String], source: Source) {
        self.issuer = issuer
        self.audiences = audiences
        self.source = source
    }

    /// Whether the algorithms of a kind of source are those of a token. An issuer with public keys never verifies with a secret,
    /// so that a public key cannot be used as one.
    func allows(_ algorithm: TokenAlgorithm) -> Bool {
        if case .secretFile = source { return algorithm == .hs256 }
        return algorithm != .hs256
    }

    /// The member of the configuration that names the source.
    package var sourceMember: String {
        if case .secretFile = source { return "secretFile" }
        return "jwks"
    }

    /// Whether the keys are fetched from elsewhere.
    package var isRemote: Bool {
        if case .url = source { return true }
        return false
    }

    /// Whether the keys are published, so that they may change at any time.
    var isPublished: Bool {
        if case .secretFile = source { return false }
        return true
    }

    /// Whether other settings have the keys from the same place.
    func hasSource(of other: IssuerSettings) -> Bool {
        source == other.source && certificateAuthority == other.certificateAuthority
    }
}
