// SPDX-License-Identifier: Apache-2.0

internal import MicroHTTP
internal import RealmAccess
internal import RealmFormats
internal import RealmHosting
internal import RealmPlatform
internal import RealmStorage

/// A bound socket for clients, with its own options.
struct BoundListener: Sendable {
    let socket: ListeningSocket
    /// Whether its connections are encrypted.
    let isSecure: Bool

    /// Returns the configuration of its HTTP server.
    ///
    /// - Parameters:
    ///   - tls: The certificates of the server; nil without encryption.
    func configuration(_ options: ServerOptions, _ tls: TLSStore?) -> HTTPServer.Configuration {
        var configuration = HTTPServer.Configuration()
        configuration.limits = options.limits.http
        configuration.spooling = options.limits.spool
        configuration.listenerKind = socket.isUnix ? .mainSocket : .main
        configuration.trustedProxies = options.trustedProxies
        if isSecure { configuration.tls = tls }
        return configuration
    }
}
