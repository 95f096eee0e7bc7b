// SPDX-License-Identifier: Apache-2.0

package import MicroHTTP
package import RealmAccess
package import RealmCalls
package import RealmEngine
package import RealmFormats
package import RealmPlatform
package import RealmReplica
package import RealmStorage
internal import Synchronization

/// This server as a node of a cluster: opens realms as caches of the log, owns those of its shards, follows others for reading, and says
/// of all others who serves them.
///
/// There is one in a server of a cluster. Any thread may call it.
package final class ClusterService: Sendable {
    /// This node among the others.
    package let member: ClusterMember
    let log: any RealmLog
    /// The options of the node.
    let options: ClusterOptions
    /// The realms of this node that are open.
    package let realms = ClusterRealms()
    /// Makes bases of owned realms, and deletes older commits from the log.
    let keeper: LogKeeper
    /// Notifies followed realms of new commits in the log.
    let follower: LogFollower
    /// Counts of events.
    let counts = ClusterCounts()
    /// The callbacks to the server; see `start`.
    private let hooks = RankedMutex(.leaf, Hooks())
    /// The realms of the server.
    let catalog: Catalog
    /// Closes the connections to the log.
    private let disconnect: @Sendable () -> Void

    /// The callbacks to the server. They are called without a lock, and must not wait.
    package struct Hooks: Sendable {
        /// Takes a realm out of service.
        var fail: @Sendable (Database, StorageError) -> Void = { _, _ in }
        /// Releases leases and slow streams that pin versions of a realm up to the given one.
        var endReaders: @Sendable (Database, UInt64) -> Void = { _, _ in }
        /// Makes the mark of a commit of the names of those that are not notified of it.
        var mark: @Sendable (Database, [String]) -> CommitMark? = { _, _ in nil }

        package init(
            fail: @escaping @Sendable (Database, StorageError) -> Void = { _, _ in },
            endReaders: @escaping @Sendable (Database, UInt64) -> Void = { _, _ in },
            mark: @escaping @Sendable (Database, [String]) -> CommitMark? = { _, _ in nil }
        ) {
            self.fail = fail
            self.endReaders = endReaders
            self.mark = mark
        }
    }

    /// Makes a node that is not registered yet.
    ///
    /// - Parameters:
    ///   - options: The options, with an address, a name and a URL.
    ///   - catalog: The realms of the server.
    ///   - environment: Returns the value of a variable of the environment; nil when it is not set.
    /// - Returns: Nil when the options name no cluster.
    package convenience init?(_ options: ClusterOptions, _ catalog: Catalog, _ environment: (String) -> String?) {
        guard let address = options.address, let node = options.node, let url = options.url else { return nil }
        var server = PostgresOptions(address)
        server.requiresStandby = options.requiresStandby
        // Errors in the place of bases were found when the configuration was checked.
        let log = PostgresLog(server, bases: try? options.baseStore.files(environment))
        let register = PostgresRegister(server)
        self.init(options, catalog, log: log, member: ClusterMember(node, url: url, register: register)) {
            log.close()
            register.close()
        }
    }

    /// Makes a node of its parts.
    init(
        _ options: ClusterOptions, _ catalog: Catalog, log: any RealmLog, member: ClusterMember,
        disconnect: @escaping @Sendable () -> Void
    ) {
        self.options = options
        self.catalog = catalog
        self.log = log
        self.member = member
        self.disconnect = disconnect
        keeper = LogKeeper(options.bases)
        follower = LogFollower(log, node: member.id)
    }

    /// Registers the node, and keeps renewing the registration. Realms of the data folder belong to the cluster from then on.
    ///
    /// - Parameter hooks: The callbacks to the server.
    /// - Throws: `StorageError` when there is no register, or another process has the name of this node.
    package func start(_ hooks: Hooks) throws(StorageError) {
        self.hooks.withLock { $0 = hooks }
        member.whenChanged { [weak self] map in self?.settleAll(map) }
        try member.start()
    }

    /// Gives the shards of this node up; others take them at once. Requests are answered with their names from then on.
    package func leave() { member.leave() }

    /// Ends everything. The realms are closed already.
    package func stop() {
        follower.stop()
        keeper.stop()
        member.stop()
        disconnect()
    }

    // MARK: - Ownership

    /// Checks that this node is responsible for a request for a realm.
    ///
    /// - Parameters:
    ///   - name: The name of the realm.
    ///   - state: Its state; nil for one that is not known here.
    ///   - call: The request.
    ///   - access: The level that it needs.
    /// - Throws: As `requireShard`.
    package func admit(_ name: String, _ state: Catalog.State?, for call: Call, _ access: AccessClass) throws(Problem) {
        let mayFollow = mayFollow(call, access)
        var status: ReplicationStatus?
        // Nearly all requests end here, without a lock.
        if case .ready(let database)? = state {
            let own = database.replicationStatus
            guard !own.isOurs(inMap: member.mapNumber), !(mayFollow && own.isFollowed) else { return }
            status = own
        }
        guard catalog.isReplicated(name) else { return }
        if mayFollow { noteRead(of: name) } else { try requireShard(of: name) }
        guard let status else { return }
        let seen = member.map
        if seen.owner(of: name) == member.id { status.note(map: seen.number) }
    }

    /// Whether a node may answer a request that does not own the realm.
    package func mayFollow(_ call: Call, _ access: AccessClass) -> Bool {
        options.replicas != .none && access <= .read && call.request[.realmTransaction] == nil
    }

    /// Notices at a read that another node has got a realm which is owned here, even if that was missed before.
    private func noteRead(of name: String) {
        guard realms.owner(of: name) != nil, member.map.owner(of: name) != member.id else { return }
        settle(name)
    }

    /// Lists a realm that may be in the log although there is no file of it.
    package func adopt(_ name: String) {
        guard catalog.isReplicated(name), let name = RealmName(name) else { return }
        catalog.adopt(name)
    }

    /// Checks that the shard of a realm is this node's.
    ///
    /// - Throws: `not_owner` for a realm of another node, `not_ready` while its shard has no node.
    private func requireShard(of name: String) throws(Problem) {
        let map = member.map
        let id = map.owner(of: name)
        guard id != member.id else { return }
        counts.handOvers.add(1, ordering: .relaxed)
        guard !id.isEmpty else {
            var problem = Problem(.notReady, "no node of the cluster has the shard of this realm yet")
            problem.retryAfterSeconds = 1
            throw problem
        }
        throw ClusterService.withOwner(.notOwner(id), map.node(id)?.url)
    }

    /// Checks that a realm may be made here: that it belongs here, and that the log does not have one of that name. Waits for the log.
    ///
    /// - Throws: As `requireShard`; `already_attached`, `log_unavailable`.
    package func requireNew(_ name: RealmName) throws(Problem) {
        try requireShard(of: name.text)
        let call = LogCall(realm: name.text, owner: .unowned, request: .head)
        switch log.perform(call, until: Instant.now().adding(seconds: ClusterService.lookSeconds)) {
        case .head(nil): return
        case .head: throw Problem(Catalog.Failure.alreadyAttached(name))
        default: throw Problem(unavailable: .refused(.logUnavailable("")))
        }
    }

    /// The timeout for reading a head, in seconds.
    package static let lookSeconds = 3.0

    /// A problem with the URL of the node that serves the realm, as far as it is known.
    private static func withOwner(_ problem: Problem, _ url: String?) -> Problem {
        guard let url else { return problem }
        return problem.with("owner", url).with(header: HeaderField("Realm-Owner", text: url))
    }

    /// Completes a redirect to another node with the fields that the client, or a proxy, needs.
    package func complete(_ response: inout Response, for call: Call) {
        guard response.problem == .notOwner || isTooEarly(response, for: call) else {
            return noteLag(in: &response, for: call)
        }
        let map = member.map
        if response.header("Realm-Owner") == nil, let name = call.match.decoded(.realm),
            let node = map.node(map.owner(of: name)), node.id != member.id
        {
            response.add("Realm-Owner", node.url)
        }
        guard response.problem == .notOwner, let url = response.header("Realm-Owner"),
            let node = map.nodes.first(where: { $0.url == url })
        else { return }
        switch options.handOver {
        case .refuse: return
        case .accel: response.add("X-Accel-Redirect", "@" + node.id)
        case .redirect:
            guard call.request.target.bytes.first == UInt8(ascii: "/") else { return }
            response.status = 307
            response.addLocation(url + String(decoding: call.request.target.bytes, as: UTF8.self))
        }
    }

    /// Whether a realm that is followed has not come to the version that a read asks for, which its owner has.
    private func isTooEarly(_ response: Response, for call: Call) -> Bool {
        guard response.problem == .preconditionFailed, call.request[.realmMinVersion] != nil,
            case .ready(let database)? = call.realm
        else { return false }
        return database.writerElsewhere != nil
    }

    /// Whether there is no lag of a realm to report.
    private func isCurrent(_ database: Database, at now: Instant) -> Bool {
        guard database.replicationStatus.isFollowed else { return member.isCurrent(at: now) }
        return database.replicationStatus.isCurrent(at: now, within: follower.limits.contactSeconds)
    }

    /// Reports in a response that shows a realm its possible lag: in commits of the log, or in the time for which the log or the
    /// register have not responded.
    private func noteLag(in response: inout Response, for call: Call) {
        guard case .ready(let database)? = call.realm, !isCurrent(database, at: call.request.arrival),
            let role = realms.role(of: database.name.text)
        else { return }
        switch role {
        case .followed(let realm):
            let lag = realm.lag
            guard lag.commits > 0 || !realm.isCurrent else { return }
            response.add("Realm-Lag", "commits=\(lag.commits), seconds=\(Int(min(lag.seconds, 1e9)))")
        case .owned, .ownedUnheld, .left:
            guard !member.isCurrent else { return }
            response.add("Realm-Lag", "seconds=\(Int(min(member.silentSeconds, 1e9)))")
        }
    }
}

