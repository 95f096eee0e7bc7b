// SPDX-License-Identifier: Apache-2.0

internal import RealmFormats
internal import RealmPlatform
internal import RealmStorage

/// The options of encrypted connections: certificates, client certificates, and HSTS.
package struct TLSOptions: Sendable, Equatable {
    /// The files of a certificate, in PEM form.
    package struct Pair: Sendable, Equatable {
        /// The path of the certificate, followed in the same file by those that lead to its authority.
        package var certificate: String
        /// The path of its private key.
        package var key: String

        /// Names the files of a certificate.
        package init(certificate: String, key: String) {
            self.certificate = certificate
            self.key = key
        }
    }

    /// The path of the certificate for clients that name no host, or one that no other certificate has.
    package var certificate: String?
    /// The path of the key of `certificate`.
    package var key: String?
    /// Additional certificates, which are chosen by the names in them.
    package var certificates: [Pair] = []
    /// Whether the server makes a certificate for trials, which no client trusts by default.
    package var isSelfSigned = false
    /// The max-age of HSTS in seconds; nil to send none.
    package var strictSeconds: Int?
    /// The path of the certificates of authorities whose clients are recognised by their certificate;
    /// nil to ask clients for none.
    package var clientAuthorities: String?

    /// Makes the options of a server without encrypted connections.
    package init() {}

    /// Whether there is anything that a connection can be encrypted with.
    package var isOn: Bool { certificate != nil || !certificates.isEmpty || isSelfSigned }

    /// All pairs of files, the one for clients that name no known host first.
    package var pairs: [Pair] {
        guard let certificate, let key else { return certificates }
        return [Pair(certificate: certificate, key: key)] + certificates
    }
}
