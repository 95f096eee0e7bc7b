// SPDX-License-Identifier: Apache-2.0

internal import MicroHTTP
internal import RealmFormats
internal import RealmPlatform
internal import RealmStorage

/// The credential of the last requests of one connection, and its principal.
///
/// Most clients send the same one with every request of a connection, so its digest need not be made each time. A revoked or
/// expired credential is recognized by its principal, and everything is verified again after some seconds.
package final class CredentialMemo: ConnectionMemo {
    /// A remembered credential.
    private struct Entry: Sendable {
        /// The value of the header field `Authorization`.
        let value: String
        /// The address from which it came, on which it may depend whether a key is accepted.
        let address: String
        let principal: Principal
        /// The generation of the tokens that were known then.
        let generation: Int
        /// The time of the verification.
        let time: Instant
    }

    /// The seconds for which an entry is valid.
    private static let lifetime = 10.0
    /// The longest value that is remembered, in bytes: as much memory may be taken for each open connection.
    private static let byteLimit = 4096
    /// The credential that was used last.
    private let last = RankedMutex<Entry?>(.leaf, nil)

    /// Makes a memory that knows nothing.
    package init() {}

    /// Returns the principal of the credential of a request; nil when it has to be verified.
    ///
    /// Its duration reveals only the length of the remembered credential: a proxy may send the requests of several clients by one
    /// connection.
    ///
    /// - Parameters:
    ///   - value: The value of the header field.
    ///   - generation: The generation of the tokens that are known now.
    func principal(of value: String, _ request: Request, generation: Int) -> Principal? {
        guard let entry = last.withLock({ $0 }), entry.generation == generation,
            SecretDigest.areEqual(value, entry.value), entry.address == request.clientAddress,
            request.arrival.seconds(since: entry.time) < CredentialMemo.lifetime, !entry.principal.isOver
        else { return nil }
        return entry.principal
    }

    /// Remembers whose a credential is.
    ///
    /// - Parameters:
    ///   - value: The value of the header field.
    ///   - generation: The generation of the tokens that were known before it was found out.
    func keep(_ principal: Principal, of value: String, _ request: Request, generation: Int) {
        guard value.utf8.count <= CredentialMemo.byteLimit else { return }
        let entry = Entry(
            value: value, address: request.clientAddress, principal: principal, generation: generation, time: request.arrival)
        last.withLock { $0 = entry }
    }
}
