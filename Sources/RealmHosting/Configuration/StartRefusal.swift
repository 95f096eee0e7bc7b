// SPDX-License-Identifier: Apache-2.0

internal import RealmFormats
internal import RealmPlatform
internal import RealmStorage

/// The reasons to refuse a start, in the same words for checking a configuration and for starting a server.
package enum StartRefusal {
    /// The reason to refuse an address for clients without `isInsecure`.
    package static func exposure(of address: String) -> String {
        "\(address) can be reached from elsewhere and no credentials are configured; "
            + "make one with realm-rest keys add, or pass --insecure to let anonymous clients read"
    }

    /// The reason to refuse an address for administrators.
    package static func adminExposure(of address: String) -> String {
        "\(address) can be reached from elsewhere, and there are no credentials yet: only loopback or a Unix socket is permitted"
    }

    /// The reason to refuse an encrypted listener.
    package static func missingCertificate(of address: String) -> String {
        "\(address): no certificate for TLS; name one by tls.certificate and tls.key, or pass --tls-self-signed for a trial"
    }

    /// The reason to refuse a folder that does not exist.
    package static func missingFolder(_ folder: String) -> String { "\(folder): there is no such folder" }
}
