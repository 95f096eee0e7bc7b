// SPDX-License-Identifier: Apache-2.0

internal import RealmFormats
internal import RealmPlatform
internal import RealmStorage

/// Why a start is refused, in the same words whether a configuration is checked or a server starts with it.
package enum StartRefusal {
    /// Why an address is refused for clients without `isInsecure`.
    package static func exposure(of address: String) -> String {
        "\(address) can be reached from elsewhere and no credentials are configured; "
            + "make one with realm-rest keys add, or say --insecure to let everybody there read"
    }

    /// Why an address is refused for administrators.
    package static func adminExposure(of address: String) -> String {
        "\(address) can be reached from elsewhere, and there are no credentials yet: only loopback or a Unix socket will do"
    }

    /// Why an encrypted listener is refused.
    package static func missingCertificate(of address: String) -> String {
        "\(address): there is no certificate for TLS; name one by tls.certificate and tls.key, or say --tls-self-signed for a trial"
    }

    /// Why a folder cannot be used that does not exist.
    package static func missingFolder(_ folder: String) -> String { "\(folder): there is no such folder" }
}