extension ClusterService {
    /// A realm that is followed; nil for one that this node owns or that is not in the log.
    package func replica(of database: Database) -> FollowedLogRealm? {
        guard database.writerElsewhere != nil, case .followed(let realm)? = realms.role(of: database.name.text),
            realm.database === database
        else { return nil }
        return realm
    }

    /// Returns the lowest version that a read of an owned realm has to see, to include everything acknowledged before. Waits for
    /// the log.
    ///
    /// The state in the log counts only with a commit after it: a server of the log that was replaced in the meantime could not
    /// make one.
    ///
    /// - Parameter database: The realm.
    /// - Returns: The number of the version; nil for a realm whose commits are not in the log.
    /// - Throws: `not_owner`, `log_unavailable`.
    package func confirm(_ database: Database) throws(Problem) -> UInt64? {
        let name = database.name.text
        guard let owner = realms.owner(of: name) else {
            guard catalog.isReplicated(name) else { return nil }
            throw .notOwner("")
        }
        do throws(StorageError) {
            return try log.confirm(owner.owner, of: name, until: Instant.now().adding(seconds: ClusterService.lookSeconds))
                .version
        } catch {
            throw Problem(unavailable: error)
        }
    }

    /// Checks whether a commit has carried out a request already, on any node. Waits for the log.
    ///
    /// - Parameters:
    ///   - database: The realm, which this node owns.
    /// - Returns: The digest of the request under its name, and the token of the version that was made; nil without one in the
    ///   last ten minutes.
    /// - Throws: `log_unavailable`.
    package func outcome(of request: CommittedRequest, in database: Database) throws(Problem) -> (
        digest: String, version: String
    )? {
        do throws(StorageError) {
            let hidden = try RecordCipher.hidden(request, database.key)
            guard let found = try log.request(hidden.name, of: database.name.text) else { return nil }
            let digest = found.digest == hidden.digest ? request.digest : found.digest
            return (digest, "\(found.lineage).\(found.version)")
        } catch {
            throw Problem(unavailable: error)
        }
    }

