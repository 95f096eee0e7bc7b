// SPDX-License-Identifier: Apache-2.0

package import MicroHTTP
package import RealmAccess
internal import RealmBackups
package import RealmCalls
internal import RealmEngine
internal import RealmFormats
package import RealmHosting
internal import RealmPlatform
internal import RealmStorage
internal import Synchronization

/// Everything that the requests of one server share: realms, threads, memory, leases, and state kept for later requests.
///
/// All of it is made here, before anything that uses it, and never replaced; it lives as long as the server.
package final class ServerState: Sendable {
    /// The options in force, which a reload of the configuration changes.
    let liveOptions: LiveOptions
    /// Reads the configuration again.
    package let reloading: Reloading
    /// The realms by name, each being opened, open, or failed.
    package let catalog: Catalog
    /// The accepted hosts and origins, and the rights of each client.
    package let rules: AccessRules
    /// Authenticates requests.
    package let authenticator: Authenticator
    /// Whether the server is stopping; it then reports that it is not ready.
    package let lifecycle = Lifecycle()
    /// The content of `/metrics`; every part adds its own.
    package let metrics = MetricsRegistry()
    /// Transactions, snapshots and streams that clients hold, as administrators see them.
    package let leases = LeaseRegistry()
    /// Threads for longer work. The main listener starts and closes them.
    package let workers: WorkerPool
    /// One thread that runs short actions at given times.
    let timers = TimerQueue()
    /// The memory that request bodies may take, for all clients together and for each.
    let waitingBytes: ByteLedger
    /// The versions that clients hold for later reads.
    let pinned: PinnedVersions
    /// The subscriptions of all realms.
    let notifications: ChangeService
    /// Closes realms whose files other programs change, and opens them again.
    let supervisor: RealmSupervisor
    /// The realms as clients see and change them.
    let directory: RealmDirectory
    /// The backups of all realms.
    let backups: BackupService
    /// The findings of searches for the past of realms.
    let recoveries: KeptRecoveries
    /// Ships the commits of all realms; nil when nothing is shipped.
    let shipping: ShipService?
    /// This server as a node of a cluster; nil for a single server.
    let cluster: ClusterService?
    /// Verifies the tokens of clients.
    let tokens: TokenVerifier
    /// The certificates of the server; nil without encryption.
    let tls: TLSStore?
    /// The audit log; nil when none is written.
    package let audit: AuditLog?
    /// The log of requests; nil when none is written.
    let accessLog: AccessLog?
    /// The pages for people.
    let pages: PageBook
    /// The description of the whole interface.
    let api: APIDescription
    /// The level of the log, which administrators may change while the server runs.
    let logLevel: AccessLog.LevelSwitch

    /// Creates the state of a server. No thread is started here.
    ///
    /// - Parameters:
    ///   - catalog: The realms, which may be opened before or later.
    ///   - options: The options of the server, with its limits.
    ///   - configuration: The source of the options, which a reload reads again; nil for none.
    ///   - rules: The accepted hosts and origins, and the rights of each client.
    ///   - authenticator: Authenticates requests; nil for a server without credentials.
    ///   - folders: The folders in which requests may name files; by default none.
    ///   - realmLimit: The number of realms that the system's limit on open files permits; nil for the configured limit alone.
    ///   - tokens: Verifies the tokens of clients; nil for one that knows no issuers.
    ///   - tls: The certificates of the server; nil without encryption.
    ///   - accessLog: The log of requests; nil for none.
    ///   - audit: The audit log; nil for none.
    package init(
        catalog: Catalog, options: LiveOptions, configuration: Configuration? = nil, rules: AccessRules,
        authenticator: Authenticator? = nil, folders: RealmFolders = RealmFolders(), realmLimit: Int? = nil,
        tokens: TokenVerifier? = nil, tls: TLSStore? = nil, accessLog: AccessLog? = nil,
        audit: AuditLog? = nil
    ) {
        liveOptions = options
        let options = liveOptions.current
        let limits = options.limits
        self.catalog = catalog
        self.rules = rules
        self.tls = tls
        self.authenticator = authenticator ?? Authenticator(rules.access)
        self.accessLog = accessLog
        self.audit = audit
        self.tokens = tokens ?? TokenVerifier(liveOptions.limits, logger: options.logger)
        logLevel = accessLog?.level ?? AccessLog.LevelSwitch()
        pages = PageBook { [limits = liveOptions.limits] in
            OpenAPIDocument.api(version: Build.version, ints: .number, limits: limits.current)
        }
        api = APIDescription(liveOptions.limits)
        workers = WorkerPool(limits)
        waitingBytes = ByteLedger(limit: limits.waitingBytes, limitOfPrincipal: limits.waitingBytesPerPrincipal)
        pinned = PinnedVersions(liveOptions.limits, leases, timers)
        notifications = ChangeService(liveOptions.limits, timers, workers)
        supervisor = RealmSupervisor(
            catalog: catalog, pinned: pinned, notifications: notifications, workers: workers,
            options: liveOptions, log: accessLog)
        let spoolFolders = ServerState.spoolFolders(options)
        backups = BackupService(catalog, options.backupPlan, spoolFolders: spoolFolders, log: accessLog, audit: audit)
        recoveries = KeptRecoveries(timers)
        shipping = ServerState.shipping(options, catalog, spoolFolders: spoolFolders, log: accessLog)
        cluster = ClusterService(options.cluster, catalog, options.environment)
        directory = RealmDirectory(
            catalog: catalog, options: liveOptions, folders: folders, realmLimit: realmLimit ?? limits.realms,
            access: rules.access, workers: workers, pinned: pinned, notifications: notifications, cluster: cluster)
        reloading = Reloading(
            configuration, liveOptions, directory: directory, leases: leases, backups: backups, tokens: self.tokens, tls: tls,
            accessLog: accessLog, audit: audit, logLevel: logLevel)
        addMetrics()
    }

    /// The callbacks of a cluster node to the server.
    var clusterHooks: ClusterService.Hooks {
        ClusterService.Hooks(
            fail: { [weak supervisor] database, error in supervisor?.fail(database, error) },
            endReaders: { [weak pinned] database, version in pinned?.free(database, upTo: version) },
            mark: { [weak notifications] database, names in
                notifications.flatMap { SkipMark(names, database, $0.registrations)?.commitMark }
            })
    }

    /// The options in force.
    package var options: ServerOptions { liveOptions.current }

    /// The limits on sizes, counts and times, from the options of the server.
    package var limits: Limits { liveLimits.current }

    /// The limits in force, for code that keeps reading them.
    var liveLimits: LiveLimits { liveOptions.limits }

    /// The folders in which long bodies are stored: the data folder, if there is one, then the temporary folder of the system.
    var spoolFolders: [String] { ServerState.spoolFolders(options) }

    /// Returns the folders in which the long bodies of a server with these options are stored.
    private static func spoolFolders(_ options: ServerOptions) -> [String] {
        [options.dataFolder, System.temporaryFolder].compactMap { $0 }
    }

    /// Makes the service that ships commits, and has it follow every realm that is opened; nil when nothing is shipped.
    private static func shipping(
        _ options: ServerOptions, _ catalog: Catalog, spoolFolders: [String], log: AccessLog?
    ) -> ShipService? {
        // Errors in the target were found when the configuration was checked.
        guard let store = try? options.ship.store(options.environment) else { return nil }
        let service = ShipService(
            options.ship, to: store.makingFiles(inOneOf: spoolFolders), catalog, queueBytes: options.limits.shipQueueBytes,
            log: log)
        catalog.whenOpening { [weak service] database in service?.attach(database) }
        return service
    }

    /// Adds the metrics of the parts that are made here.
    private func addMetrics() {
        metrics.addSnapshots(pinned)
        metrics.add { [waitingBytes] text in
            let counts = waitingBytes.counts
            text.gauge("waiting_bytes", "Memory for bodies of requests that are received, parsed or waiting.", counts.bytes)
            text.counter("waiting_bytes_refused_total", "Requests refused because bodies took too much memory.", counts.refusals)
        }
        metrics.add { text in
            text.gauge(
                "uncommitted_bytes", "Memory of the uncommitted changes of all realms.", WriteMemory.shared.byteCount)
            text.counter(
                "uncommitted_bytes_refused_total", "Writes refused because others took too much memory.",
                WriteMemory.shared.refusalCount)
        }
        metrics.add { [authenticator] text in authenticator.write(to: &text) }
        metrics.add { [notifications] text in notifications.write(to: &text) }
        metrics.add { [supervisor] text in supervisor.write(to: &text) }
        metrics.add { [tokens] text in tokens.write(to: &text) }
        metrics.add { [liveOptions] text in liveOptions.roles.write(to: &text) }
        metrics.add { [backups] text in backups.planned?.write(to: &text) }
        if let cluster {
            catalog.replicate(by: cluster)
            metrics.add { text in cluster.write(to: &text) }
        }
        if let shipping { metrics.add { text in shipping.write(to: &text) } }
        metrics.add { [reloading] text in reloading.write(to: &text) }
        if let tls { metrics.add { text in tls.write(to: &text) } }
        if let audit { metrics.add { text in audit.write(to: &text) } }
        guard let accessLog else { return }
        metrics.add { text in
            text.counter(
                "log_lines_dropped_total", "Log lines dropped because the output was not read in time.", accessLog.droppedLines)
        }
    }
}

/// Whether the server is stopping. Any thread may read and change it.
package final class Lifecycle: Sendable {
    private let stopping = Atomic<Bool>(false)

    /// Makes the state of a server that is not stopping.
    package init() {}

    /// Records that the server is stopping: the readiness check fails from then on, so that a load
    /// balancer sends no more requests.
    package func beginStopping() { stopping.store(true, ordering: .relaxed) }

    /// Whether the server is stopping, so that its readiness check fails.
    package var isStopping: Bool { stopping.load(ordering: .relaxed) }
}
