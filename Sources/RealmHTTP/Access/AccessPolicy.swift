// SPDX-License-Identifier: Apache-2.0

/// Decides what each client may do. The server checks no credentials, so the origin of a request
/// decides: the listener, the sender's address, and whether a proxy passed it on.
///
/// The value is made from the options at the start and does not change while the server runs.
package struct AccessPolicy: Sendable {
    /// Whether the main listener is bound to a loopback address, so that only this machine can
    /// reach it.
    package var isLoopback = true
    /// Whether requests from other machines, or through a proxy, may read (option `--insecure`).
    /// Otherwise they may only ask for the health of the server.
    package var allowsAnonymousReads = false
    /// Whether clients on this machine may administer through the main listener, and not only
    /// write.
    package var administersOnMain = true

    /// Makes the policy of a main listener on loopback, through which this machine may administer
    /// and no other machine may read.
    package init() {}

    /// Returns the highest level that the sender of a request has.
    ///
    /// A request that a proxy has passed on counts as one from another machine, although the
    /// address of its sender is that of the proxy.
    ///
    /// - Parameter request: A request with its header fields.
    /// - Returns: The level; at least `health`.
    package func grant(_ request: Request) -> AccessClass {
        switch request.entrance {
        case .adminSocket where request.headers.forwardedBy == nil: return .administer
        case .adminPort where request.headers.forwardedBy == nil && request.isFromThisMachine: return .administer
        case .adminPort, .adminSocket: return .health
        case .mainSocket where request.headers.forwardedBy == nil: return administersOnMain ? .administer : .write
        case .main where isLoopback && request.headers.forwardedBy == nil && request.isFromThisMachine:
            return administersOnMain ? .administer : .write
        case .main, .mainSocket: return allowsAnonymousReads ? .read : .health
        }
    }

    /// Checks whether a request is permitted. No other place makes this decision.
    ///
    /// A request that names an interactive transaction needs `write` even when it reads, because it
    /// would see what is not committed.
    ///
    /// - Parameters:
    ///   - request: The request.
    ///   - needed: The level that the method needs at this path.
    ///   - isHidden: Whether the path does not exist for clients that may not administer.
    /// - Throws: 401 `unauthenticated` for clients that may not even read, 404 `not_found` for
    ///   hidden paths, and 403 `forbidden` otherwise.
    package func check(_ request: Request, needed: AccessClass, isHidden: Bool) throws(Problem) {
        let granted = grant(request)
        guard granted < .administer else { return }
        var wanted = needed
        // Uncommitted changes of a transaction are visible only to clients that may write.
        if request.headers[.realmTransaction] != nil { wanted = max(wanted, .write) }
        guard wanted > granted else { return }
        if granted == .health { throw AccessPolicy.unauthenticated(request) }
        // Clients that may only read must not learn that these paths exist.
        guard !isHidden else { throw Problem(.notFound, "there is nothing at this path") }
        throw AccessPolicy.forbidden(granted)
    }

    /// Makes the 401 for a client that is granted nothing. It explains the usual surprise, a proxy
    /// on the same machine.
    private static func unauthenticated(_ request: Request) -> Problem {
        let challenge = HeaderField("WWW-Authenticate", "Bearer realm=\"realm-rest\"")
        guard let header = request.headers.forwardedBy else {
            return Problem(.unauthenticated, "this request comes from another machine, and this server accepts no credentials")
                .with(header: challenge)
        }
        let detail =
            "this request came through a proxy, as its header field \(header) shows, so its sender is unknown: start the "
            + "server with --insecure to let such requests read, and write or administer at the server's own address or by --admin"
        return Problem(.unauthenticated, detail).with("header", header).with(header: challenge)
    }

    /// Makes the 403 for a client that may do something, but not this, with advice that fits its
    /// level.
    private static func forbidden(_ granted: AccessClass) -> Problem {
        let detail =
            granted == .write
            ? "this listener does not administer; use the one of --admin"
            : "strangers may only read: write and administer from the machine of the server when it is bound to loopback, or by --admin"
        return Problem(.forbidden, detail)
    }
}
