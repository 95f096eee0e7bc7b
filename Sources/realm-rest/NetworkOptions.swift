// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
internal import RealmFormats
import RealmHTTP
internal import RealmHosting
internal import RealmPlatform
internal import RealmStorage

/// The options of `serve` for listeners, encryption and proxies.
struct NetworkOptions: ParsableArguments {
    /// The places at which the server listens, in the place of `--host` and `--port`.
    @Option(
        name: .customLong("listen"),
        help: ArgumentHelp(
            "A port or a Unix socket to listen on, instead of --host and --port. May be given several times. ,tls and "
                + ",plain say whether connections are encrypted; ,mode=660 ,owner=NAME ,group=NAME who may open a Unix socket.",
            valueName: "HOST:PORT|unix:PATH"))
    var listeners: [String] = []

    /// The path of the certificate; nil for none.
    @Option(help: ArgumentHelp("The certificate for TLS with its chain, PEM. Read again when it changes.", valueName: "FILE"))
    var tlsCertificate: String?

    /// The path of the key of the certificate; nil for none.
    @Option(help: ArgumentHelp("The private key of the certificate, PEM.", valueName: "FILE"))
    var tlsKey: String?

    /// Whether the server makes a certificate for trials.
    @Flag(help: "Make a certificate for trials, for localhost, the addresses listened on and the names of --allow-host.")
    var tlsSelfSigned = false

    /// The max-age of HSTS; nil to send none.
    @Option(help: ArgumentHelp("The HSTS max-age, for which browsers use https only, such as 1y.", valueName: "TIME"))
    var tlsHsts: String?

    /// The path of the authorities for certificates of clients; nil to ask clients for none.
    @Option(
        name: .customLong("tls-client-ca"),
        help: ArgumentHelp("Ask clients for certificates of these authorities, PEM; none is demanded.", valueName: "FILE"))
    var tlsClientCA: String?

    /// The addresses of trusted proxies.
    @Option(
        name: .customLong("trusted-proxy"),
        help: ArgumentHelp(
            "A proxy whose Forwarded or X-Forwarded-For names the client, for limits and logs. May be given several times.",
            valueName: "ADDRESS|CIDR|unix"))
    var proxies: [String] = []

    /// Adds the options that are given to a configuration.
    func apply(to configuration: inout Configuration) throws(ConfigurationError) {
        let texts = [
            ("tls-certificate", tlsCertificate), ("tls-key", tlsKey), ("tls-hsts", tlsHsts), ("tls-client-ca", tlsClientCA),
        ]
        for (name, value) in texts { if let value { try configuration.apply(option: name, .string(value)) } }
        if tlsSelfSigned { try configuration.apply(option: "tls-self-signed", .bool(true)) }
        for (name, values) in [("listen", listeners), ("trusted-proxy", proxies)] where !values.isEmpty {
            try configuration.apply(option: name, .texts(values))
        }
    }
}
