// SPDX-License-Identifier: Apache-2.0

internal import RealmAccess
internal import RealmFormats
internal import RealmHosting
internal import RealmPlatform
internal import RealmStorage

/// The endpoints that need parts of a server, with one value per resource. Others have static functions.
///
/// An endpoint has the functions that answer the calls of a resource, and only the parts of the
/// server's state that these need. `HandlerTable` binds them once.
struct Endpoints: Sendable {
    /// Answers requests about leases and the configuration, for administrators.
    let administration: AdminEndpoints
    /// Copies realms as files.
    let backups: BackupEndpoints
    /// Lists, makes, sends and deletes the backups of realms.
    let backupLists: BackupListEndpoints
    /// Answers with streams of changes, or with long-polls.
    let changes: ChangeEndpoints
    /// Tells of the cluster that the server is a node of.
    let cluster: ClusterEndpoints
    /// Answers with the contents of a realm or a class as a stream.
    let exports: ExportEndpoints
    /// Compacts the files of realms.
    let compactions: CompactionEndpoints
    /// Reads exports, and lines of objects, into a realm.
    let imports: ImportEndpoints
    /// Lists, makes, replaces and revokes API keys.
    let keys: KeyEndpoints
    /// Shows the last lines of the log.
    let logs: LogEndpoints
    /// Reports health, readiness and metrics.
    let operations: OperationsEndpoints
    /// Answers with the pages for people.
    let pages: PageEndpoints
    /// Lists, attaches and detaches realms.
    let realms: RealmEndpoints
    /// Replaces the files of realms by backups.
    let restores: RestoreEndpoints
    /// Answers with schemas and API descriptions.
    let schemas: SchemaEndpoints
    /// Tells a client who it is, and begins and ends sessions of browsers.
    let sessions: SessionEndpoints
    /// Creates, renews and releases snapshots, which hold versions for clients.
    let snapshots: SnapshotEndpoints
    /// Registers subscriptions, and describes or ends registrations.
    let subscriptions: SubscriptionEndpoints
    /// Begins, commits and rolls back interactive transactions.
    let transactions: TransactionEndpoints
    /// Serves private copies of files that clients send.
    let uploads: UploadEndpoints

    /// Creates the endpoints of a server. Each takes the parts of its state that it needs.
    init(_ state: ServerState) {
        administration = AdminEndpoints(
            catalog: state.catalog, options: state.liveOptions, reloading: state.reloading, rules: state.rules,
            registry: state.leases,
            logLevel: state.logLevel)
        backups = BackupEndpoints(
            liveLimits: state.liveLimits, spoolFolders: state.spoolFolders, directory: state.directory,
            stored: state.backups.stored)
        cluster = ClusterEndpoints(cluster: state.cluster)
        backupLists = BackupListEndpoints(liveLimits: state.liveLimits, backups: state.backups)
        changes = ChangeEndpoints(
            notifications: state.notifications, leases: state.leases, timers: state.timers, workers: state.workers)
        compactions = CompactionEndpoints(workers: state.workers, directory: state.directory)
        exports = ExportEndpoints(spoolFolders: state.spoolFolders)
        imports = ImportEndpoints(
            liveLimits: state.liveLimits, lifecycle: state.lifecycle, spoolFolders: state.spoolFolders)
        keys = KeyEndpoints(keys: state.authenticator.keys, options: state.liveOptions)
        logs = LogEndpoints(log: state.accessLog)
        sessions = SessionEndpoints(
            authenticator: state.authenticator, catalog: state.catalog, options: state.liveOptions)
        operations = OperationsEndpoints(
            catalog: state.catalog, registry: state.metrics, lifecycle: state.lifecycle, audit: state.audit,
            cluster: state.cluster)
        pages = PageEndpoints(
            isOn: state.options.showsConsole,
            pages: PageBook { [liveLimits = state.liveLimits] in
                OpenAPIDocument.api(version: Build.version, ints: .number, limits: liveLimits.current)
            })
        realms = RealmEndpoints(directory: state.directory)
        restores = RestoreEndpoints(
            liveLimits: state.liveLimits, spoolFolders: state.spoolFolders, directory: state.directory, backups: state.backups)
        schemas = SchemaEndpoints(api: APIDescription(state.liveLimits))
        snapshots = SnapshotEndpoints(pinned: state.pinned)
        uploads = UploadEndpoints(
            liveLimits: state.liveLimits, spoolFolders: state.spoolFolders, directory: state.directory)
        subscriptions = SubscriptionEndpoints(notifications: state.notifications, workers: state.workers)
        transactions = TransactionEndpoints(
            allowsTransactions: state.options.allowsTransactions, leases: state.leases)
    }
}
