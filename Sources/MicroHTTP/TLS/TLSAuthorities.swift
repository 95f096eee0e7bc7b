// SPDX-License-Identifier: Apache-2.0

internal import CTLS
internal import RealmFormats
internal import RealmPlatform
internal import RealmStorage

/// The authorities whose signatures make the certificates of clients count.
///
/// `@unchecked Sendable`: the object of the library that `pointer` leads to never changes.
@safe package final class TLSAuthorities: @unchecked Sendable {
    /// The object of the library, which this one owns.
    private let pointer: OpaquePointer

    /// Reads certificates of authorities.
    ///
    /// - Parameters:
    ///   - text: The certificates, PEM.
    ///   - path: The file that they were read from, for the failure.
    /// - Throws: `TLSFailure` when there are none, or one of them cannot be read.
    init(_ text: [UInt8], from path: String) throws(TLSFailure) {
        var failure = [CChar](repeating: 0, count: TLSIdentity.failureRoom)
        guard let pointer = unsafe realm_rest_authorities_new(text, text.count, &failure, failure.count) else {
            throw TLSFailure(description: "\(path): \(TLSIdentity.text(failure))")
        }
        unsafe self.pointer = unsafe pointer
    }

    deinit { unsafe realm_rest_authorities_free(pointer) }

    /// Returns the content of a client's certificate, verified with these authorities.
    ///
    /// - Parameter session: A session whose handshake is over, on the thread that serves it.
    /// - Returns: nil when the client has sent none that can be read.
    func certificate(of session: UnsafeMutableRawPointer) -> ClientCertificate? {
        var peer = realm_rest_peer()
        guard unsafe realm_rest_session_peer(session, pointer, &peer) != 0 else { return nil }
        return ClientCertificate(peer)
    }
}
