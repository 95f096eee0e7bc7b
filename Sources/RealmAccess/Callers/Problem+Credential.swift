// SPDX-License-Identifier: Apache-2.0

package import MicroHTTP
package import RealmFormats
internal import RealmPlatform
internal import RealmStorage

/// The responses to clients without a credential.
extension Problem {
    /// The header field by which a 401 asks for a credential.
    static let challenge = HeaderField("WWW-Authenticate", "Bearer realm=\"realm-rest\"")

    /// Makes the 401 for a client without a credential. Where there are none, it explains the usual surprise, a proxy
    /// on the same machine.
    package static func unauthenticated(_ request: Request, hasCredentials: Bool) -> Problem {
        guard !hasCredentials else {
            return Problem(.unauthenticated, "this request needs a credential, such as Authorization: Bearer rr_…")
                .with(header: challenge)
        }
        guard let header = request.headers.forwardedBy else {
            return Problem(.unauthenticated, "this request comes from another machine, and this server accepts no credentials")
                .with(header: challenge)
        }
        let detail =
            "this request came through a proxy, as its header field \(header) shows, so its sender is unknown: start the "
            + "server with --insecure to let such requests read, and write or administer at the server's own address or by --admin"
        return Problem(.unauthenticated, detail).with("header", header).with(header: challenge)
    }
}
