// SPDX-License-Identifier: Apache-2.0

internal import MicroHTTP
package import RealmEngine
internal import RealmFormats
internal import RealmPlatform
internal import RealmStorage

/// The header field about live versions that responses of snapshot endpoints carry.
extension Response {
    /// Adds the header field `Realm-Live-Versions`, the number of versions of a realm that are
    /// being read.
    ///
    /// The endpoints of snapshots send it, so that a client that holds versions can see how many it
    /// keeps from being reclaimed.
    ///
    /// - Parameter database: The realm that the request is about.
    package mutating func addLiveVersions(of database: Database) {
        add("Realm-Live-Versions", String(database.liveVersions))
    }
}
