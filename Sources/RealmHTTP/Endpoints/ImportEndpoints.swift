// SPDX-License-Identifier: Apache-2.0

internal import RealmEngine
internal import RealmStorage

/// Imports of exports, and of lines of objects.
struct ImportEndpoints: Sendable {
    /// The bounds of bodies and of their records.
    let limits: Limits
    /// Where packed bodies are unpacked to.
    let spoolFolders: [String]

    /// How long an import may take.
    private static let importSeconds = 600.0

    /// `POST …/import`: an export, or lines of objects of one class.
    func post(_ call: WriteCall) throws(Problem) -> Reply {
        let database = try call.database()
        let options = try WriteOptions(call, types: ["application/x-ndjson", "text/csv"], names: ["mode", "class", "atomic"])
        let mode: ImportRun.Mode = try options.parameters.choice("mode", ["create", "upsert"]) == "upsert" ? .upsert : .create
        let isAtomic = try options.parameters.choice("atomic", ["true", "false"]) == "true"
        let reader = try importReader(call, options, database)
        guard isAtomic else { return try importInParts(reader, mode, call, options: options, to: database) }
        var write = PreparedWrite(call: call, database: database, options: options) { context throws(Problem) in
            try context.requireNoObjectCondition()
            let run = ImportRun(context.session, mode)
            do throws(Problem) { try run.run(reader) } catch {
                // Nothing of it was committed.
                throw error.has("line") ? error.with("committed", .integer(0)) : error
            }
            return ImportEndpoints.imported(run.created, run.updated)
        }
        write.seconds = ImportEndpoints.importSeconds
        return try write.reply()
    }

    private func importReader(
        _ call: WriteCall, _ options: WriteOptions, _ database: Database
    ) throws(Problem) -> ImportReader {
        let name = try options.parameters.text("class")
        let source = try importSource(call.request)
        guard options.bodyType == "text/csv" else {
            guard source.byteCount > 0 else { throw Problem(.invalidJSON, "the body is empty where JSON is needed") }
            return ImportReader(source, className: name, bounds: limits.importedJSON)
        }
        guard let name else { throw Problem.invalidParameter("class", "CSV needs the name of a class") }
        let snapshot = database.current.snapshot
        guard let table = snapshot.classTable(named: name) else {
            throw Problem(.classNotFound, "there is no class of this name")
        }
        return try ImportReader(csv: source, table, snapshot, bounds: limits.importedJSON)
    }

    /// The body, wherever it is. A long one that is packed is unpacked into another file.
    private func importSource(_ request: Request) throws(Problem) -> ImportSource {
        guard let file = request.bodyFile else { return ImportSource(request.body, recordLimit: limits.importRecordBytes) }
        guard request.isPacked else { return ImportSource(file, recordLimit: limits.importRecordBytes) }
        do throws(BodyFile.InflateFailure) {
            let plain = try file.inflated(inOneOf: spoolFolders, limit: limits.importBytes)
            return ImportSource(plain, recordLimit: limits.importRecordBytes)
        } catch {
            switch error {
            case .malformed: throw Problem(.invalidBody, "the body is no gzip stream")
            case .tooLarge:
                throw .overLimit(.bodyTooLarge, "the body is larger than \(limits.importBytes) bytes", limit: limits.importBytes)
            case .storage(let cause): throw Problem(spooling: cause)
            }
        }
    }

    private static func imported(_ created: Int, _ updated: Int) -> WriteDraft {
        var writer = JSONWriter(reservingCapacity: 64)
        writer.member("created", int: created)
        writer.member("updated", int: updated)
        return WriteDraft(status: 200, content: .members(writer.buffer))
    }

    /// `atomic=false`: a commit now and then, so that no transaction grows without bounds.
    private func importInParts(
        _ reader: ImportReader, _ mode: ImportRun.Mode, _ call: WriteCall, options: WriteOptions, to database: Database
    ) throws(Problem) -> Reply {
        for (name, isGiven) in [
            ("dryRun", options.isDryRun), ("Realm-Transaction", options.transaction != nil),
            ("If-Match", !options.condition.isEmpty), ("Realm-Without-Notifying", options.skipped != nil),
        ]
        where isGiven {
            throw .conflict("an import in several commits cannot be one with '\(name)'", parameter: "atomic")
        }
        return .later { promise in
            let deadline = RealmStorage.Instant.now().adding(seconds: ImportEndpoints.importSeconds)
            ImportChain(database, mode, reader, deadline: deadline) { result in
                switch result {
                case .success(let outcome):
                    call.request.version = outcome.version
                    promise.complete(
                        ImportEndpoints.imported(outcome.created, outcome.updated)
                            .response(.init(version: outcome.version, isCommitted: true), options.synchronous))
                case .failure(let problem): promise.complete(Response(problem, for: call.request))
                }
            }.run()
        }
    }
}
