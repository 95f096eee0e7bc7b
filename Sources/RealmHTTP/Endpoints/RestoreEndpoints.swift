// SPDX-License-Identifier: Apache-2.0

internal import MicroHTTP
internal import RealmAccess
internal import RealmCalls
internal import RealmEngine
internal import RealmFormats
internal import RealmHosting
internal import RealmPlatform
internal import RealmStorage

/// Replaces the file of a realm by a backup, or by the file in the body of a request.
struct RestoreEndpoints: Sendable {
    let server: ServerState

    /// Answers `POST …/restore`: verifies a Realm file, and serves it in the place of the present one.
    ///
    /// The realm gets a new epoch. The file that was there is kept as a backup. Until the exchange of the files, the restore
    /// is cancelled when the client leaves or the realm is detached.
    ///
    /// - Parameter call: The call, whose body is the file, or names a backup of the realm as JSON.
    /// - Returns: A reply with the realm's document and the id of that backup, completed when the new file
    ///   is served.
    /// - Throws: `realm_not_found`, or the problem of the body. Problems of the file and of the condition are in the
    ///   reply.
    func restore(_ call: Call) throws(Problem) -> Reply {
        let options = try WriteOptions(call).synchronous
        guard let type = options.bodyType else { throw Problem(.invalidBody, "the body is missing") }
        guard let name = call.match.decoded(.realm), server.directory.catalog[name] != nil else { throw .noRealm }
        return server.directory.workers.reply(to: call) { promise in
            let control = call.request.control()
            do throws(Problem) {
                promise.complete(
                    try server.directory.work(on: name, control) { () throws(Problem) in
                        try restore(name, from: type, call, options, control)
                    })
            } catch {
                promise.complete(Response(error, for: call))
            }
        }
    }

    /// Restores a file on this thread, which waits for it.
    private func restore(
        _ name: String, from type: BodyType, _ call: Call, _ options: WriteOptions, _ control: WorkControl
    ) throws(Problem) -> Response {
        let admitted: Database? = if case .ready(let database)? = call.realm { database } else { nil }
        let restore = try RealmRestore(name, admitted: admitted, if: options.condition, server.directory, control)
        let body = try ImportSource(bodyOf: call, server.limits, spoolFolders: server.spoolFolders)
        let source = type == .bytes ? body : ImportSource(try backup(body, of: name, call, control))
        try restore.fill(from: source)
        try restore.verify()
        if options.isDryRun {
            let document = try restore.dryRun(for: call)
            return response(name, document, options)
        }
        // Receiving and verifying the file may have taken long.
        try call.standing.require()
        let backup = try restore.run()
        do throws(Problem) {
            return response(name, try server.directory.document(name, for: call, backup: backup), options)
        } catch {
            // The file was exchanged; the realm may have been deleted since.
            var problem = error
            problem.isPartial = true
            throw problem
        }
    }

    /// Makes the response with a document of the realm. That of a realm which is not open states no version.
    private func response(_ name: String, _ document: OutputBuffer, _ options: WriteOptions) -> Response {
        var version: String?
        if case .ready(let database)? = server.directory.catalog[name] { version = database.current.tokenText }
        var response = WriteDraft(status: 200, content: .document(document))
            .response(.init(version: version ?? "", isCommitted: !options.isDryRun), options)
        if version == nil { response.headers.removeAll { $0.name.description == "Realm-Version" } }
        return response
    }

    /// Opens the file of the backup that a JSON body names.
    ///
    /// - Throws: `invalid_json`, `invalid_body`, `body_too_large`, or `not_found` for an unknown id.
    private func backup(
        _ body: ImportSource, of realm: String, _ call: Call, _ control: WorkControl
    ) throws(Problem) -> BodyFile {
        guard body.byteCount <= server.limits.bodyBytes else {
            throw .overLimit(
                .bodyTooLarge, "the body is larger than \(server.limits.bodyBytes) bytes", limit: server.limits.bodyBytes)
        }
        call.request.body.bytes = Array(try body.read(at: 0, byteCount: body.byteCount))
        let place = InputPlace()
        let reader = SchemaReader(place: place)
        let object = try reader.members(try call.request.body.readJSON(server.limits.json), ["backup"], place)
        guard let id = try reader.text(object, "backup", place) else {
            throw reader.malformed("the id of a backup is missing", place.inside("backup"))
        }
        return try server.backups.open(try server.backups.find(id, of: realm), for: call, control)
    }
}
