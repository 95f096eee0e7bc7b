// SPDX-License-Identifier: Apache-2.0

internal import RealmEngine
package import RealmPlatform
internal import RealmStorage

/// Changing between following and owning. The open realm stays, with its epoch, versions and observers.
extension FollowedLogRealm {
    /// Becomes the owner: claims the realm, applies the rest of its log, and begins to write. Blocks until then.
    ///
    /// The realm is not followed afterwards, and this object of no use any more.
    ///
    /// - Parameters:
    ///   - limits: Timeouts and sizes of requests to the log.
    ///   - reuseGraceSeconds: For how many seconds versions are kept after newer ones took their place.
    /// - Returns: The owned realm.
    /// - Throws: `.refused(.notOwner)` when another node was faster; `.refused(.logUnavailable)`. Following continues then,
    ///   unless `end` says that the realm has to be closed.
    package func promote(
        node: String, _ limits: RealmOwner.Limits = RealmOwner.Limits(), reuseGraceSeconds: Double = 2
    ) throws(StorageError) -> LoggedRealm {
        follower.remove(self)
        stop()
        guard end == nil else { throw hasEnded }
        let owner = RealmOwner(name, node: node, log: log, limits, key: database.key)
        do throws(StorageError) {
            guard let head = try owner.claim() else {
                finish(.missing)
                throw hasEnded
            }
            let before = counts.records
            while end == nil, try !advance(to: head, .none) {}
            guard end == nil else { throw hasEnded }
            try owner.begin(at: work.chain, top: database.current.snapshot.top.ref, path: database.path)
            try database.beginWriting(in: owner)
            database.keepVersions(seconds: reuseGraceSeconds)
            failWaiters()
            return LoggedRealm(database, owner, by: .records(counts.records - before), log: log)
        } catch {
            owner.release()
            resume()
            throw error
        }
    }

    private var hasEnded: StorageError {
        if case .file(let error)? = end { return error }
        return .refused(.fileChanged("the log of '\(name)' has another history than its file"))
    }

    /// Continues to follow.
    private func resume() {
        let continues = monitor.withLock { state in
            state.isStopped = state.end != nil
            return !state.isStopped
        }
        do throws(StorageError) {
            if continues { try follower.add(self) }
        } catch {
            finish(.file(error))
        }
        announceEnd()
    }
}

extension LoggedRealm {
    /// Stops to write, releases the realm if it is still owned, and follows its log from here on. Waiting writes are carried out
    /// before. Blocks until then.
    ///
    /// This is also the way on after an error that `leavesFileBehind`. This object is of no use afterwards.
    ///
    /// - Parameters:
    ///   - follower: The source of heads of the log.
    ///   - hooks: Callbacks to the host of the realm.
    /// - Throws: When the realm cannot be followed; it has to be closed then.
    package func demote(
        to follower: LogFollower, _ hooks: ReplicaHooks = ReplicaHooks()
    ) throws(StorageError) -> FollowedLogRealm {
        let isSound = try database.stopWriting(for: "")
        owner.release()
        guard let chain = owner.place else { throw .refused(.notWritable("the realm was never owned")) }
        let realm = try FollowedLogRealm(database, at: chain, by: nil, follower, hooks: hooks, needsFile: !isSound)
        try follower.add(realm)
        return realm
    }
}
