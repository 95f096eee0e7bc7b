// SPDX-License-Identifier: Apache-2.0

package import MicroHTTP
internal import RealmAccess
package import RealmCalls
internal import RealmEngine
internal import RealmFormats
internal import RealmPlatform
internal import RealmStorage

/// One attempt to attach a realm under a name that is reserved, or a dry run of that.
///
/// Everything that may be refused is tried first with all changes in memory (`Database.dryRun`), so that a refusal leaves no
/// trace: no lock file, no copied seed, no half-made file. A dry run ends there. Then the file is created or opened, its schema
/// is brought to the requested one, and the catalog serves it.
///
/// `RealmEndpoints` makes one per request and runs it on a worker. A client that waits gets the
/// outcome as its response. Without one (`respond-async`) the outcome is in the realm's document.
/// `DetachOperation` may cancel the attempt from another thread.
package final class AttachOperation: Sendable {
    /// The body of the attach request, with its paths resolved.
    package let attachment: RealmAttachment
    /// The HTTP request, which decides how the response is written.
    package let call: Call
    /// The attempt that has failed and that this one repeats; nil for a first attempt. After another failure the
    /// realm stays listed as failed.
    private let former: AttachOperation?
    /// Whether the attempt is a dry run, which changes nothing outside of memory.
    private let isDryRun: Bool
    /// Cancels the work between its steps, and reports its progress to the catalog.
    private let control: WorkControl
    /// Actions to call when the attempt has ended, added by `cancel`; nil after the end.
    private let waiting = RankedMutex<[@Sendable () -> Void]?>(.leaf, [])

    /// The realms of the server, to which the attached realm will belong.
    private let directory: RealmDirectory
    /// The name under which the realm will be served.
    private var name: String { attachment.name.text }

    /// Makes an attempt, which begins with `run`.
    ///
    /// - Parameters:
    ///   - attachment: The request, with its paths resolved. Unless this is a dry run, its name is
    ///     reserved in the catalog.
    ///   - call: The HTTP request.
    ///   - directory: The realms of the server.
    ///   - isDryRun: Whether the request is a dry run.
    ///   - former: The failed attempt that is repeated; nil for a first one.
    package init(
        _ attachment: RealmAttachment, _ call: Call, _ directory: RealmDirectory, isDryRun: Bool,
        repeating former: AttachOperation? = nil
    ) {
        self.attachment = attachment
        self.former = former
        self.call = call
        self.directory = directory
        self.isDryRun = isDryRun
        // The realm keeps the control, which must not keep the file that a client has sent.
        control = WorkControl { [catalog = directory.catalog, name = attachment.name] part in
            if !isDryRun { catalog.setProgress(part, of: name) }
        }
    }

    /// The seconds that a migration may take while a realm is attached.
    private static let migrationSeconds = 3600.0

    /// Receives the response; nil when no client waits because the realm is opened in the background.
    package typealias Promise = (any ResponsePromise)?

    /// Begins the attempt, and ends it on this or on another thread. Called on a worker, as it waits for files.
    ///
    /// - Parameter promise: Receives 201 with the realm's document, the response of the dry run, or
    ///   a problem.
    package func run(_ promise: Promise) {
        if !isDryRun { directory.openings.withLock { $0[name] = self } }
        if let problem = attachment.served(by: directory.catalog) ?? attachment.missing() { return fail(problem, promise) }
        if let known = knownInMemory { return arrange(known, .known, promise) }
        if !isDryRun, let path = attachment.source.path {
            FileCopies(ofFile: path, key: attachment.settings.key).removeSecondName()
        }
        guard needsDryRun else { return realize(promise, after: 0) }
        control.begin(0...0.5)
        do throws(StorageError) {
            arrange(try dryRun(), .dryRun, promise)
        } catch {
            fail(problem(opening: error), promise, error)
        }
    }

    /// Asks the attempt to stop at its next step.
    ///
    /// - Parameter body: Called once when nothing of the attempt is left, on the thread that ends
    ///   it, or at once if it has ended.
    func cancel(_ body: @escaping @Sendable () -> Void) {
        control.cancel()
        let isOver = waiting.withLock { waiting -> Bool in
            waiting?.append(body)
            return waiting == nil
        }
        if isOver { body() }
    }

    // MARK: - Opening

    /// The purpose for which a database was opened while a realm is being attached.
    private enum Stage {
        /// It was opened with changes in memory, as a dry run.
        case dryRun
        /// It was opened to be served. `isMade` states that its file was created by this attempt,
        /// so that it is deleted after a failure.
        case real(isMade: Bool)
        /// It is a realm in memory that is served under another name already.
        case known
    }

    /// The open realm in memory with the requested identifier; nil when there is none, and for files.
    private var knownInMemory: Database? {
        guard case .memory(let identifier) = attachment.source else { return nil }
        return directory.catalog.databases.first { $0.memoryIdentifier == identifier }
    }

    /// Whether something might be refused after the file has been changed. Opening alone checks the
    /// file before it changes anything, so it needs no rehearsal.
    private var needsDryRun: Bool {
        if isDryRun { return true }
        if case .memory = attachment.source { return false }
        return attachment.schema != nil || attachment.wantedVersion != nil || openOptions.namesSchema
            || attachment.plants || attachment.settings.upgradesInPlace
    }

    /// The options of the server and of the request together, with the control of this attempt.
    private var openOptions: Database.OpenOptions {
        var options = attachment.adding(to: directory.options.openOptions)
        options.control = control
        // Checked later: the names must fit the schema after the request's migration, not that of the file.
        options.requiresNames = false
        if !isDryRun { directory.catalog.prepare(&options, for: attachment.source.path) }
        return options
    }

    /// Opens the realm with all changes in memory, to find refusals.
    private func dryRun() throws(StorageError) -> Database {
        switch attachment.source {
        case .memory(let identifier):
            return try Database.openInMemory(name: attachment.name, identifier: identifier, openOptions)
        case .sent(let file): return try Database.dryRun(name: attachment.name, path: file.openPath, openOptions)
        case .new(let path), .file(let path):
            return try Database.dryRun(
                name: attachment.name, path: path, seed: attachment.plants ? attachment.seed : nil, openOptions)
        }
    }

    /// Creates or opens the file for good. A seed that was copied is deleted again if the file cannot be opened.
    ///
    /// - Parameters:
    ///   - promise: Receives the response.
    ///   - done: The part of the progress that the rehearsal has taken, from 0 to 1.
    private func realize(_ promise: Promise, after done: Double) {
        control.begin(done...1)
        do throws(StorageError) {
            try control.check()
            let isMade = attachment.isNew || attachment.plants
            if attachment.plants { try plantSeed() }
            do throws(StorageError) {
                arrange(try open(), .real(isMade: isMade), promise)
            } catch {
                if attachment.plants, let path = attachment.source.path {
                    try? RealmFiles.delete(path, key: attachment.settings.key)
                }
                throw error
            }
        } catch {
            fail(problem(opening: error), promise, error)
        }
    }

    /// Opens the file, or the realm in memory.
    private func open() throws(StorageError) -> Database {
        switch attachment.source {
        case .memory(let identifier):
            return try Database.openInMemory(name: attachment.name, identifier: identifier, openOptions)
        case .sent(let file): return try Database.openUnnamed(name: attachment.name, path: file.openPath, openOptions)
        case .new(let path), .file(let path):
            return try Database.open(name: attachment.name, path: path, openOptions)
        }
    }

    /// Copies the seed to the place of the new file. If a realm serves the seed, its newest version
    /// is copied, as the bytes of the file may be changing.
    private func plantSeed() throws(StorageError) {
        guard let seed = attachment.seed, let path = attachment.source.path else { return }
        let served = directory.catalog.database(atPath: seed)
        try Database.plant(
            seed, served: served?.current.snapshot, key: attachment.settings.key, at: path, isExactPath: true, control)
    }

    /// The problem for an error while opening. A seed that is missing is reported as such.
    private func problem(opening error: StorageError) -> Problem {
        guard attachment.plants, case .refused(.fileNotFound) = error else { return Problem(opening: error) }
        return attachment.missingSeed
    }

    // MARK: - The schema

    /// Brings the schema to the requested one, and then proceeds on a worker.
    ///
    /// - Parameters:
    ///   - database: The opened database.
    ///   - stage: The purpose of opening it.
    ///   - promise: Receives the response.
    private func arrange(_ database: Database, _ stage: Stage, _ promise: Promise) {
        let finish: @Sendable (Problem?, String?) -> Void = { [self] problem, backup in
            let continuation: @Sendable () -> Void = { [self] in
                proceed(problem: problem, backup: backup, with: database, stage, promise: promise)
            }
            // Closing waits for the writer thread, which may be this one.
            let isQueued = directory.workers.submitContinuation(for: call.account, continuation)
            if !isQueued { fail(problem ?? Problem(.shuttingDown, "the server is shutting down"), promise) }
        }
        let isNew: Bool
        switch stage {
        case .dryRun: isNew = attachment.isNew
        case .real(let isMade): isNew = isMade && !attachment.plants
        case .known: isNew = false
        }
        if let defect = openOptions.unknownClass(in: database.current.snapshot) {
            return finish(AttachOperation.wrongNames(defect.member, defect.reason), nil)
        }
        if let sample = attachment.sample { return fill(database, with: sample, isNew: isNew, stage, finish) }
        guard attachment.schema != nil || attachment.wantedVersion != nil else {
            return finish(namesError(database), nil)
        }
        guard database.isWritable else { return finish(compare(database) ?? namesError(database), nil) }
        fit(database, isNew: isNew, stage, finish)
    }

    /// The problem when the requested names of linking objects do not fit the schema; nil when they do.
    private func namesError(_ database: Database) -> Problem? {
        openOptions.defect(in: database.current.snapshot).map(AttachOperation.wrongNames)
    }

    /// The problem `invalid_schema` that points at the member which does not fit the schema.
    private static func wrongNames(_ member: InputPath, _ reason: String) -> Problem {
        Problem(.invalidSchema, reason).with("pointer", member.description)
    }

    /// The problem when a read-only file has another schema version than requested; nil when it has that version.
    private func compare(_ database: Database) -> Problem? {
        let version = database.current.snapshot.schemaVersion
        guard attachment.schema != nil || attachment.wantedVersion != version else { return nil }
        let detail = "the file has schema version \(version.map(String.init) ?? "none"), and can only be read"
        return Problem(.schemaVersionConflict, detail).with(
            "pointer", attachment.schema == nil ? "/schemaVersion" : "/schema")
    }

    /// The write request that arranges the schema, alone in its commit and with an hour for a migration.
    ///
    /// The rehearsal of a dry run commits in memory, so that the document shows the result. The rehearsal of a real call is
    /// rolled back, and so is a dry run on a realm in memory that is served already.
    private func writeRequest(_ stage: Stage) -> WriteRequest {
        var write = WriteRequest(deadline: .now().adding(seconds: AttachOperation.migrationSeconds))
        write.control = control
        write.isAlone = true
        if former == nil { write.refusal = { [standing = call.standing] in standing.problem } }
        switch stage {
        // The document of a dry run shows the result, so that must be committed in memory.
        case .dryRun: write.isDryRun = !isDryRun
        case .known: write.isDryRun = isDryRun
        case .real: break
        }
        return write
    }

    /// Throws when the sender of the request is no longer permitted to attach the realm. Checked after long steps. The repetition
    /// of an attempt was admitted with that.
    private func requireStanding() throws(Problem) {
        if former == nil { try call.standing.require() }
    }

    /// Writes a sample into an empty realm in one commit. A realm in memory that is served under another name already keeps its
    /// content.
    private func fill(
        _ database: Database, with sample: Sample, isNew: Bool, _ stage: Stage,
        _ finish: @escaping @Sendable (Problem?, String?) -> Void
    ) {
        guard isNew else { return finish(namesError(database), nil) }
        let names = openOptions
        database.write(
            writeRequest(stage),
            { [self] session in
                try ImportRun(session, .create).run(try sample.reader())
                if let defect = names.defect(in: try session.view()) {
                    throw AttachOperation.wrongNames(defect.member, defect.reason)
                }
                try requireStanding()
            },
            completion: { (result: Result<WriteReceipt<Void>, WriteError>) in
                switch result {
                case .success: finish(nil, nil)
                case .failure(let error): finish(Problem(error), nil)
                }
            })
    }

    /// Applies the schema plan in one commit: when the schema does not fit after the migration steps, nothing has happened.
    ///
    /// - Parameters:
    ///   - database: The opened database, which is writable.
    ///   - isNew: Whether it has no schema yet.
    ///   - stage: The purpose of opening it.
    ///   - finish: Called once, on the writer's thread, with the problem or with the name of the
    ///     backup copy if one was made.
    private func fit(
        _ database: Database, isNew: Bool, _ stage: Stage, _ finish: @escaping @Sendable (Problem?, String?) -> Void
    ) {
        let plan = SchemaPlan(attachment, isNew: isNew)
        let names = openOptions
        database.write(
            writeRequest(stage),
            { [self] session in
                let migrates = try plan.apply(to: session)
                if let defect = names.defect(in: try session.view()) {
                    throw AttachOperation.wrongNames(defect.member, defect.reason)
                }
                try requireStanding()
                return try migrates ? backUp(database, before: session, stage) : nil
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

    /// Replaces all classes by the requested ones in one commit, for `onMigrationNeeded: delete`. A
    /// copy of the file is made first, whose name `finish` gets.
    private func startOver(_ database: Database, _ stage: Stage, _ finish: @escaping @Sendable (Problem?, String?) -> Void) {
        guard let schema = attachment.schema else { return }
        let place = InputPlace().inside("schema")
        database.write(
            writeRequest(stage),
            { [self] session in
                try Problem.written(session.recreateSchema(schema), at: place)
                try requireStanding()
                return try Problem.written(backUp(database, before: session, stage), at: place)
            },
            completion: { (result: Result<WriteReceipt<String?>, WriteError>) in
                switch result {
                case .success(let receipt): finish(nil, receipt.value)
                case .failure(let error): finish(Problem(error), nil)
                }
            })
    }

    /// Makes a copy of the file before a write changes it; a rehearsal finds out its name only.
    private func backUp(_ database: Database, before session: WriteSession, _ stage: Stage) throws(WriteError) -> String? {
        guard case .dryRun = stage else { return try database.backUp(before: session) }
        guard isDryRun, let path = attachment.source.path else { return nil }
        let copies = FileCopies(ofFile: path, key: attachment.settings.key)
        return try database.nameOfBackUp(before: session, among: copies, keeping: openOptions.keptCopyCount)
    }

    // MARK: - The end

    /// Continues after the schema was arranged or refused: ends a dry run, goes from the rehearsal
    /// to the real file, or serves the realm.
    ///
    /// - Parameters:
    ///   - problem: The reason why the schema was refused; nil when it fits.
    ///   - backup: The name of the copy that was made before a migration; nil for none.
    ///   - database: The opened database, which is closed here unless it is served.
    ///   - stage: The purpose of opening it.
    ///   - promise: Receives the response.
    private func proceed(
        problem: Problem?, backup: String?, with database: Database, _ stage: Stage, promise: Promise
    ) {
        switch stage {
        case .dryRun:
            let document = isDryRun && problem == nil ? dryRunResponse(database, backup ?? database.originalName) : nil
            database.close()
            if let problem { return fail(problem, promise) }
            if let document { return end { promise?.complete(document) } }
            realize(promise, after: 0.5)
        case .known:
            if let problem { return fail(problem, promise) }
            if isDryRun { return end { promise?.complete(dryRunResponse(database, backup)) } }
            serve(database, backup, promise)
        case .real(let isMade):
            if let problem {
                // In the log of a cluster it may remain in an incomplete state.
                let isGone = abandon(database, isMade)
                return fail(isGone ? problem : Problem(unavailable: .refused(.outcomeUnknown)), promise)
            }
            if !serve(database, backup, promise) { abandon(database, isMade) }
        }
    }

    /// Closes a database that will not be served, and deletes its file, and its log if it has one, if
    /// this attempt has created it.
    ///
    /// - Returns: Whether everything is as it was before.
    @discardableResult
    private func abandon(_ database: Database, _ isMade: Bool) -> Bool {
        defer { database.close(isUndone: true) }
        guard isMade else { return true }
        do throws(StorageError) {
            try directory.catalog.dropHistory(of: database)
        } catch {
            return false
        }
        try? database.deleteFiles()
        return true
    }

    /// The response of a dry run: the document that the realm would have, with the name of the copy that would be
    /// made, and a member `exists`.
    private func dryRunResponse(_ database: Database, _ backup: String?) -> Response {
        do throws(Problem) {
            var writer = JSONWriter(reservingCapacity: 512)
            try directory.write(name, .ready(database), to: &writer, for: call, isDryRun: true)
            // The document without its last brace, and some members more.
            writer.buffer.truncate(to: writer.buffer.count - 1)
            if let backup {
                writer.buffer.append(",\"backup\":" as StaticString)
                writer.buffer.append(jsonString: backup)
            }
            writer.buffer.append(attachment.exists ? ",\"exists\":true}" as StaticString : ",\"exists\":false}" as StaticString)
            let draft = WriteDraft(status: 201, content: .document(writer.buffer))
            // Files that are sent are named in the URL; the endpoint has checked which parameters there may be.
            let options = try WriteOptions(call)
            var response = draft.response(.init(version: "", isCommitted: false), options)
            response.headers.removeAll { $0.name.description == "Realm-Version" }
            return response
        } catch {
            return Response(error, for: call)
        }
    }

    /// Gives the database to the catalog, and responds.
    ///
    /// - Returns: False when the catalog does not take it, for example because the realm was detached in the meantime. The
    ///   response is a problem then.
    @discardableResult
    private func serve(_ database: Database, _ backup: String?, _ promise: Promise) -> Bool {
        directory.attachedOptions.withLock { $0[name] = attachment.options }
        do throws(Catalog.Failure) {
            try directory.catalog.settle(attachment.name, .ready(database))
        } catch {
            fail(Problem(error), promise)
            return false
        }
        directory.keep(attachment)
        directory.noteRefusal(nil, of: name)
        directory.forgetFailure(of: name)
        let response = promise.map { _ in answer(database, backup ?? database.originalName) }
        end { if let promise, let response { promise.complete(response) } }
        return true
    }

    /// The response to a successful request: the realm's document, and the name of the backup copy if one was made.
    private func answer(_ database: Database, _ backup: String?) -> Response {
        do throws(Problem) {
            // It may have been deleted by another request already.
            let document = try directory.document(name, .ready(database), for: call, backup: backup)
            var response = Response(unstored: document, status: 201)
            response.addLocation(ObjectAddress.realm(name))
            response.add("Realm-Version", database.current.tokenText)
            return response
        } catch {
            return Response(error, for: call)
        }
    }

    /// Ends the attempt with a problem.
    ///
    /// Without a waiting client the realm stays in the catalog as failed, so that its document shows the problem, and later
    /// requests repeat the attempt. So does a realm that had failed before. In all other cases the name becomes free again.
    private func fail(_ problem: Problem, _ promise: Promise, _ error: StorageError? = nil) {
        guard !isDryRun else { return end { promise?.complete(Response(problem, for: call)) } }
        let problem = control.isCancelled ? Problem(Catalog.Failure.detached) : problem
        _ = directory.attachedOptions.withLock { $0.removeValue(forKey: name) }
        // A request that its sender has lost the right to is not repeated either.
        let isRefused = former == nil && call.standing.problem?.code == problem.code
        if promise == nil || former != nil, !control.isCancelled, !isRefused {
            directory.noteRefusal(error == nil ? problem : nil, of: name)
            directory.noteFailure(of: former ?? self, isAboutContents: error?.isAboutContents ?? true)
            try? directory.catalog.settle(attachment.name, .failed(error ?? .refused(.unsuitable(problem.detail))))
        } else {
            directory.forgetFailure(of: name)
            directory.catalog.remove(name)
        }
        end { promise?.complete(Response(problem, for: call)) }
    }

    /// Ends the attempt: responds, and calls the actions that wait for it.
    ///
    /// - Parameter complete: Completes the promise, if there is one.
    private func end(_ complete: () -> Void) {
        if !isDryRun {
            directory.openings.withLock { openings in
                if openings[name] === self { openings[name] = nil }
            }
        }
        complete()
        let waiting = waiting.withLock { waiting in
            defer { waiting = nil }
            return waiting ?? []
        }
        for body in waiting { body() }
    }
}
