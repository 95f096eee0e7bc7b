// SPDX-License-Identifier: Apache-2.0

internal import RealmEngine
internal import RealmStorage

/// One realm on its way into the catalog, under a name that is reserved; or a dry run of that.
///
/// - Whatever may be refused is tried in memory first (`Database.rehearse`), so that a refusal finds everything as it was:
///   no lock file, no seed, no half-made file. A dry run ends there.
/// - Then the file is made or opened, its schema is made what was asked for, and it is served.
/// - Whoever wants it no longer cancels it, and is told when nothing of it is left.
///
/// Whoever waits is told the outcome; otherwise the realm's document tells.
final class Attaching: Sendable {
    /// What was asked for.
    let attachment: RealmAttachment
    private let call: WriteCall
    private let isDryRun: Bool
    private let control: WorkControl
    /// Those who wait for the end after they have cancelled; nil when it is over.
    private let waiting = RankedMutex<[@Sendable () -> Void]?>(.leaf, [])

    private let directory: RealmDirectory
    /// The request that asked for the realm.
    var request: Request { call.request }
    private var name: String { attachment.name.text }

    /// An attempt to attach a realm, or, for a dry run, to find out what that would come to.
    init(_ attachment: RealmAttachment, _ call: WriteCall, _ directory: RealmDirectory, isDryRun: Bool) {
        self.attachment = attachment
        self.call = call
        self.directory = directory
        self.isDryRun = isDryRun
        control = WorkControl { [catalog = directory.catalog] part in
            if !isDryRun { catalog.setProgress(part, of: attachment.name) }
        }
    }

    private static let migrationSeconds = 3600.0

    /// An answer, or its absence: nobody waits for a realm that is opened in the background.
    typealias Promise = (any ResponsePromise)?

    /// Begins; on a thread that may wait.
    func run(_ promise: Promise) {
        if !isDryRun { directory.openings.withLock { $0[name] = self } }
        if let problem = attachment.served(by: directory.catalog) ?? attachment.missing() { return fail(problem, promise) }
        if let known = knownInMemory { return arrange(known, .known, promise) }
        guard needsRehearsal else { return realize(promise, after: 0) }
        control.begin(0...0.5)
        do throws(StorageError) {
            arrange(try rehearsal(), .rehearsal, promise)
        } catch {
            fail(problem(opening: error), promise, error)
        }
    }

    /// Stops, and calls `body` when nothing of it is left.
    func cancel(_ body: @escaping @Sendable () -> Void) {
        control.cancel()
        let isOver = waiting.withLock { waiting -> Bool in
            waiting?.append(body)
            return waiting == nil
        }
        if isOver { body() }
    }

    // MARK: - Opening

    /// What a database that is being arranged is.
    private enum Stage {
        /// Opened in memory, to find out what would become of it.
        case rehearsal
        /// Opened, or made, to be served.
        case real(isMade: Bool)
        /// A realm in memory that has another name already.
        case known
    }

    private var knownInMemory: Database? {
        guard case .memory(let identifier) = attachment.source else { return nil }
        return directory.catalog.databases.first { $0.memoryIdentifier == identifier }
    }

    /// Opening alone looks at the file by itself before it does anything.
    private var needsRehearsal: Bool {
        if isDryRun { return true }
        if case .memory = attachment.source { return false }
        return attachment.schema != nil || attachment.wantedVersion != nil || attachment.backlinkNames != .none
            || attachment.plants
    }

    private var openOptions: Database.OpenOptions {
        var options = attachment.adding(to: directory.options.openOptions)
        options.control = control
        if !isDryRun { options.logger = directory.catalog.logger }
        return options
    }

    private func rehearsal() throws(StorageError) -> Database {
        switch attachment.source {
        case .memory(let identifier):
            return try Database.openInMemory(name: attachment.name, identifier: identifier, openOptions)
        case .new(let path), .file(let path):
            return try Database.rehearse(
                name: attachment.name, path: path, seed: attachment.plants ? attachment.seed : nil, openOptions)
        }
    }

    /// Makes or opens the file, for good.
    private func realize(_ promise: Promise, after done: Double) {
        control.begin(done...1)
        do throws(StorageError) {
            try control.check()
            let isMade = attachment.isNew || attachment.plants
            if attachment.plants { try plantSeed() }
            do throws(StorageError) {
                arrange(try open(), .real(isMade: isMade), promise)
            } catch {
                if attachment.plants, let path = attachment.source.path { try? RealmFiles.delete(path, key: attachment.key) }
                throw error
            }
        } catch {
            fail(problem(opening: error), promise, error)
        }
    }

