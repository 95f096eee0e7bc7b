// SPDX-License-Identifier: Apache-2.0

internal import RealmAccess
internal import RealmEngine
internal import RealmFormats
internal import RealmPlatform
internal import RealmReplica
internal import RealmStorage
internal import Synchronization

/// Changing between owning and following realms that are open. They stay open, with their streams and versions.
extension ClusterService {
    /// The limit of consecutive changes of the role of a realm, if each makes the next one necessary.
    private static let steps = 8

    // MARK: - Reasons

    /// Updates all realms whose shards have moved to another node.
    ///
    /// - Parameter map: The intended owners of the shards.
    func settleAll(_ map: ClusterMap) {
        for (name, isOwned) in realms.all where isOwned != (map.owner(of: name) == member.id) {
            guard options.replicas == .none else {
                settle(name)
                continue
            }
            if isOwned, let database = catalog.database(name) { fail(database, .refused(.notOwner(map.owner(of: name)))) }
        }
    }

    /// Records that a realm cannot be written to until this node has claimed it again. Called on the writer's thread.
    func didLose(_ name: String, _ error: StorageError) {
        if case .refused(.notOwner) = error {
            counts.fenced.add(1, ordering: .relaxed)
        } else {
            counts.unknownOutcomes.add(1, ordering: .relaxed)
        }
        realms.noteLoss(of: name)
        guard options.replicas == .none else { return settle(name) }
        if let database = catalog.database(name) { fail(database, error) }
    }

    /// Notes that a realm cannot be followed any more in this opening.
    func didEnd(_ database: Database, _ end: ReplicaHooks.End) {
        switch end {
        case .missing: fail(database, .refused(.fileNotFound))
        case .replaced: fail(database, .refused(.fileChanged("its log has begun another history")))
        case .file(let error): fail(database, error)
        }
    }

    /// Calls a function when this node owns an open realm of its shards, which it has followed until now.
    ///
    /// - Parameters:
    ///   - then: Gets why that could not be; nil when it owns the realm. It is called on any thread, and must not wait.
    package func whenOwned(_ name: String, _ then: @escaping ClusterRealms.Waiter) {
        guard realms.addWaiter(to: name, then) else { return then(.refused(.logUnavailable("too many wait for the realm"))) }
        settle(name)
    }

    // MARK: - Changing

    /// Lets a thread make this node own or follow a realm, as the map says.
    func settle(_ name: String) {
        guard realms.want(name) else { return }
        do throws(Threads.Failure) {
            try SharedThreads.followers.submit { [self] in takeTurn(name) }
        } catch {
            let error = StorageError.io(operation: "pthread_create", errno: error.code)
            for waiter in realms.abandonTurn(name) { waiter(error) }
            if let database = catalog.database(name) { fail(database, error) }
        }
    }

    /// Changes the role of a realm until it is the right one, or that fails.
    private func takeTurn(_ name: String) {
        for number in 1... {
            guard let (database, role, isLost) = realms.step(name) else { return }
            var failure: StorageError?
            var next: ClusterRealms.Role?
            do throws(StorageError) {
                next = try changed(role, of: database, isLost: isLost)
            } catch {
                failure = error
            }
            let (isOpen, continues, waiters) = realms.endStep(
                name, ObjectIdentifier(database), next, isLast: number == ClusterService.steps)
            if !isOpen, let next { end(next) }
            guard !continues else { continue }
            if failure == nil, realms.owner(of: name) == nil { failure = .refused(.notOwner(member.map.owner(of: name))) }
            for waiter in waiters { waiter(failure) }
            return
        }
    }

    /// Changes the role of a realm if it is not the right one.
    ///
    /// - Returns: The new role; nil when it stays.
    private func changed(
        _ role: ClusterRealms.Role, of database: Database, isLost: Bool
    ) throws(StorageError) -> ClusterRealms.Role? {
        switch role {
        case .owned(let realm):
            guard isLost || !isOwn(database.name.text) else { return nil }
            return try demoted(realm)
        case .followed(let realm):
            // The map may be older than a loss.
            if realms.wasLost(realm.name) { try member.call() }
            guard isOwn(realm.name) else { return nil }
            return try promoted(realm)
        case .ownedUnheld, .left: return nil
        }
    }

    /// Whether this node should own a realm, as far as it knows.
    private func isOwn(_ name: String) -> Bool { member.map.owner(of: name) == member.id }

    /// Gives a realm up, and follows it from now on.
    private func demoted(_ realm: LoggedRealm) throws(StorageError) -> ClusterRealms.Role {
        keeper.remove(realm)
        do throws(StorageError) {
            let followed = try realm.demote(to: follower, replicaHooks(for: realm.owner.realm))
            counts.demotions.add(1, ordering: .relaxed)
            return .followed(followed)
        } catch {
            // This node no longer writes it, and it has to be reopened.
            fail(realm.database, error)
            throw error
        }
    }

    /// Becomes the owner of a realm that was followed.
    private func promoted(_ realm: FollowedLogRealm) throws(StorageError) -> ClusterRealms.Role {
        do throws(StorageError) {
            let owned = try realm.promote(node: member.id)
            counts.claims.add(1, ordering: .relaxed)
            counts.promotions.add(1, ordering: .relaxed)
            begin(owned)
            return .owned(owned)
        } catch {
            if case .refused(.notOwner) = error { realms.noteLoss(of: realm.name) }
            throw error
        }
    }
}
