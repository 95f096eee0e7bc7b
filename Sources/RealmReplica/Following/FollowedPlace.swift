// SPDX-License-Identifier: Apache-2.0

package import RealmEngine
package import RealmPlatform
internal import RealmStorage

/// The place where following a realm stopped, and can continue. It does not keep the realm open.
package struct FollowedPlace: Sendable {
    /// The place in the chain that the file has reached.
    let chain: RecordChain
    /// How opening brought the file up to the log.
    let way: LogReplay.Way?
    /// Whether no record can be applied to the file as it is.
    let needsFile: Bool
}

extension FollowedLogRealm {
    /// Stops to follow, and releases the realm, which stays open. Blocks while records are applied.
    ///
    /// This object is of no use afterwards.
    ///
    /// - Returns: The place to continue from; nil while a caller waits for a version: then following continues.
    package func leave() -> FollowedPlace? {
        guard monitor.withLock({ $0.waiters.isEmpty }) else { return nil }
        // Callers that begin to wait in the meantime ask again.
        abandon()
        return FollowedPlace(chain: work.chain, way: way, needsFile: work.needsFile)
    }

    /// Continues to follow a realm that was left.
    ///
    /// - Parameters:
    ///   - place: The place where following stopped.
    ///   - follower: The source of heads of the log.
    ///   - hooks: Callbacks to the host of the realm.
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
