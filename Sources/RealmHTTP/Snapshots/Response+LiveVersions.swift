// SPDX-License-Identifier: Apache-2.0

internal import RealmEngine

extension Response {
    /// Adds how many versions of a realm are being read, for clients that hold some of them.
    mutating func addLiveVersions(of database: Database) {
        add("Realm-Live-Versions", String(database.liveVersions))
    }
}