    private func open() throws(StorageError) -> Database {
        switch attachment.source {
        case .memory(let identifier):
            return try Database.openInMemory(name: attachment.name, identifier: identifier, openOptions)
        case .new(let path), .file(let path):
            return try Database.open(name: attachment.name, path: path, openOptions)
        }
    }

    private func plantSeed() throws(StorageError) {
        guard let seed = attachment.seed, let path = attachment.source.path else { return }
        let served = directory.catalog.database(atPath: seed)
        try Database.plant(
            seed, served: served?.current.snapshot, key: attachment.key, at: path, isExactPath: true, control)
    }

    private func problem(opening error: StorageError) -> Problem {
        guard attachment.plants, case .refused(.fileNotFound) = error else { return Problem(opening: error) }
        return attachment.missingSeed
    }

    // MARK: - The schema

    /// Makes the schema what was asked for, and goes on from there.
    private func arrange(_ database: Database, _ stage: Stage, _ promise: Promise) {
        let finish: @Sendable (Problem?, String?) -> Void = { [self] problem, backup in
            let goOn: @Sendable () -> Void = { [self] in
                proceed(problem: problem, backup: backup, with: database, stage, promise: promise)
            }
            // Closing waits for the writer, which may be the one that calls.
            let isQueued = directory.workers.submitContinuation(for: call.request.client, goOn)
            if !isQueued { fail(problem ?? Problem(.shuttingDown, "the server is shutting down"), promise) }
        }
        let isNew: Bool
        switch stage {
        case .rehearsal: isNew = attachment.isNew
        case .real(let isMade): isNew = isMade && !attachment.plants
        case .known: isNew = false
        }
        guard attachment.schema != nil || attachment.wantedVersion != nil else {
            return finish(namesMistake(database), nil)
        }
        guard database.isWritable else { return finish(compare(database) ?? namesMistake(database), nil) }
        fit(database, isNew: isNew, stage, finish)
    }

    private func namesMistake(_ database: Database) -> Problem? {
        attachment.backlinkNames.mistake(in: database.current.snapshot).map(Attaching.wrongNames)
    }

    private static func wrongNames(_ mistake: String) -> Problem {
        Problem(.invalidSchema, mistake).with("pointer", "/backlinkNames")
    }

    /// A file that is only read has to have the version already.
    private func compare(_ database: Database) -> Problem? {
        let version = database.current.snapshot.schemaVersion
        guard attachment.schema != nil || attachment.wantedVersion != version else { return nil }
        let detail = "the file has schema version \(version.map(String.init) ?? "none"), and can only be read"
        return Problem(.schemaVersionConflict, detail)
    }

    private func request(_ stage: Stage) -> WriteRequest {
        var request = WriteRequest(deadline: .now().adding(seconds: Attaching.migrationSeconds))
        request.control = control
        request.isAlone = true
        switch stage {
        // What a dry run shows is what would have become of it, in memory.
        case .rehearsal: request.isDryRun = !isDryRun
        case .known: request.isDryRun = isDryRun
        case .real: break
        }
        return request
    }

    /// Steps and additions are one commit: when the schema does not fit after the steps, nothing has happened.
    private func fit(
        _ database: Database, isNew: Bool, _ stage: Stage, _ finish: @escaping @Sendable (Problem?, String?) -> Void
    ) {
        let plan = SchemaPlan(attachment, isNew: isNew)
        database.write(
            request(stage),
            { session in
                let migrates = try plan.apply(to: session)
                if let mistake = plan.names.mistake(in: try session.view()) { throw Attaching.wrongNames(mistake) }
                return try migrates ? database.backUp(before: session) : nil
            },
            completion: { [self] (result: Result<WriteReceipt<String?>, WriteError>) in
                switch result {
                case .success(let receipt): finish(nil, receipt.value)
                case .failure(let error):
                    let problem = Problem(error)
                    guard attachment.startsOver, problem.code == .schemaVersionConflict else { return finish(problem, nil) }
                    startOver(database, stage, finish)
                }
            })
    }

