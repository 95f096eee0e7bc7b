// SPDX-License-Identifier: Apache-2.0

internal import MicroHTTP
internal import RealmAccess
internal import RealmCalls
internal import RealmEngine
internal import RealmFormats
internal import RealmHosting
internal import RealmPlatform
internal import RealmRecovery
internal import RealmStorage

/// The past that the file of a realm still holds: listing it, and restoring states of it.
struct RecoveredEndpoints: Sendable {
    let server: ServerState

    /// The number of states of a page without `limit`.
    private static let usualLimit = 100

    // MARK: - Reading

    /// Answers `GET …/recovered`: a page of states, or all of them as lines. The first request searches the file.
    ///
    /// - Throws: `forbidden` in a realm that shows a part of its file, or the problem of a parameter. Those of the search are in
    ///   the reply.
    func list(_ call: Call) throws(Problem) -> Reply {
        let database = try database(call)
        let parameters = try ParameterSet(call)
        let filter = try RecoveryFilter(parameters)
        let limit = try parameters.int("limit", in: 0...call.limits.page) ?? RecoveredEndpoints.usualLimit
        let after = try parameters.text("after")
        let isStream = try streams(call)
        guard !isStream || (!parameters.has("limit") && after == nil) else {
            throw Problem(.conflictingParameters, "lines have all states: 'limit' and 'after' are for pages")
        }
        return try reply(call, database, isStream: isStream) { recovery throws(Problem) in
            if isStream { return stream(recovery, filter, call) }
            return response(try page(recovery, filter, limit: limit, after: after, call), of: recovery)
        }
    }

    /// Answers `GET …/recovered/versions` with the versions that the file still has.
    ///
    /// - Throws: What `list` throws.
    func versions(_ call: Call) throws(Problem) -> Reply {
        let database = try database(call)
        try call.checkQueryNames()
        return try reply(call, database, isStream: false) { recovery in
            response(document(recovery), of: recovery)
        }
    }

    /// Answers `DELETE …/recovered`: releases what the search has found.
    ///
    /// - Throws: `not_found` when nothing is kept.
    func release(_ call: Call) throws(Problem) -> Reply {
        let database = try database(call)
        try call.checkQueryNames()
        guard server.recoveries.release(database) else { throw Problem(.notFound, "no recovery of this realm is kept") }
        return .now(Response(status: 204, headers: [HeaderField("Cache-Control", "no-store")]))
    }

    /// Returns the realm of a request. A recovery has the whole file, and so nothing may be hidden.
    private func database(_ call: Call) throws(Problem) -> Database {
        let database = try call.database()
        let snapshot = database.current.snapshot
        guard call.scope == nil, (snapshot.scope?.base ?? snapshot).part == nil else { throw AccessPolicy.forbiddenByRoles }
        return database
    }

    /// Whether a client asks for lines.
    ///
    /// - Throws: `not_acceptable` when it accepts neither lines nor JSON.
    private func streams(_ call: Call) throws(Problem) -> Bool {
        guard let text = call.request.headers[.accept], !text.isEmpty else { return false }
        let offers = [("application/json", false), ("application/x-ndjson", true)]
        guard let isStream = AcceptHeader(text).preferred(offers) else {
            throw Problem(.notAcceptable, "'Accept' must permit application/json or application/x-ndjson")
        }
        return isStream
    }

    /// Returns the reply that is made of the recovery of a realm, once there is one.
    private func reply(
        _ call: Call, _ database: Database, isStream: Bool,
        _ make: @escaping @Sendable (KeptRecovery) throws(Problem) -> Response
    ) throws(Problem) -> Reply {
        let preferences = Preferences(call.request)
        let search = RecoverySearch(
            call, database, spoolFolders: server.spoolFolders, workers: server.workers, tool: "realm-rest \(Build.version)")
        if preferences.isAsynchronous, !isStream, server.recoveries.find(database) == nil {
            return DeferredOperation(call: call, database: database, preferences: preferences).reply { operation, completion in
                guard operation?.begin() ?? true else { return }
                server.recoveries.make(database, search.run) { result in
                    completion(result.map { .init(status: 200, version: $0.version, body: document($0)) })
                }
            }
        }
        return .later { promise in
            server.recoveries.make(database, search.run) { result in
                let isQueued = server.workers.submitContinuation(for: call.account) {
                    do throws(Problem) {
                        // The search may have taken long.
                        try call.standing.require()
                        promise.complete(try make(try result.get()))
                    } catch {
                        promise.complete(Response(error, for: call))
                    }
                }
                if !isQueued { promise.complete(Response(.noWorker, for: call)) }
            }
        }
    }

