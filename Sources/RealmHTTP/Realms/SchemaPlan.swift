// SPDX-License-Identifier: Apache-2.0

internal import RealmEngine
internal import RealmStorage

/// What is to become of the schema of a realm that is attached.
struct SchemaPlan: Sendable {
    private let schema: SchemaInput?
    private let wantedVersion: UInt64?
    private let steps: [MigrationStep]?
    private let allowsDataLoss: Bool
    private let isNew: Bool
    /// Names of linking objects that the schema has to allow.
    let names: BacklinkNames

    /// The plan of a request; `isNew` for a file that was made for it.
    init(_ attachment: RealmAttachment, isNew: Bool) {
        schema = attachment.schema
        wantedVersion = attachment.wantedVersion
        steps = attachment.migrationSteps
        allowsDataLoss = attachment.allowsDataLoss
        names = attachment.backlinkNames
        self.isNew = isNew
    }

    /// Returns whether steps were done, which cannot be taken back.
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

    private func migrate(_ session: WriteSession) throws -> Bool {
        let version = try session.schema().version ?? 0
        guard let steps, let wantedVersion, wantedVersion > version else { return false }
        let migration = Migration(
            from: version, to: wantedVersion, steps, allowsDataLoss: allowsDataLoss, naming: .documents)
        do throws(WriteError) {
            _ = try session.migrate(migration)
        } catch {
            // Steps stand under `migrations` here.
            var inner = error
            if let first = inner.path.steps.first, first == .name("steps") {
                inner.path = InputPath(Array(inner.path.steps.dropFirst()))
            }
            throw Problem(inner, at: InputPlace().inside("migrations"))
        }
        return true
    }
}
