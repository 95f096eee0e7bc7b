// SPDX-License-Identifier: Apache-2.0

internal import RealmEngine
internal import RealmStorage

/// One realm on its way into the catalog, under a name that is reserved.
///
/// Opened first, then its schema is made what was asked for, then it is served. Whoever waits is told; otherwise the
/// realm's document tells.
final class Attaching: Sendable {
    private let attachment: RealmAttachment
    private let call: Call
    private let options: WriteOptions

    private var application: Application { call.application }
    private var name: String { attachment.name.text }

    init(_ attachment: RealmAttachment, _ call: Call, _ options: WriteOptions) {
        self.attachment = attachment
        self.call = call
        self.options = options
    }

    private static let migrationSeconds = 3600.0

    private var request: WriteRequest { WriteRequest(deadline: .now().adding(seconds: Attaching.migrationSeconds)) }

    // MARK: - Opening

    /// Opens the realm; nobody waits when there is no promise.
    func run(_ promise: (any ResponsePromise)?) {
        do throws(StorageError) {
            if case .memory(let identifier) = attachment.source,
                let known = application.catalog.databases.first(where: { $0.memoryIdentifier == identifier }) {
                return arrange(known, isNew: false, promise)
            }
            if let problem = attachment.served(by: application.catalog) { return fail(problem, promise) }
            if let problem = try plantSeed() { return fail(problem, promise) }
            var isNew = false
            if case .new(let path) = attachment.source, !RealmFiles.exists(path) { isNew = true }
            if case .memory = attachment.source { isNew = true }
            arrange(try open(), isNew: isNew, promise)
        } catch {
            fail(Problem(opening: error), promise, error)
        }
    }

    private func open() throws(StorageError) -> Database {
        var openOptions = attachment.openOptions
        openOptions.limits = application.writeLimits
        openOptions.observation = ObservationLimits(evaluationSeconds: Double(application.limits.observationSeconds))
        openOptions.didProceed = { [application, name = attachment.name] part in application.catalog.setProgress(part, of: name) }
        switch attachment.source {
        case .memory(let identifier):
            return try Database.openInMemory(name: attachment.name, identifier: identifier, openOptions)
        case .new(let path), .file(let path):
            return try Database.open(name: attachment.name, path: path, openOptions)
        }
    }

    /// Copies the seed unless the file is there.
    private func plantSeed() throws(StorageError) -> Problem? {
        guard let path = attachment.source.path else { return nil }
        let exists = RealmFiles.exists(path)
        if case .new = attachment.source, exists, attachment.seed == nil {
            return Problem(.fileExists, "there is a file of this name already")
        }
        guard let seed = attachment.seed, !exists else { return nil }
        guard RealmFiles.exists(seed) else {
            return Problem(.fileNotFound, "the seed does not exist").with("pointer", "/seed")
        }
        let served = application.catalog.database(atPath: try System.resolved(seed))
        try Database.plant(seed, served: served?.current.snapshot, key: attachment.key, at: path)
        return nil
    }

    // MARK: - The schema

    /// Makes the schema what was asked for.
    private func arrange(_ database: Database, isNew: Bool, _ promise: (any ResponsePromise)?) {
        let attachment = attachment
        guard attachment.schema != nil || attachment.wantedVersion != nil else { return finish(database, promise) }
        guard database.isWritable else { return compare(database, promise) }
        let version = database.current.snapshot.schemaVersion ?? 0
        guard let steps = attachment.migrationSteps, !isNew, let wanted = attachment.wantedVersion, wanted > version else {
            return fit(database, isNew: isNew, promise)
        }
        let migration = Migration(from: version, to: wanted, steps, allowsDataLoss: attachment.allowsDataLoss)
        database.migrate(migration, request) { result in
            switch result {
            case .failure(let error):
                // Steps stand under `migrations` here.
                let place = InputPlace().inside("migrations")
                var inner = error
                if let first = inner.path.steps.first, first == .name("steps") { inner.path = InputPath(Array(inner.path.steps.dropFirst())) }
                self.giveUp(database, isNew, Problem(inner, at: place), promise)
            case .success: self.fit(database, isNew: isNew, promise)
            }
        }
    }

