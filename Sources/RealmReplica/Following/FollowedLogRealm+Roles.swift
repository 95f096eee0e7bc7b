// SPDX-License-Identifier: Apache-2.0

internal import RealmEngine
package import RealmPlatform
internal import RealmStorage

/// Changing between following and owning. The open realm stays, with its epoch, its versions and whoever observes it.
extension FollowedLogRealm {
    /// Becomes the owner: claims the realm, takes over what its log has until then, and begins to write. Blocks meanwhile.
    ///
    /// The realm is not followed afterwards, and this object of no use any more.
    ///
    /// - Parameters:
    ///   - limits: How long is waited for the log, and how much is sent.
    ///   - reuseGraceSeconds: For how many seconds versions are kept after newer ones took their place.
    /// - Returns: The owned realm.
    /// - Throws: `.refused(.notOwner)` when another node was faster; `.refused(.logUnavailable)`. The realm is followed as before
    ///   then, unless `end` says that it has to be closed.
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

    /// The error for a realm that is not followed any further.
    private var hasEnded: StorageError {
        if case .file(let error)? = end { return error }
        return .refused(.fileChanged("the log of '\(name)' has another history than its file"))
    }

    /// Goes on following.
    private func resume() {
        let goesOn = monitor.withLock { state in
            state.isStopped = state.end != nil
            return !state.isStopped
        }
        do throws(StorageError) {
            if goesOn { try follower.add(self) }
        } catch {
            finish(.file(error))
        }
        announceEnd()
    }
}

extension LoggedRealm {
    /// Stops to write, gives the realm up if it is still owned, and follows its log from here on. Writes that wait are carried out
    /// before. Blocks meanwhile.
    ///
    /// This is also the way on after an error that `leavesFileBehind`. This object is of no use afterwards.
    ///
    /// - Parameters:
    ///   - follower: What tells the realm about the log.
    ///   - hooks: What is asked of whoever serves the realm.
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
