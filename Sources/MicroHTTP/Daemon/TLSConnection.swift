// SPDX-License-Identifier: Apache-2.0

internal import CTLS
internal import RealmFormats
internal import RealmPlatform
internal import RealmStorage

/// The encryption of one connection: the certificate that it was made with, which has to stay as long as
/// the connection, and that of the client.
///
/// `@unchecked Sendable`: the session that `session` leads to is used only on the daemon's thread of the
/// connection, in callbacks of the daemon, so it exists then. A lock guards everything else.
@safe package final class TLSConnection: @unchecked Sendable {
    /// The state of the connection, under the lock.
    private struct State {
        /// The certificate that the handshake uses; nil before it.
        var identity: TLSIdentity?
        /// The content of the client's certificate; nil when there is none.
        var certificate: ClientCertificate?
        /// The authorities with which it was compared, which a reload may replace.
        var authorities: TLSAuthorities?
    }

    /// The session in the library.
    private let session: UnsafeMutableRawPointer
    /// The certificates of the server.
    private let store: TLSStore
    private let state = RankedMutex(.leaf, State())

    /// Prepares a new connection, before its handshake.
    ///
    /// - Parameters:
    ///   - session: The session in the library.
    ///   - store: The certificates of the server.
    init(_ session: UnsafeMutableRawPointer, _ store: TLSStore) {
        unsafe self.session = unsafe session
        self.store = store
        unsafe realm_rest_session_notice_plain(session)
        if store.current.authorities != nil { unsafe realm_rest_session_ask(session) }
    }

    /// Chooses the certificate for the handshake, and keeps it until the connection is closed.
    ///
    /// - Parameter name: The host that the client names; nil for none.
    func choose(for name: String?) -> TLSIdentity {
        let identity = store.current.identity(for: name)
        state.withLock { $0.identity = identity }
        return identity
    }

    /// Returns the content of the client's certificate; nil when it has sent none, or the server no longer asks for one.
    ///
    /// The certificate is compared with the authorities once, and again after they were replaced.
    func clientCertificate() -> ClientCertificate? {
        guard let authorities = store.current.authorities else { return nil }
        let known = state.withLock { ($0.authorities === authorities, $0.certificate) }
        if known.0 { return known.1 }
        let certificate = unsafe authorities.certificate(of: session)
        state.withLock { state in
            state.authorities = authorities
            state.certificate = certificate
        }
        return certificate
    }

    /// Sends a last response and the end of the stream. Bytes that the socket does not take are lost.
    func finish(with bytes: [UInt8]) { unsafe realm_rest_session_finish(session, bytes, bytes.count) }

    /// The function by which the library has a certificate chosen for the connection whose record is the context.
    static let choice: realm_rest_choice = { context, name in
        guard let context = unsafe context,
            let tls = unsafe Unmanaged<ConnectionRecord>.fromOpaque(context).takeUnretainedValue().tls
        else { return nil }
        return unsafe tls.choose(for: name.map { unsafe String(cString: $0) }).pointer
    }

    /// The detail of the response to plain HTTP.
    static let plainRefusal = "this port speaks TLS; use https://"

    /// The callback for plain HTTP on an encrypted connection: sends a response to the client of the record in the context.
    static let plain: realm_rest_plain = { context in
        guard let context = unsafe context else { return }
        unsafe Unmanaged<ConnectionRecord>.fromOpaque(context).takeUnretainedValue()
            .refuse(Problem(.malformedRequest, TLSConnection.plainRefusal), inClear: true)
    }
}
