// SPDX-License-Identifier: Apache-2.0

package import RealmEngine
package import RealmPlatform
internal import RealmStorage

/// Where following a realm was left, so that it can go on there. It does not keep the realm open.
package struct FollowedPlace: Sendable {
    /// The place in the chain that the file has reached.
    let chain: RecordChain
    /// How the file was brought up when it was opened.
    let way: LogReplay.Way?
    /// Whether no record can be applied to the file as it is.
    let needsFile: Bool
}

extension FollowedLogRealm {
    /// Stops to follow, and lets go of the realm, which stays open. Blocks while records are applied.
    ///
    /// This object is of no use afterwards.
    ///
    /// - Returns: Where to go on; nil when somebody waits for a version, and so uses the realm: it is followed as before then.
    package func leave() -> FollowedPlace? {
        guard monitor.withLock({ $0.waiters.isEmpty }) else { return nil }
        // Whoever begins to wait meanwhile asks again.
        abandon()
        return FollowedPlace(chain: work.chain, way: way, needsFile: work.needsFile)
    }

    /// Goes on to follow a realm that was left.
    ///
    /// - Parameters:
    ///   - place: Where it was left.
    ///   - follower: What tells the realm about the log.
    ///   - hooks: What is asked of whoever serves the realm.
    /// - Throws: When the realm cannot be followed; it has to be closed then.
    package static func resume(
        _ database: Database, at place: FollowedPlace, _ follower: LogFollower, hooks: ReplicaHooks
    ) throws(StorageError) -> FollowedLogRealm {
        let realm = try FollowedLogRealm(
            database, at: place.chain, by: place.way, follower, hooks: hooks, needsFile: place.needsFile)
        try follower.add(realm)
        return realm
    }
}
