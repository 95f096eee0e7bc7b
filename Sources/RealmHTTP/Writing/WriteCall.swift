// SPDX-License-Identifier: Apache-2.0

internal import RealmEngine

/// A call that changes a realm, or decides which realms there are.
struct WriteCall: Sendable {
    let call: Call
    let services: WriteServices

    init(_ call: Call, _ services: WriteServices) {
        self.call = call
        self.services = services
    }

    var request: Request { call.request }
    var match: PathMatch { call.match }
    var limits: Limits { call.limits }

    /// The open realm that the path names; the others answer `realm_unavailable`.
    func database() throws(Problem) -> Database { try call.database() }
}