    /// `onMigrationNeeded: delete`: all classes go, after a copy was made, and the new ones come, in one commit.
    private func startOver(_ database: Database, _ stage: Stage, _ finish: @escaping @Sendable (Problem?, String?) -> Void) {
        guard let schema = attachment.schema else { return }
        let place = InputPlace().inside("schema")
        database.write(
            request(stage),
            { session in
                try Problem.writing(place) { () throws(WriteError) in
                    try session.recreateSchema(schema)
                    return try database.backUp(before: session)
                }
            },
            completion: { (result: Result<WriteReceipt<String?>, WriteError>) in
                switch result {
                case .success(let receipt): finish(nil, receipt.value)
                case .failure(let error): finish(Problem(error), nil)
                }
            })
    }

    // MARK: - The end

    private func proceed(
        problem: Problem?, backup: String?, with database: Database, _ stage: Stage, promise: Promise
    ) {
        switch stage {
        case .rehearsal:
            let document = isDryRun && problem == nil ? rehearsed(database) : nil
            database.close()
            if let problem { return fail(problem, promise) }
            if let document { return end { promise?.complete(document) } }
            realize(promise, after: 0.5)
        case .known:
            if let problem { return fail(problem, promise) }
            if isDryRun { return end { promise?.complete(rehearsed(database)) } }
            serve(database, backup, promise)
        case .real(let isMade):
            if let problem {
                giveUp(database, isMade)
                return fail(problem, promise)
            }
            if !serve(database, backup, promise) { giveUp(database, isMade) }
        }
    }

    private func giveUp(_ database: Database, _ isMade: Bool) {
        if isMade { try? database.deleteFiles() }
        database.close(isUndone: true)
    }

    /// What a dry run answers.
    private func rehearsed(_ database: Database) -> Response {
        do throws(Problem) {
            var writer = JSONWriter(reservingCapacity: 512)
            try directory.write(name, .ready(database), to: &writer, for: call.request)
            // The document without its last brace, and one member more.
            writer.buffer.truncate(to: writer.buffer.count - 1)
            writer.buffer.append(attachment.exists ? ",\"exists\":true}" as StaticString : ",\"exists\":false}" as StaticString)
            let draft = WriteDraft(status: 201, content: .document(writer.buffer))
            let options = try WriteOptions(call, types: WriteOptions.json)
            var response = draft.response(.init(version: "", isCommitted: false), options)
            response.headers.removeAll { $0.name.description == "Realm-Version" }
            return response
        } catch {
            return Response(error, for: call.request)
        }
    }

    /// False when the realm cannot be served, which is told.
    @discardableResult
    private func serve(_ database: Database, _ backup: String?, _ promise: Promise) -> Bool {
        directory.attachedOptions.withLock { $0[name] = attachment.options }
        do throws(Catalog.Failure) {
            try directory.catalog.settle(attachment.name, .ready(database))
        } catch {
            fail(Problem(error), promise)
            return false
        }
        let response = promise.map { _ in answer(database, backup ?? database.originalName) }
        end { if let promise, let response { promise.complete(response) } }
        return true
    }

    private func answer(_ database: Database, _ backup: String?) -> Response {
        do throws(Problem) {
            let document = try directory.document(name, for: call.request)
            if let backup {
                document.truncate(to: document.count - 1)
                document.append(",\"backup\":" as StaticString)
                document.append(jsonString: backup)
                document.append(UInt8(ascii: "}"))
            }
            var response = Response(unstored: document, status: 201)
            response.addLocation(ObjectAddress.realm(name))
            response.add("Realm-Version", database.current.tokenText)
            return response
        } catch {
            return Response(error, for: call.request)
        }
    }

    /// Whoever did not wait finds the reason in the realm's document, when opening the file is what failed.
    private func fail(_ problem: Problem, _ promise: Promise, _ error: StorageError? = nil) {
        guard !isDryRun else { return end { promise?.complete(Response(problem, for: call.request)) } }
        let problem = control.isCancelled ? Problem(Catalog.Failure.detached) : problem
        _ = directory.attachedOptions.withLock { $0.removeValue(forKey: name) }
        if promise == nil, let error, !control.isCancelled {
            try? directory.catalog.settle(attachment.name, .failed(error))
        } else {
            directory.catalog.remove(name)
        }
        end { promise?.complete(Response(problem, for: call.request)) }
    }

    /// Tells everybody.
    private func end(_ tell: () -> Void) {
        if !isDryRun {
            directory.openings.withLock { openings in
                if openings[name] === self { openings[name] = nil }
            }
        }
        tell()
        let waiting = waiting.withLock { waiting in
            defer { waiting = nil }
            return waiting ?? []
        }
        for body in waiting { body() }
    }
}
