// SPDX-License-Identifier: Apache-2.0

internal import RealmEngine
internal import RealmReplica
internal import RealmStorage
internal import Synchronization

/// This server as a node of a cluster: opens the realms of its shards as caches of the log, gives them up when their shards get another
/// node, and says of all others who serves them.
///
/// There is one in a server of a cluster. Any thread may call it.
final class ClusterService: Sendable {
    /// This node among the others.
    let member: ClusterMember
    /// The log of the realms.
    let log: any RealmLog
    /// What was chosen.
    private let options: ClusterOptions
    /// The realms of this node that are open.
    private let owned = OwnedRealms()
    /// Makes bases of the realms of this node, and deletes from the log what is behind them.
    private let keeper: LogKeeper
    /// What has happened.
    private let counts = ClusterCounts()
    /// Takes realms out of service; see `start`.
    private let failing = RankedMutex<(@Sendable (Database, StorageError) -> Void)?>(.leaf, nil)
    /// The realms of the server.
    private let catalog: Catalog
    /// Closes the connections to the log.
    private let disconnect: @Sendable () -> Void

    /// Makes a node that nobody knows of yet.
    ///
    /// - Parameters:
    ///   - options: The options, with an address, a name and a URL.
    ///   - catalog: The realms of the server.
    /// - Returns: Nil when the options name no cluster.
    convenience init?(_ options: ClusterOptions, _ catalog: Catalog) {
        guard let address = options.address, let node = options.node, let url = options.url else { return nil }
        var server = PostgresOptions(address)
        server.requiresStandby = options.requiresStandby
        let log = PostgresLog(server)
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
    }

    /// Calls the register for the first time, and goes on doing so. Realms of the data folder belong to the cluster from then on.
    ///
    /// - Parameter fail: Takes a realm out of service, without waiting for that.
    /// - Throws: `StorageError` when there is no register, or another process has the name of this node.
    func start(fail: @escaping @Sendable (Database, StorageError) -> Void) throws(StorageError) {
        failing.withLock { $0 = fail }
        member.whenChanged { [weak self] map in self?.giveUp(map) }
        try member.start()
    }

    /// Gives the shards of this node up; others take them at once. Requests are answered with their names from then on.
    func leave() { member.leave() }

    /// Ends everything. The realms are closed already.
    func stop() {
        keeper.stop()
        member.stop()
        disconnect()
    }

    // MARK: - Who serves what

