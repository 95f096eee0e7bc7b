// SPDX-License-Identifier: Apache-2.0

internal import MicroHTTP
internal import RealmAccess
internal import RealmCalls
internal import RealmEngine
internal import RealmFormats
internal import RealmPlatform
internal import RealmStorage

/// Imports of earlier exports, and of objects as NDJSON, JSON, CSV or tables of SQLite.
struct ImportEndpoints: Sendable {
    let server: ServerState

    /// The time that an import may take in all, in seconds, including the wait for the writer and all commits.
    private static let importSeconds = 600.0

    /// Answers `POST …/import`.
    ///
    /// The body is read line by line in the write, so it is never in memory as a whole. By default
    /// the import is one transaction; with `atomic=false` it is committed in parts.
    ///
    /// - Parameter call: The call, whose body is in memory or in a file.
    /// - Returns: A reply with the numbers of objects that were created and updated, completed when
    ///   they are durable.
    /// - Throws: The `Problem` of a wrong parameter or an empty body. A problem of a line has its number in `line`, and in
    ///   `committed` the number of committed lines.
    func post(_ call: Call) throws(Problem) -> Reply {
        let options = try WriteOptions(call, honours: .init(handling: true))
        let names = try ImportOptions(
            options.parameters, isLenient: options.preferences.isLenient, depthLimit: server.limits.jsonDepth)
        guard options.bodyType == .sqlite else { return try post(call, options, names) }
        // Tables become lines first, which takes long for files of any size.
        return .later { promise in
            let control = WorkControl()
            promise.onDisconnect { control.cancel() }
            let work: @Sendable () -> Void = {
                do throws(Problem) {
                    try post(call, options, names, until: control).resolve(promise)
                } catch {
                    promise.complete(Response(error, for: call))
                }
            }
            if !call.services.workers.submitContinuation(for: call.account, work) { work() }
        }
    }

    /// Imports a body whose parameters were read. The control cancels the work before the write.
    private func post(
        _ call: Call, _ options: WriteOptions, _ names: ImportOptions, until control: WorkControl? = nil
    ) throws(Problem) -> Reply {
        let database = try call.database()
        let mode: ImportRun.Mode = try options.parameters.choice("mode", ["create", "upsert"]) == "upsert" ? .upsert : .create
        let isAtomic = try options.parameters.choice("atomic", ["true", "false"]) == "true"
        let reader = try importReader(call, options, named: names, in: database, control)
        guard isAtomic else { return try importInParts(reader, mode, call, options: options, to: database) }
        var write = PreparedWrite(call: call, database: database, options: options) { context throws(Problem) in
            try context.requireNoObjectCondition()
            let run = ImportRun(context.session, mode)
            run.audit = context.audit
            run.isLenient = names.isLenient
            let seconds = server.limits.importSeconds
            run.end = .now().adding(seconds: Double(seconds))
            do throws(Problem) { try run.run(reader) } catch {
                let isLate = error.code == .deadlineExceeded && error.has("limitName")
                let error = isLate ? error.with("limit", .integer(Int64(seconds))) : error.ofImport()
                // The transaction is rolled back, so no line was committed.
                throw error.has("line") ? error.with("committed", .integer(0)) : error
            }
            return ImportEndpoints.imported(run.created, run.updated, run.ignored, tablesNotRead: reader.tablesNotRead)
        }
        write.seconds = ImportEndpoints.importSeconds
        return try write.reply()
    }

