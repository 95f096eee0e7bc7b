// SPDX-License-Identifier: Apache-2.0

internal import RealmEngine
internal import RealmFormats
internal import RealmPlatform
internal import RealmStorage

/// A request that changes a realm, or decides which realms exist, on its way to an endpoint.
///
/// It adds what only writes need to a `Call`.
struct WriteCall: Sendable {
    /// The request, with its route, its realm and what all requests share.
    let call: Call
    /// What all writes of the server share: workers, registrations and settings.
    let services: WriteServices

    /// Creates the call of a write from a call and the services of writes.
    init(_ call: Call, _ services: WriteServices) {
        self.call = call
        self.services = services
    }

    /// The request as it was received, with its header fields and its body.
    var request: Request { call.request }
    /// The segments of the request's path, by their names in the route.
    var match: PathMatch { call.match }
    /// The limits of the server, such as the number of operations of a batch.
    var limits: Limits { call.limits }

    /// Returns the open realm that the path names.
    ///
    /// - Throws: `realm_not_found`, or `realm_unavailable` for a realm that is being opened or
    ///   could not be opened.
    func database() throws(Problem) -> Database { try call.database() }
}