    /// Checks that a realm is to be served here, and lists it if it may be in the log.
    ///
    /// - Parameter name: The name of the realm.
    /// - Throws: As `requireShard`.
    func requireOwn(_ name: String) throws(Problem) {
        guard catalog.isReplicated(name) else { return }
        try requireShard(of: name)
        if let name = RealmName(name) { catalog.adopt(name) }
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
    func requireNew(_ name: RealmName) throws(Problem) {
        try requireShard(of: name.text)
        let call = LogCall(realm: name.text, owner: .nobody, request: .head)
        switch log.perform(call, until: Instant.now().adding(seconds: ClusterService.lookSeconds)) {
        case .head(nil): return
        case .head: throw Problem(Catalog.Failure.alreadyAttached(name))
        default: throw Problem(unavailable: .refused(.logUnavailable("")))
        }
    }

    /// How many seconds a look at a head may take.
    private static let lookSeconds = 3.0

    /// A problem with the URL of the node that serves the realm, as far as it is known.
    private static func withOwner(_ problem: Problem, _ url: String?) -> Problem {
        guard let url else { return problem }
        return problem.with("owner", url).with(header: HeaderField("Realm-Owner", text: url))
    }

    /// Adds to an answer that sends a client to another node what the client, or a proxy, needs for that.
    func complete(_ response: inout Response, for request: Request) {
        guard response.problem == .notOwner else { return noteSilence(in: &response, for: request) }
        let map = member.map
        if response.header("Realm-Owner") == nil, let name = request.match.decoded(.realm),
            let url = map.node(map.owner(of: name))?.url
        {
            response.add("Realm-Owner", url)
        }
        guard let url = response.header("Realm-Owner"), let node = map.nodes.first(where: { $0.url == url }) else { return }
        switch options.handOver {
        case .refuse: return
        case .accel: response.add("X-Accel-Redirect", "@" + node.id)
        case .redirect:
            guard request.target.bytes.first == UInt8(ascii: "/") else { return }
            response.status = 307
            response.addLocation(url + String(decoding: request.target.bytes, as: UTF8.self))
        }
    }

    /// Says in an answer that shows a realm how old it may be, when the register has not answered lately: another node may have the realm.
    private func noteSilence(in response: inout Response, for request: Request) {
        guard case .ready(let database)? = request.realm, !member.isCurrent, owned.owner(of: database.name.text) != nil else {
            return
        }
        response.add("Realm-Lag", "seconds=\(Int(min(member.silentSeconds, 1e9)))")
    }

    /// Finds out which version a read has to see at least, so that it sees everything that was acknowledged before. Waits for the log.
    ///
    /// What the log shows of the realm counts only with a commit after it: a server of the log that was replaced meanwhile could not
    /// make one.
    ///
    /// - Parameter database: The realm.
    /// - Returns: The number of the version; nil for a realm whose commits are not in the log.
    /// - Throws: `not_owner`, `log_unavailable`.
    func confirm(_ database: Database) throws(Problem) -> UInt64? {
        let name = database.name.text
        guard let owner = owned.owner(of: name) else {
            guard catalog.isReplicated(name) else { return nil }
            throw .notOwner("")
        }
        let call = LogCall(realm: name, owner: owner.owner, request: .confirm)
        switch log.perform(call, until: Instant.now().adding(seconds: ClusterService.lookSeconds)) {
        case .head(let head?):
            guard head.owner == owner.owner else { throw .notOwner(head.owner.node) }
            return head.version
        case .head(nil): throw .notOwner("")
        default: throw Problem(unavailable: .refused(.logUnavailable("")))
        }
    }

    // MARK: - Losing realms

    /// Gives up realms whose shards have got another node.
    private func giveUp(_ map: ClusterMap) {
        for name in catalog.openNames {
            let id = map.owner(of: name)
            guard id != member.id, owned.owner(of: name) != nil, let database = catalog.database(name) else { continue }
            fail(database, .refused(.notOwner(id)))
        }
    }

    /// Takes a realm out of service that cannot be written to any more.
    private func lose(_ database: Database?, _ error: StorageError) {
        if case .refused(.notOwner) = error {
            counts.fenced.add(1, ordering: .relaxed)
        } else {
            counts.unknownOutcomes.add(1, ordering: .relaxed)
        }
        guard let database else { return }
        owned.noteLoss(of: database.name.text)
        fail(database, error)
    }

    /// Takes a realm out of service.
    private func fail(_ database: Database, _ error: StorageError) { failing.withLock { $0 }?(database, error) }
}

// MARK: - Opening

extension ClusterService: RealmReplication {
    /// Opens a realm of this node, as the protocol says.
    func open(_ name: RealmName, path: String, _ options: Database.OpenOptions) throws(StorageError) -> Database {
        // The map may be older than a loss.
        if owned.wasLost(name.text) { try member.call() }
        owned.forgetUnread()
        let id = member.map.owner(of: name.text)
        guard id == member.id else { throw .refused(.notOwner(id)) }
        let place = (try? System.resolved(path)) ?? path
        var opening = LoggedRealm.Opening(name, path: place, node: member.id, options)
        opening.oldestReader = owned.oldestReader(of: name.text)
        let realm: LoggedRealm
        do throws(StorageError) {
            realm = try LoggedRealm.open(opening, log)
        } catch {
            if case .refused(.logUnavailable) = error { counts.failedOpenings.add(1, ordering: .relaxed) }
            throw error
        }
        counts.claims.add(1, ordering: .relaxed)
        switch realm.way {
        case .base?: counts.hydrations.add(1, ordering: .relaxed)
        case .records(let count)?: counts.replayedRecords.add(count, ordering: .relaxed)
        case nil: break
        }
        let owner = realm.owner
        keep(realm)
        owner.whenLost { [weak self, weak database = realm.database] error in self?.lose(database, error) }
        realm.database.whenClosed { [owned, keeper, weak database = realm.database] in
            if let realm = owned.takeKept(name.text) { keeper.remove(realm) }
            owned.remove(database?.livePins, owner, of: name.text)
            owner.release()
        }
        return realm.database
    }