    // MARK: - Documents

    private func response(_ body: OutputBuffer, of recovery: KeptRecovery) -> Response {
        var response = Response(unstored: body)
        response.add("Realm-Version", recovery.version.text)
        return response
    }

    /// Returns the document about a recovery without its states.
    private func document(_ recovery: KeptRecovery) -> OutputBuffer {
        var writer = JSONWriter(reservingCapacity: 1024)
        writer.beginObject()
        writeFacts(recovery, &writer)
        writer.endObject()
        return writer.buffer
    }

    private func writeFacts(_ recovery: KeptRecovery, _ writer: inout JSONWriter) {
        writer.member("recovery", text: recovery.id)
        writer.member("version", text: recovery.version.text)
        writer.member("complete", bool: recovery.isComplete)
        writer.key("incomplete")
        writer.beginArray()
        for reason in recovery.incomplete { writer.string(reason) }
        writer.endArray()
        writer.member("commitCutShort", bool: recovery.isCommitCutShort)
        writer.key("versions")
        writer.value { $0.append(recovery.versions) }
    }

    private func page(
        _ recovery: KeptRecovery, _ filter: RecoveryFilter, limit: Int, after: String?, _ call: Call
    ) throws(Problem) -> OutputBuffer {
        let indices = filter.indices(in: recovery)
        var start = 0
        if let after {
            guard let line = recovery.line(withID: after) else {
                throw Problem(.cursorInvalid, "'after' must be the 'next' of a page of the same recovery").with(
                    "parameter", "after")
            }
            start = indices.firstIndex { $0 > line } ?? indices.count
        }
        let shown = indices[start...].prefix(limit)
        var writer = JSONWriter(reservingCapacity: 1024)
        writer.beginObject()
        writeFacts(recovery, &writer)
        writer.key("counts")
        let counts = Recovery.counts(of: indices.map { recovery.lines[$0] })
        writer.value { $0.append(counts) }
        writer.key("items")
        writer.beginArray()
        var last: Int?
        for index in shown {
            let line = recovery.lines[index].json(id: recovery.id(ofLine: index), hasEvidence: false)
            // A page has one state at least.
            guard last == nil || writer.count + line.count <= call.limits.answerBytes else { break }
            writer.value { $0.append(line) }
            call.audit?.add(key: recovery.id(ofLine: index), of: recovery.lines[index].className)
            last = index
        }
        writer.endArray()
        if let last, let end = indices.last, last < end {
            writer.member("next", text: recovery.id(ofLine: last))
        } else {
            writer.nullMember("next")
        }
        writer.endObject()
        return writer.buffer
    }

    private func stream(_ recovery: KeptRecovery, _ filter: RecoveryFilter, _ call: Call) -> Response {
        let indices = filter.indices(in: recovery)
        for index in indices { call.audit?.add(key: recovery.id(ofLine: index), of: recovery.lines[index].className) }
        var response = Response(status: 200, body: .stream(RecoveryStream(recovery, indices)))
        response.add("Content-Type", constant: "application/x-ndjson")
        response.add("Realm-Version", recovery.version.text)
        response.add("Cache-Control", constant: "no-store")
        return response
    }

    // MARK: - Restoring

    /// Answers `POST …/recovered/restore`: writes chosen states in one transaction.
    ///
    /// - Throws: `not_found` for a recovery that has ended, or the problem of the body; those of the write are in the reply.
    func restore(_ call: Call) throws(Problem) -> Reply {
        let database = try database(call)
        let options = try WriteOptions(call)
        let request = try RestoreRequest(
            try call.request.body.takeJSON(call.limits.json), limit: call.limits.batchOperations)
        let recovery = try server.recoveries.find(request.recovery, database)
        // Reading the values may take long.
        return server.workers.reply(to: call) { () throws(Problem) in
            let plan = try RestorePlan(request, of: recovery)
            let write = PreparedWrite(call: call, database: database, options: options) { context throws(Problem) in
                try context.requireNoObjectCondition()
                return try RestoreRun(context, plan).run()
            }
            return try write.reply()
        }
    }
}
