// SPDX-License-Identifier: Apache-2.0

internal import RealmAccess
internal import RealmEngine
internal import RealmFormats
internal import RealmPlatform
internal import RealmReplica
internal import RealmStorage
internal import Synchronization

/// Opening and closing realms that are caches of the log.
extension ClusterService: RealmReplication {
    /// Opens a realm, as its owner or to follow it, as the protocol says.
    func open(_ name: RealmName, path: String, _ options: Database.OpenOptions) throws(StorageError) -> Database {
        // The map may be older than a loss.
        if realms.wasLost(name.text) { try member.call() }
        realms.forgetUnread()
        let place = (try? System.resolved(path)) ?? path
        var opening = LoggedRealm.Opening(name, path: place, node: member.id, options)
        opening.oldestReader = realms.oldestReader(of: name.text)
        let id = member.map.owner(of: name.text)
        do throws(StorageError) {
            if id == member.id { return try own(opening) }
            guard self.options.replicas != .none else { throw .refused(.notOwner(id)) }
            return try follow(opening)
        } catch {
            if case .refused(.logUnavailable) = error { counts.failedOpenings.add(1, ordering: .relaxed) }
            throw error
        }
    }

    /// Opens a realm as its owner.
    private func own(_ opening: LoggedRealm.Opening) throws(StorageError) -> Database {
        let realm = try LoggedRealm.open(opening, log)
        counts.claims.add(1, ordering: .relaxed)
        noteOpened(realm.database, by: realm.way)
        realms.add(opening.name.text, realm.database, .owned(realm))
        begin(realm)
        return realm.database
    }

    private func follow(_ opening: LoggedRealm.Opening) throws(StorageError) -> Database {
        let name = opening.name.text
        let realm = try FollowedLogRealm.open(opening, follower, replicaHooks(for: name))
        noteOpened(realm.database, by: realm.way)
        realms.add(name, realm.database, .followed(realm))
        return realm.database
    }

    /// Counts the way in which the file of a realm was brought up to date, and observes its closing.
    private func noteOpened(_ database: Database, by way: LogReplay.Way?) {
        switch way {
        case .base?: counts.hydrations.add(1, ordering: .relaxed)
        case .records(let count)?: counts.replayedRecords.add(count, ordering: .relaxed)
        case nil: break
        }
        let name = database.name.text
        let id = ObjectIdentifier(database)
        database.whenClosed { [weak self, weak database] in self?.didClose(name, id, database?.livePins) }
    }

    /// Keeps the log of a realm short that is owned from now on, and notices when it is lost. Where the system has no thread for that, the
    /// log only grows.
    func begin(_ realm: LoggedRealm) {
        try? keeper.add(realm)
        let name = realm.owner.realm
        realm.owner.whenLost { [weak self] error in self?.didLose(name, error) }
    }

    /// Records that a realm was closed, and notifies the log.
    private func didClose(_ name: String, _ id: ObjectIdentifier, _ pins: VersionPins?) {
        guard let (role, waiters) = realms.remove(name, id, pins) else { return }
        end(role)
        for waiter in waiters { waiter(.refused(.logUnavailable("the realm was closed"))) }
    }

    /// Ends the object that keeps a closed realm up to date with the log.
    func end(_ role: ClusterRealms.Role) {
        switch role {
        case .owned(let realm):
            keeper.remove(realm)
            realm.owner.release()
        case .ownedUnheld(let owner): owner.release()
        case .followed(let realm): realm.abandon()
        case .left: break
        }
    }

    // MARK: - Unused realms

    /// Lets go of a realm, as the protocol says.
    func release(_ name: RealmName) {
        guard let role = realms.beginRelease(name.text) else { return }
        switch role {
        case .owned(let realm):
            keeper.remove(realm)
            realms.endRelease(name.text, .ownedUnheld(realm.owner))
        case .followed(let realm): realms.endRelease(name.text, realm.leave().map { .left($0) })
        case .ownedUnheld, .left: realms.endRelease(name.text, nil)
        }
    }

    /// Continues with a realm, as the protocol says.
    func resume(_ database: Database) {
        let name = database.name.text
        switch realms.role(of: name) {
        case .ownedUnheld(let owner)?:
            let realm = LoggedRealm(resuming: database, owner, log: log)
            realms.endRelease(name, .owned(realm))
            begin(realm)
        case .left(let place)?:
            do throws(StorageError) {
                let realm = try FollowedLogRealm.resume(database, at: place, follower, hooks: replicaHooks(for: name))
                realms.endRelease(name, .followed(realm))
            } catch {
                return fail(database, error)
            }
        case .owned?, .followed?, nil: return
        }
        // Its shard may have moved in the meantime.
        settle(name)
    }

    /// Deletes a realm from the log, as the protocol says.
    func drop(_ name: RealmName) throws(StorageError) {
        guard let owner = realms.owner(of: name.text), try log.drop(name.text, of: owner.owner) else {
            throw .refused(.notOwner(""))
        }
    }
}
