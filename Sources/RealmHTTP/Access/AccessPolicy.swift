// SPDX-License-Identifier: Apache-2.0

/// Who may do what as long as there are no credentials: where a request comes from decides.
package struct AccessPolicy: Sendable {
    /// Whether the main listener is bound to loopback, so that only this machine reaches it.
    package var isLoopback = true
    /// Whether strangers may read.
    package var letsStrangersRead = false
    /// Whether this machine administers through the main listener.
    package var administersOnMain = true

    /// The policy of a main listener on loopback, through which this machine administers.
    package init() {}

    /// The most that whoever sent `request` may do.
    ///
    /// What came through a proxy is from somewhere else, although its address is this machine's.
    package func grant(_ request: Request) -> AccessClass {
        switch request.entrance {
        case .adminSocket where request.headers.forwardedBy == nil: return .administer
        case .adminPort where request.headers.forwardedBy == nil && request.isFromThisMachine: return .administer
        case .adminPort, .adminSocket: return .health
        case .main where isLoopback && request.headers.forwardedBy == nil && request.isFromThisMachine:
            return administersOnMain ? .administer : .write
        case .main: return letsStrangersRead ? .read : .health
        }
    }

    /// The one place where a request is let in or not.
    ///
    /// `needed` is what the method takes at this path; a path that `isHidden` does not exist for those who may not administer.
    package func check(_ request: Request, needed: AccessClass, isHidden: Bool) throws(Problem) {
        let granted = grant(request)
        guard granted < .administer else { return }
        var wanted = needed
        // What a transaction has not committed is for those who may write.
        if request.headers[.realmTransaction] != nil { wanted = max(wanted, .write) }
        guard wanted > granted else { return }
        if granted == .health { throw AccessPolicy.unauthenticated(request) }
        // Readers are not told that these paths exist.
        guard !isHidden else { throw Problem(.notFound, "there is nothing at this path") }
        throw AccessPolicy.forbidden(granted)
    }

    private static func unauthenticated(_ request: Request) -> Problem {
        let challenge = HeaderField("WWW-Authenticate", "Bearer realm=\"realm-rest\"")
        guard let header = request.headers.forwardedBy else {
            return Problem(.unauthenticated, "this request comes from another machine, and there are no credentials yet")
                .with(header: challenge)
        }
        let detail =
            "this request came through a proxy, as its header field \(header) tells, so it may be anybody's: start the "
            + "server with --insecure to let such requests read, and write or administer at the server's own address or by --admin"
        return Problem(.unauthenticated, detail).with("header", header).with(header: challenge)
    }

    private static func forbidden(_ granted: AccessClass) -> Problem {
        let detail =
            granted == .write
            ? "this listener does not administer; use the one of --admin"
            : "strangers may only read: write and administer from the machine of the server when it is bound to loopback, or by --admin"
        return Problem(.forbidden, detail)
    }
}
