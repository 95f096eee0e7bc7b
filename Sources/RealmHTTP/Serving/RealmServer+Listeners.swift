// SPDX-License-Identifier: Apache-2.0

internal import MicroHTTP
internal import RealmAccess
internal import RealmFormats
internal import RealmHosting
internal import RealmPlatform
internal import RealmStorage

/// The listeners for clients, and the rules for their use.
extension RealmServer {
    /// Reads the certificates.
    ///
    /// - Parameters:
    ///   - log: The log for later events of certificates.
    ///   - report: Called with warnings about them.
    /// - Returns: nil for a server without encryption.
    /// - Throws: `Failure` when they cannot be used.
    static func certificates(
        _ options: ServerOptions, _ log: AccessLog?, _ report: (String) -> Void
    ) throws(Failure) -> TLSStore? {
        guard options.tls.certificate == nil || options.tls.key != nil else {
            throw Failure(description: "'tls.certificate' and 'tls.key' must be given together")
        }
        guard options.tls.isOn else { return nil }
        do throws(TLSFailure) {
            let store = try TLSStore(options.tls, names: options.namesOfTrial) { text, isBad in
                log?.note(isBad ? "tls_warning" : "tls_reloaded", realm: "", text, level: isBad ? .warning : .info)
            }
            for warning in store.warnings { report(warning) }
            return store
        } catch {
            throw Failure(description: error.description)
        }
    }

    /// Binds the sockets for clients, or takes those that the service manager has handed over.
    ///
    /// An address that other machines can reach is refused unless the options allow it with
    /// `isInsecure`, or there are credentials, or the first one is about to be made.
    ///
    /// - Parameters:
    ///   - hasCredentials: Whether there are credentials, or will be.
    /// - Returns: The bound sockets, at least one, which do not accept connections yet.
    /// - Throws: `Failure` when one cannot be bound, or is refused; none is left then.
    static func bindClients(_ options: ServerOptions, hasCredentials: Bool) throws(Failure) -> [BoundListener] {
        var bound: [BoundListener] = []
        do throws(ListeningSocket.Failure) {
            for handed in options.handedOver where !handed.isForAdministrators {
                let socket = try ListeningSocket(handedOver: handed.descriptor)
                bound.append(BoundListener(socket: socket, isSecure: options.tls.isOn && !socket.isUnix))
                try check(socket, options, hasCredentials: hasCredentials)
            }
            guard bound.isEmpty else { return bound }
            for address in options.addresses {
                let isSecure = address.isSecure(options.tls.isOn)
                guard !isSecure || options.tls.isOn else {
                    throw ListeningSocket.Failure(description: StartRefusal.missingCertificate(of: address.description))
                }
                let socket = try bind(address)
                bound.append(BoundListener(socket: socket, isSecure: isSecure))
                try check(socket, options, hasCredentials: hasCredentials)
            }
            return bound
        } catch {
            for one in bound { one.socket.close() }
            throw Failure(description: error.description)
        }
    }

    private static func bind(_ address: ListenAddress) throws(ListeningSocket.Failure) -> ListeningSocket {
        switch address.place {
        case .port(let host, let port): return try ListeningSocket(host: host, port: port)
        case .unix(let path): return try ListeningSocket(unixPath: path, access: address.access)
        }
    }

    /// Checks that a socket is reachable only by permitted clients.
    private static func check(
        _ socket: ListeningSocket, _ options: ServerOptions, hasCredentials: Bool
    ) throws(ListeningSocket.Failure) {
        guard socket.isLoopback || options.isInsecure || hasCredentials else {
            throw ListeningSocket.Failure(description: StartRefusal.exposure(of: socket.address))
        }
    }

    /// Returns the accepted hosts and origins, and the rights of clients.
    ///
    /// - Parameters:
    ///   - listeners: The sockets for clients.
    ///   - admin: The socket for administrators; nil for none.
    static func rules(_ options: ServerOptions, _ listeners: [BoundListener], _ admin: ListeningSocket?) -> AccessRules {
        let ports = listeners.map(\.socket).filter { !$0.isUnix }
        let hosts = options.addresses.compactMap { address -> String? in
            if case .port(let host, _) = address.place { host } else { nil }
        }
        let bound = (ports + [admin].compactMap { $0 }.filter { !$0.isUnix }).map(\.address)
        var rules = AccessRules(
            hosts: HostPolicy(boundAddress: bound.first ?? "localhost", extra: options.extraHosts + hosts + bound),
            origins: OriginPolicy(allowed: Set(texts: options.corsOrigins)))
        // Where other machines reach one of the ports, none of them makes an administrator; a Unix socket still does.
        rules.access.isLoopback = ports.allSatisfy(\.isLoopback)
        rules.access.allowsAnonymousReads = options.isInsecure
        rules.access.administersOnMain = options.administersOnMain
        return rules
    }
}