    /// Returns a reader of the records in the body.
    ///
    /// CSV needs the name of a class, whose properties give the columns their types.
    ///
    /// - Throws: `invalid_json` for an empty body, `invalid_parameter` for CSV without a class,
    ///   `class_not_found`, or the problem of a wrong header line or database.
    private func importReader(
        _ call: Call, _ options: WriteOptions, named names: ImportOptions, in database: Database, _ control: WorkControl?
    ) throws(Problem) -> ImportReader {
        let name = try options.parameters.text("class")
        let source = try ImportSource(bodyOf: call, server.limits, spoolFolders: server.spoolFolders)
        try requireFitting(options)
        let snapshot = database.current.shown(by: call.scope).snapshot
        switch options.bodyType {
        case .csv:
            guard let name else { throw Problem.invalidParameter("class", "CSV needs the name of a class") }
            guard let table = snapshot.classTable(named: name) else {
                throw Problem.noClass(name, in: snapshot).with("parameter", "class")
            }
            return try ImportReader(csv: source, table, snapshot, bounds: server.limits.importedJSON, options: names)
        case .sqlite:
            let (lines, tablesNotRead): (ImportSource, [String])
            do throws(Problem) {
                (lines, tablesNotRead) = try tableLines(source, of: name, named: names, in: snapshot, for: call, control)
            } catch {
                // The whole database is read before the first commit.
                throw error.with("committed", .integer(0))
            }
            var reader = ImportReader(lines, className: nil, bounds: server.limits.importedJSON)
            reader.tablesNotRead = tablesNotRead
            return reader
        default:
            guard source.byteCount > 0 else { throw Problem(.invalidJSON, "the body is empty; expected JSON") }
            let isArray = options.bodyType == .ndjson ? false : try source.beginsWithBracket()
            return ImportReader(source, className: name, bounds: server.limits.importedJSON, isArray: isArray)
        }
    }

    /// Rejects parameters that have no meaning for the type of the body.
    private func requireFitting(_ options: WriteOptions) throws(Problem) {
        let types: [(String, [BodyType])] = [("columns", [.csv, .sqlite]), ("separator", [.csv]), ("tables", [.sqlite])]
        for (name, types) in types where options.parameters.has(name) {
            guard let type = options.bodyType, types.contains(type) else {
                throw .conflict(
                    "'\(name)' needs a body of the type \(types.map(\.rawValue).joined(separator: " or "))", parameter: name)
            }
        }
    }

    /// Returns the rows of tables as lines, and the tables that are not read.
    private func tableLines(
        _ source: ImportSource, of className: String?, named names: ImportOptions, in snapshot: Snapshot, for call: Call,
        _ control: WorkControl?
    ) throws(Problem) -> (ImportSource, [String]) {
        let end = RealmPlatform.Instant.now().adding(seconds: Double(server.limits.readSeconds))
        func temporary() throws(StorageError) -> BodyFile {
            try BodyFile.make(inOneOf: server.spoolFolders, try call.request.body.spool?.open(for: call.account))
        }
        let (file, lines): (BodyFile, BodyFile)
        do throws(StorageError) {
            lines = try temporary()
            if let long = source.file {
                file = long
            } else {
                file = try temporary()
                try file.append(call.request.body.bytes)
            }
        } catch {
            throw Problem(spooling: error)
        }
        let tables = SQLiteImport(
            snapshot: snapshot, options: names, className: className, recordLimit: server.limits.importRecordBytes,
            byteLimit: server.limits.importBytes
        ) {
            RealmPlatform.Instant.now() < end && control?.isCancelled != true
        }
        let tablesNotRead = try tables.write(file, to: lines)
        return (ImportSource(lines, recordLimit: .max), tablesNotRead)
    }

    /// Returns the response of an import.
    ///
    /// - Parameters:
    ///   - created: The number of objects that were created.
    ///   - updated: The number of objects that existed and were changed.
    ///   - ignored: The members that were left out, as `handling=lenient` asks.
    ///   - tablesNotRead: The names of the tables of a database that were not read.
    ///   - overtaken: The number of lines of which a value was not written, because another client had changed the property.
    private static func imported(
        _ created: Int, _ updated: Int, _ ignored: IgnoredMembers, tablesNotRead: [String], overtaken: Int = 0
    ) -> WriteDraft {
        var writer = JSONWriter(reservingCapacity: 64)
        writer.member("created", int: created)
        writer.member("updated", int: updated)
        if overtaken > 0 { writer.member("overtaken", int: overtaken) }
        if !ignored.names.isEmpty {
            writer.key("ignored")
            writer.write(.array(ignored.names.map { .string($0) }))
            if ignored.hasMore { writer.member("moreIgnored", bool: true) }
        }
        if !tablesNotRead.isEmpty {
            let limit = IgnoredMembers.limit
            writer.key("tablesNotRead")
            writer.write(.array(tablesNotRead.prefix(limit).map { .string($0.truncated) }))
            if tablesNotRead.count > limit { writer.member("moreTablesNotRead", int: tablesNotRead.count - limit) }
        }
        return WriteDraft(status: 200, content: .members(writer.buffer))
    }

