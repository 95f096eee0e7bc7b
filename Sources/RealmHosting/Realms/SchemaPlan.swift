// SPDX-License-Identifier: Apache-2.0

internal import RealmCalls
internal import RealmEngine
internal import RealmFormats
internal import RealmPlatform
internal import RealmStorage

/// The part of an attach request that concerns the schema: the classes to create, migrate or extend in the realm.
///
/// `AttachOperation` makes one and applies it in a write transaction, first with all changes in memory
/// and then to the real file, so that a dry run and the real call take the same decisions.
struct SchemaPlan: Sendable {
    /// The classes that the attach request asks for; nil when it has none.
    private let schema: SchemaInput?
    /// The schema version that the realm has to have afterwards; nil for any.
    private let wantedVersion: UInt64?
    /// The migrations of the data to `wantedVersion`; nil for none.
    private let migrations: AttachMigrations?
    /// Whether the migration steps may lose data.
    private let allowsDataLoss: Bool
    /// Whether the realm is empty because it was created for this request.
    private let isNew: Bool

    /// Makes the plan of an attach request.
    ///
    /// - Parameters:
    ///   - attachment: The request.
    ///   - isNew: Whether the realm was created for it, so that the schema is created rather than
    ///     compared.
    init(_ attachment: RealmAttachment, isNew: Bool) {
        schema = attachment.schema
        wantedVersion = attachment.wantedVersion
        migrations = attachment.migrations
        allowsDataLoss = attachment.allowsDataLoss
        self.isNew = isNew
    }

    /// Brings the schema of a realm to the requested one, within a write transaction.
    ///
    /// A new realm gets the schema as it is. An existing one is migrated if the steps lead beyond
    /// its version, and then the classes and properties that it lacks are added.
    ///
    /// - Parameter session: The write transaction. If this throws, the caller rolls it back.
    /// - Returns: Whether migration steps were performed. The caller then keeps a copy of the file
    ///   as it was before, as a migration cannot be undone.
    /// - Throws: `schema_version_conflict` when the realm has another version and no migration
    ///   leads to the requested one, at `/schemaVersion` when there is no schema; the problems of an
    ///   invalid schema, below `/schema` in the body; and those of a failed migration, below `/migrations`.
    func apply(to session: WriteSession) throws -> Bool {
        let place = InputPlace().inside("schema")
        if isNew {
            try Problem.writing(place) { () throws(WriteError) in
                if let schema { try SchemaValidator.requireNoEmbeddedIndex(schema) }
                try session.createSchema(schema ?? SchemaInput(version: wantedVersion, classes: []))
            }
            return false
        }
        let migrates = try migrate(session)
        guard let schema else {
            try requireVersion(session)
            return migrates
        }
        try Problem.written(session.fitSchema(schema), at: place)
        return migrates
    }

    /// Throws `schema_version_conflict` unless the realm has the version that was asked for without a schema.
    private func requireVersion(_ session: WriteSession) throws(Problem) {
        try Problem.writing(InputPlace().inside("schemaVersion")) { () throws(WriteError) in
            let version = try session.schema().version
            guard let wantedVersion, wantedVersion != version else { return }
            throw WriteError(.schemaVersionConflict, "the file has schema version \(version.map(String.init) ?? "none")")
        }
    }

    /// Performs the migrations if the realm has an older version than the one that they lead to.
    ///
    /// - Returns: Whether steps were performed.
    /// - Throws: The problem of a step, with its place in `migrations`; `schema_version_conflict` when
    ///   migrations are missing between the version of the realm and the wanted one.
    private func migrate(_ session: WriteSession) throws -> Bool {
        let version = try session.schema().version ?? 0
        guard let migrations, let wantedVersion, wantedVersion > version else { return false }
        switch migrations {
        case .steps(let steps):
            let migration = Migration(
                from: version, to: wantedVersion, steps, allowsDataLoss: allowsDataLoss, naming: .documents)
            do throws(WriteError) {
                _ = try session.migrate(migration)
            } catch {
                // In this request the steps are in `migrations`, not in `steps`.
                var inner = error
                if let first = inner.path.steps.first, first == .name("steps") {
                    inner.path = InputPath(Array(inner.path.steps.dropFirst()))
                }
                throw Problem(inner, at: SchemaPlan.place)
            }
        case .chain(let chain): try migrate(session, chain, from: version, to: wantedVersion)
        }
        return true
    }

    /// Performs the migrations of a chain that lead from the version of the realm to the wanted one.
    private func migrate(
        _ session: WriteSession, _ chain: MigrationChain, from version: UInt64, to wanted: UInt64
    ) throws(Problem) {
        let way = try Problem.written(chain.way(from: version, to: wanted), at: SchemaPlan.place)
        let stepCount = way.reduce(0) { $0 + $1.migration.steps.count }
        var done = 0
        for (index, migration) in way {
            var migration = migration
            if allowsDataLoss { migration.allowsDataLoss = true }
            try Problem.writing(SchemaPlan.place.inside(index)) { () throws(WriteError) in
                _ = try session.migrate(migration, part: (done: done, of: max(1, stepCount)))
            }
            done += migration.steps.count
        }
    }

    /// The place of the migrations in the body of the request.
    private static let place = InputPlace().inside("migrations")
}
