// SPDX-License-Identifier: Apache-2.0

/// The endpoints of one server, with one value per resource.
///
/// An endpoint has the functions that answer the calls of a resource, and only the parts of the
/// server's state that these need. A route names its function by the way from here, such as
/// `\.objects` and `get`; `HandlerTable` binds them once.
struct Endpoints: Sendable {
    /// Leases and configuration, for administrators.
    let administration: AdminEndpoints
    /// Counts, minima, maxima, sums and averages.
    let aggregates = AggregateEndpoints()
    /// The states of writes that were answered early.
    let asyncWrites = AsyncWriteEndpoints()
    /// Several operations in one transaction.
    let batches = BatchEndpoints()
    /// Streams of changes and long-polls.
    let changes: ChangeEndpoints
    /// Writes of new objects, and of all objects that match.
    let classes = ClassWriteEndpoints()
    /// Exports of realms and classes.
    let exports = ExportEndpoints()
    /// Imports of exports, and of lines of objects.
    let imports: ImportEndpoints
    /// Lists of objects and queries.
    let lists = ListEndpoints()
    /// Changes of schemas.
    let migrations = MigrationEndpoints()
    /// Reads of single objects.
    let objects = ObjectEndpoints()
    /// Writes of single objects and properties.
    let objectWrites = ObjectWriteEndpoints()
    /// Health, readiness and metrics.
    let operations: OperationsEndpoints
    /// Reads of properties and of linking objects.
    let properties = PropertyEndpoints()
    /// Realms: listing, attaching and detaching them.
    let realms: RealmEndpoints
    /// Schemas and API descriptions.
    let schemas: SchemaEndpoints
    /// Versions that clients hold.
    let snapshots: SnapshotEndpoints
    /// Registered subscriptions.
    let subscriptions: SubscriptionEndpoints
    /// Interactive transactions.
    let transactions: TransactionEndpoints

    /// Creates the endpoints of a server.
    ///
    /// - Parameters:
    ///   - state: The state of the server; each endpoint takes the parts that it needs.
    ///   - apiText: Returns the API description as JSON, for a form of integers.
    init(_ state: ServerState, apiText: @escaping @Sendable (OpenAPIDocument.Integers) -> String) {
        administration = AdminEndpoints(
            catalog: state.catalog, options: state.options, rules: state.rules, registry: state.leases,
            logLevel: state.logLevel)
        changes = ChangeEndpoints(
            notifications: state.notifications, leases: state.leases, alarm: state.alarm, workers: state.workers)
        imports = ImportEndpoints(limits: state.limits, spoolFolders: state.spoolFolders)
        operations = OperationsEndpoints(catalog: state.catalog, registry: state.metrics, lifecycle: state.lifecycle)
        realms = RealmEndpoints(directory: state.directory)
        schemas = SchemaEndpoints(apiText: apiText)
        snapshots = SnapshotEndpoints(pinned: state.pinned, access: state.rules.access)
        subscriptions = SubscriptionEndpoints(notifications: state.notifications, workers: state.workers)
        transactions = TransactionEndpoints(
            allowsTransactions: state.options.allowsTransactions, leases: state.leases)
    }
}