    /// Imports in several commits (`atomic=false`), so that no transaction grows without bounds.
    ///
    /// - Parameters:
    ///   - reader: The records.
    ///   - mode: Whether objects that exist are changed or are an error.
    ///   - options: The other options of the client.
    ///   - database: The open realm.
    /// - Returns: A reply that is completed after the last commit, or after the first failure.
    /// - Throws: `conflicting_parameters` for options that need a single transaction, such as a dry
    ///   run.
    private func importInParts(
        _ reader: ImportReader, _ mode: ImportRun.Mode, _ call: Call, options: WriteOptions, to database: Database
    ) throws(Problem) -> Reply {
        for (name, isGiven) in [
            ("dryRun", options.isDryRun), ("Realm-Transaction", options.transaction != nil),
            ("If-Match", !options.condition.isEmpty), ("Realm-Without-Notifying", options.commitMark != nil),
        ]
        where isGiven {
            throw .conflict("an import in several commits cannot have '\(name)'", parameter: "atomic")
        }
        return .later { promise in
            let deadline = RealmPlatform.Instant.now().adding(seconds: ImportEndpoints.importSeconds)
            let (rights, audit) = (call.writeRights, call.audit)
            let parts = ImportChain.Parts(longestSeconds: Double(server.limits.importSeconds))
            ImportChain(
                database, mode, reader, rights: rights, of: call.standing, client: call.account,
                deadline: deadline, audit: audit, isLenient: options.preferences.isLenient, parts: parts,
                isStopping: { [lifecycle = server.lifecycle] in lifecycle.isStopping }
            ) { result in
                switch result {
                case .success(let outcome):
                    call.versionToken = outcome.version
                    promise.complete(
                        ImportEndpoints.imported(
                            outcome.created, outcome.updated, outcome.ignored, tablesNotRead: reader.tablesNotRead,
                            overtaken: outcome.overtaken
                        ).response(.init(version: outcome.version, isCommitted: true), options.synchronous))
                case .failure(let problem): promise.complete(Response(problem, for: call))
                }
            }.run()
        }
    }
}

/// Reads the options of an import from the parameters of its request.
extension ImportOptions {
    /// Reads the parameters `columns`, `separator` and `tables`.
    ///
    /// - Parameters:
    ///   - set: The parameters of the request.
    ///   - isLenient: Whether unknown columns are ignored.
    ///   - depthLimit: The depth to which JSON in a parameter may nest.
    /// - Throws: `invalid_parameter`.
    init(_ set: ParameterSet, isLenient: Bool, depthLimit: Int) throws(Problem) {
        self.init()
        self.isLenient = isLenient
        columns =
            try set.text("columns").map { text throws(Problem) in try ImportOptions.pairs(text, "columns", depthLimit) } ?? [:]
        tables = try set.text("tables").map { text throws(Problem) in try ImportOptions.pairs(text, "tables", depthLimit) }
        guard let name = try set.text("separator") else { return }
        guard let found = ImportOptions.separators[name] else {
            throw .invalidParameter("separator", "'separator' takes comma, semicolon or tab")
        }
        separator = found
    }

    private static let separators: [ByteText: UInt8] = [
        "comma": UInt8(ascii: ","), "semicolon": UInt8(ascii: ";"), "tab": UInt8(ascii: "\t"),
    ]
}