    /// A file that is only read has to have the version already.
    private func compare(_ database: Database, _ promise: (any ResponsePromise)?) {
        let version = database.current.snapshot.schemaVersion
        guard attachment.schema == nil, attachment.wantedVersion == version else {
            let detail = "the file has schema version \(version.map(String.init) ?? "none"), and can only be read"
            return giveUp(database, false, Problem(.schemaVersionConflict, detail), promise)
        }
        finish(database, promise)
    }

    private func fit(_ database: Database, isNew: Bool, _ promise: (any ResponsePromise)?) {
        let schema = attachment.schema
        let wanted = attachment.wantedVersion
        let place = InputPlace().inside("schema")
        database.write(request, { session in
            try Problem.writing(place) { () throws(WriteError) in
                let present = try session.schema()
                if isNew, let schema { try SchemaValidator.requireNoEmbeddedIndex(schema) }
                if isNew { return try session.createSchema(schema ?? SchemaInput(version: wanted, classes: [])) }
                guard wanted.map({ $0 == present.version }) ?? true || schema != nil else {
                    throw WriteError(.schemaVersionConflict, "the file has schema version \(present.version.map(String.init) ?? "none")")
                }
                if let schema { try session.fitSchema(schema) }
            }
        }, completion: { (result: Result<WriteReceipt<Void>, WriteError>) in
            switch result {
            case .success: self.finish(database, promise)
            case .failure(let error):
                let problem = Problem(error)
                if self.attachment.startsOver, problem.code == .schemaVersionConflict { return self.startOver(database, promise) }
                self.giveUp(database, isNew, problem, promise)
            }
        })
    }

    /// `onMigrationNeeded: delete`: all classes go, after a copy was made, and the new ones come, in one commit.
    private func startOver(_ database: Database, _ promise: (any ResponsePromise)?) {
        guard let schema = attachment.schema else { return }
        let place = InputPlace().inside("schema")
        var request = request
        request.isAlone = true
        database.write(request, { session in
            try Problem.writing(place) { () throws(WriteError) in
                try database.backUp()
                try session.recreateSchema(schema)
            }
        }, completion: { (result: Result<WriteReceipt<Void>, WriteError>) in
            switch result {
            case .success: self.finish(database, promise)
            case .failure(let error): self.giveUp(database, false, Problem(error), promise)
            }
        })
    }

    // MARK: - The end

    private func finish(_ database: Database, _ promise: (any ResponsePromise)?) {
        if let mistake = database.backlinkNames.mistake(in: database.current.snapshot) {
            return giveUp(database, false, Problem(.invalidSchema, mistake).with("pointer", "/backlinkNames"), promise)
        }
        application.attachedOptions.withLock { $0[name] = attachment.options }
        do throws(Catalog.Failure) {
            try application.catalog.settle(attachment.name, .ready(database))
        } catch {
            return giveUp(database, false, Problem(error), promise)
        }
        guard let promise else { return }
        do throws(Problem) {
            var response = application.unstored(201, try application.realmDocument(name, call))
            response.add("Location", ObjectAddress.realm(name))
            response.add("Realm-Version", database.current.tokenText)
            promise.complete(response)
        } catch {
            promise.complete(application.response(to: error, for: call.request))
        }
    }

    /// Lets go of what was opened. Closing waits for the writer, which may be the one that calls.
    private func giveUp(_ database: Database, _ isNew: Bool, _ problem: Problem, _ promise: (any ResponsePromise)?) {
        let close: @Sendable () -> Void = { [self] in
            // A realm in memory may have another name.
            if !application.catalog.databases.contains(where: { $0 === database }) { database.close() }
            if isNew { try? database.deleteFiles() }
            fail(problem, promise)
        }
        let isQueued = application.workers.withLock { $0 }?.submitContinuation(for: call.request.client, close) ?? false
        if !isQueued { fail(problem, promise) }
    }

    /// Whoever did not wait finds the reason in the realm's document, when opening the file is what failed.
    private func fail(_ problem: Problem, _ promise: (any ResponsePromise)?, _ error: StorageError? = nil) {
        _ = application.attachedOptions.withLock { $0.removeValue(forKey: name) }
        if promise == nil, let error {
            try? application.catalog.settle(attachment.name, .failed(error))
        } else {
            application.catalog.remove(name)
        }
        promise?.complete(application.response(to: problem, for: call.request))
    }
}
