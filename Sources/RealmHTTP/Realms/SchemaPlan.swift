// SPDX-License-Identifier: Apache-2.0

internal import RealmEngine
internal import RealmStorage

/// The part of an attach request that concerns the schema: what to create, migrate or extend in the
/// realm.
///
/// `Attaching` makes one and applies it in a write transaction, first with all changes in memory
/// and then to the real file, so that a dry run and the real call take the same decisions.
struct SchemaPlan: Sendable {
    /// The classes that the attach request asks for; nil when it has none.
    private let schema: SchemaInput?
    /// The schema version that the realm has to have afterwards; nil for any.
    private let wantedVersion: UInt64?
    /// The steps of a migration to `wantedVersion`; nil without a migration.
    private let steps: [MigrationStep]?
    /// Whether the migration steps may lose data.
    private let allowsDataLoss: Bool
    /// Whether the realm is empty because it was created for this request.
    private let isNew: Bool
    /// The options that name classes and properties, which must fit the schema that results.
    let settings: RealmSettings

    /// Makes the plan of an attach request.
    ///
    /// - Parameters:
    ///   - attachment: The request.
    ///   - isNew: Whether the realm was created for it, so that the schema is created rather than
    ///     compared.
    init(_ attachment: RealmAttachment, isNew: Bool) {
        schema = attachment.schema
        wantedVersion = attachment.wantedVersion
        steps = attachment.migrationSteps
        allowsDataLoss = attachment.allowsDataLoss
        settings = attachment.settings
        self.isNew = isNew
    }

    /// Brings the schema of a realm to what was requested, within a write transaction.
    ///
    /// A new realm gets the schema as it is. An existing one is migrated if the steps lead beyond
    /// its version, and then the classes and properties that it lacks are added.
    ///
    /// - Parameter session: The write transaction. If this throws, the caller rolls it back.
    /// - Returns: Whether migration steps were performed. The caller then keeps a copy of the file
    ///   as it was before, as a migration cannot be undone.
    /// - Throws: `schema_version_conflict` when the realm has another version and no migration
    ///   leads to the requested one; the problems of an invalid schema, below `/schema` in the
    ///   body; and those of a failed migration, below `/migrations`.
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
        try Problem.writing(place) { () throws(WriteError) in
            let present = try session.schema()
            guard wantedVersion.map({ $0 == present.version }) ?? true || schema != nil else {
                throw WriteError(
                    .schemaVersionConflict, "the file has schema version \(present.version.map(String.init) ?? "none")")
            }
            if let schema { try session.fitSchema(schema) }
        }
        return migrates
    }

    /// Performs the migration steps if the realm has an older version than the one that they lead
    /// to.
    ///
    /// - Returns: Whether the steps were performed.
    private func migrate(_ session: WriteSession) throws -> Bool {
        let version = try session.schema().version ?? 0
        guard let steps, let wantedVersion, wantedVersion > version else { return false }
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
            throw Problem(inner, at: InputPlace().inside("migrations"))
        }
        return true
    }
}
