// SPDX-License-Identifier: Apache-2.0

/// The endpoints of a server, one value per resource.
///
/// A route names the function that answers by its way from here, such as `\.objects` and `get`.
struct Endpoints: Sendable {
    let administration: AdminEndpoints
    let aggregates = AggregateEndpoints()
    let asyncWrites = AsyncWriteEndpoints()
    let batches = BatchEndpoints()
    let changes: ChangeEndpoints
    let classes = ClassWriteEndpoints()
    let exports = ExportEndpoints()
    let imports: ImportEndpoints
    let lists = ListEndpoints()
    let migrations = MigrationEndpoints()
    let objects = ObjectEndpoints()
    let objectWrites = ObjectWriteEndpoints()
    let operations: OperationsEndpoints
    let properties = PropertyEndpoints()
    let realms: RealmEndpoints
    let schemas: SchemaEndpoints
    let snapshots: SnapshotEndpoints
    let subscriptions: SubscriptionEndpoints
    let transactions: TransactionEndpoints

    /// Endpoints over the parts of `state`; `apiText` is the description of the interface.
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
