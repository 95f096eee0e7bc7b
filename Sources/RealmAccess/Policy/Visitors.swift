// SPDX-License-Identifier: Apache-2.0

internal import RealmFormats
internal import RealmPlatform
internal import RealmStorage

/// Whom requests without a credential are from, as long as a server has no credentials.
///
/// The objects belong to one server. When it gets its first credential they end, so that streams and polls which such a request has
/// begun end too, as those of a credential that is revoked do. Clients of the administrators' socket are not among them: they need
/// no credential afterwards either.
final class Visitors: Sendable {
    /// Somebody on this machine who may administer.
    let local = Principal(kind: .local, roles: [Principal.administratorRole])
    /// Somebody on this machine, where administration is refused on the main listener.
    let localWriter = Principal(kind: .local)
    /// Somebody elsewhere, whom the server lets read.
    let stranger = Principal(kind: .anonymous, roles: [RoleBook.anonymous, RoleBook.reader])

    /// Makes the visitors of a server.
    init() {}

    /// Ends all of them for good. It costs next to nothing when that was done before.
    func end() { for principal in [local, localWriter, stranger] { principal.end() } }
}