    /// The names of realms of the cluster in their order; none while the log does not respond. Waits for the log.
    ///
    /// - Parameters:
    ///   - name: The name after which they begin; nil for the first.
    ///   - limit: The limit of the result.
    func names(after name: String?, limit: Int) -> [String] { (try? log.names(after: name, limit: limit)) ?? [] }

    /// Whether commits of a realm happen in the log.
    package func keeps(_ database: Database) -> Bool { realms.role(of: database.name.text) != nil }

    /// Takes a realm out of service, without waiting for that.
    func fail(_ database: Database, _ error: StorageError) { hooks.withLock { $0 }.fail(database, error) }

    /// The callbacks of a followed realm to the server.
    func replicaHooks(for name: String) -> ReplicaHooks {
        // Nothing here may keep the database open.
        let database: @Sendable () -> Database? = { [weak catalog] in catalog?.database(name) }
        let server = hooks.withLock { $0 }
        var hooks = ReplicaHooks()
        hooks.endReaders = { version in if let database = database() { server.endReaders(database, version) } }
        hooks.mark = { names in database().flatMap { server.mark($0, names) } }
        hooks.didEnd = { [weak self] end in if let database = database() { self?.didEnd(database, end) } }
        return hooks
    }
}

extension ClusterService {
    /// Writes the role of this node for an open realm, as the member `cluster` of its document; nothing for a realm that is not
    /// in the log.
    func write(_ database: Database, to writer: inout JSONWriter) {
        guard let role = realms.role(of: database.name.text) else { return }
        writer.key("cluster")
        writer.beginObject()
        if let owner = role.owner {
            writer.member("role", text: "owner")
            writer.member("owner", text: owner.owner.node)
        } else {
            writer.member("role", text: "replica")
            writer.member("owner", text: database.writerElsewhere ?? "")
        }
        if case .followed(let realm) = role {
            let lag = realm.lag
            writer.member("lagCommits", int: Int(clamping: lag.commits))
            writer.member("lagMilliseconds", int: Int(max(0, min(lag.seconds, 1e12)) * 1000))
        }
        writer.endObject()
    }
}

/// Counts of events in a node since its start. Any thread may count.
final class ClusterCounts: Sendable {
    /// Openings that began with a claim.
    let claims = Atomic(0)
    /// Openings for which the file was made from a base.
    let hydrations = Atomic(0)
    /// Records that files were brought up with when they were opened.
    let replayedRecords = Atomic(0)
    /// Realms that were followed and are owned from then on, while they were open.
    let promotions = Atomic(0)
    /// Realms that were owned and are followed from then on, while they were open.
    let demotions = Atomic(0)
    /// Realms that were lost to another node.
    let fenced = Atomic(0)
    /// Commits whose outcome was not known in time.
    let unknownOutcomes = Atomic(0)
    /// Requests for realms of other nodes.
    let handOvers = Atomic(0)
    /// Openings that failed because of the log.
    let failedOpenings = Atomic(0)
}
