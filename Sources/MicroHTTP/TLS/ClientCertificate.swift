// SPDX-License-Identifier: Apache-2.0

internal import CTLS
internal import RealmFormats
internal import RealmPlatform
internal import RealmStorage

/// The identity in the certificate that a client has sent.
///
/// It counts only if `isVerified`: anyone can make a certificate with any name.
package struct ClientCertificate: Sendable, Equatable {
    /// The name of the owner as RFC 4514 writes it, such as `CN=loader,O=Example`; empty when it has none that can be shown.
    package var subject: String
    /// The alternative names of the owner, each with its kind in front: `DNS:a.example`, `EMAIL:a@b.example`, `URI:urn:x` or
    /// `IP:192.0.2.1`.
    package var names: [String]
    /// The end of its validity, in seconds since 1970-01-01 UTC. It ends also on a connection that was made before.
    package var expiry: Int64
    /// Whether a configured authority has signed it for clients, and it was valid when it was checked.
    package var isVerified: Bool

    /// Makes a certificate from its content.
    ///
    /// - Parameters:
    ///   - subject: The name of its owner.
    ///   - names: The alternative names, each with its kind.
    ///   - expiry: The end of its validity, in seconds since 1970.
    ///   - isVerified: Whether a known authority has signed it.
    package init(subject: String, names: [String] = [], expiry: Int64, isVerified: Bool) {
        self.subject = subject
        self.names = names
        self.expiry = expiry
        self.isVerified = isVerified
    }

    /// Converts the result of the bridge.
    init(_ peer: realm_rest_peer) {
        subject = ClientCertificate.text(of: peer.subject)
        names = ClientCertificate.text(of: peer.names).split(separator: "\n").map { String($0) }
        expiry = peer.expiry
        isVerified = peer.is_verified != 0
    }

    /// Returns the text in a fixed array of characters, which ends with NUL.
    private static func text<Characters>(of characters: Characters) -> String {
        unsafe withUnsafeBytes(of: characters) { bytes in
            unsafe String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
        }
    }
}
