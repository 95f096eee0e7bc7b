// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform
package import RealmStorage

/// A request to the log with everything that it needs.
package struct LogCall: Sendable {
    package let realm: String
    package let owner: LogOwner
    package let request: LogRequest
    /// The sealed record of an append; empty for everything else.
    package let bytes: [UInt8]
    /// The requests of clients that the commit of an append carries out.
    package var requests: [CommittedRequest] = []

    package init(realm: String, owner: LogOwner, request: LogRequest, bytes: [UInt8] = []) {
        self.realm = realm
        self.owner = owner
        self.request = request
        self.bytes = bytes
    }
}