    /// Keeps the log of a realm short from now on. Where the system has no thread for that, it only grows.
    private func keep(_ realm: LoggedRealm) {
        owned.add(realm)
        try? keeper.add(realm)
    }

    /// Lets go of a realm, as the protocol says.
    func release(_ name: RealmName) {
        if let realm = owned.takeKept(name.text) { keeper.remove(realm) }
    }

    /// Goes on with a realm, as the protocol says.
    func resume(_ database: Database) {
        guard let owner = owned.owner(of: database.name.text) else { return }
        keep(LoggedRealm(resuming: database, owner, log: log))
    }

    /// Has the log forget a realm, as the protocol says.
    func drop(_ name: RealmName) throws(StorageError) {
        guard let owner = owned.owner(of: name.text), try log.drop(name.text, of: owner.owner) else {
            throw .refused(.notOwner(""))
        }
    }
}

// MARK: - Metrics

extension ClusterService {
    /// Writes what has happened since the start, and how this node stands.
    ///
    /// - Parameter text: The metrics document.
    func write(to text: inout MetricsText) {
        let map = member.map
        let member = member.counts
        let bases = keeper.counts
        let rows: [(String, MetricsText.Kind, String, Int)] = [
            ("cluster_shards", .gauge, "Shards of this node.", map.owners.count { $0 == self.member.id }),
            ("cluster_owned_realms", .gauge, "Open realms whose commits happen in the log.", owned.count),
            ("cluster_claims_total", .counter, "Realms that were claimed.", counts.claims.load(ordering: .relaxed)),
            (
                "cluster_hydrations_total", .counter, "Files that were made from a base.",
                counts.hydrations.load(ordering: .relaxed)
            ),
            (
                "cluster_replayed_records_total", .counter, "Records that files were brought up with when they were opened.",
                counts.replayedRecords.load(ordering: .relaxed)
            ),
            ("cluster_fenced_total", .counter, "Realms that were lost to another node.", counts.fenced.load(ordering: .relaxed)),
            (
                "cluster_unknown_outcomes_total", .counter, "Commits whose outcome was not known in time.",
                counts.unknownOutcomes.load(ordering: .relaxed)
            ),
            (
                "cluster_hand_overs_total", .counter, "Requests for realms of other nodes.",
                counts.handOvers.load(ordering: .relaxed)
            ),
            (
                "cluster_failed_openings_total", .counter, "Realms that could not be opened because of the log.",
                counts.failedOpenings.load(ordering: .relaxed)
            ),
            ("cluster_bases_total", .counter, "Bases that were made of realms of this node.", bases.bases),
            ("cluster_prunings_total", .counter, "How often records behind a base were deleted from the log.", bases.prunings),
            ("cluster_base_failures_total", .counter, "Bases that could not be made.", bases.failures),
            ("cluster_register_failures_total", .counter, "Calls of the register that failed.", member.failures),
            ("cluster_taken_shards_total", .counter, "Shards taken from nodes that were gone.", member.takenShards),
        ]
        for (name, kind, help, value) in rows { text.single(name, kind, help: help, value: Double(value)) }
        text.single(
            "cluster_silence_seconds", .gauge, help: "The time since the register has answered.",
            value: min(self.member.silentSeconds, 1e9))
        (log as? PostgresLog)?.counts.write(to: &text)
    }
}

extension PostgresLog.Counts {
    /// Writes how the log is used.
    fileprivate func write(to text: inout MetricsText) {
        text.single("log_waiting_requests", .gauge, help: "Requests that wait for the log.", value: Double(waiting))
        text.single("log_rounds_total", .counter, help: "Transactions of the log.", value: Double(rounds))
        text.single("log_requests_total", .counter, help: "Requests of realms to the log.", value: Double(requests))
        text.single(
            "log_lost_rounds_total", .counter, help: "Transactions whose outcome is not known.", value: Double(lostRounds))
        text.single(
            "log_sent_bytes_total", .counter, help: "Bytes of records that were sent to the log.", value: Double(byteCount))
        text.single("log_round_seconds_total", .counter, help: "Time that transactions of the log took.", value: seconds)
    }
}
